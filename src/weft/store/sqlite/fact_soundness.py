"""Whether what is remembered contradicts itself or the documents, and mending what can be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import apsw
import numpy as np

from weft.records import FactEntity, FactStatus, Problem
from weft.store.sqlite.fact_origins import retract
from weft.store.sqlite.fact_rows import drop_entities, write_entity, write_words
from weft.store.sqlite.statements import run
from weft.text.ids import fact_content
from weft.text.names import key_words

FACT_TABLES = ("fact", "fact_entity", "fact_word", "fact_vector", "fact_event", "fact_origin")
"""Tables whose rows mean nothing without their namespace or embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faults:
    """What is wrong with the facts of a namespace."""

    unnamed: Sequence[str]
    """Keys that facts name and that are no entity."""
    unneeded: Sequence[str]
    """Keys of entities that nothing needs."""
    misfiled: Sequence[tuple[str, str]]
    """Facts with the content they should have: they would not be recognised when stated again."""
    miscounted: Sequence[tuple[str, int, int | None]]
    """Facts with the accesses and the last access they should have."""
    impossible: Sequence[str]
    """Facts with an unknown status, a confidence beyond 0 to 1, or an end before their beginning."""
    strangers: Sequence[str]
    """Ids that are no fact and yet have a history."""
    newborn: Sequence[tuple[str, int, str]]
    """Facts whose history does not say that they were added: id, when it was, and a status it does not tell of."""
    dangling: Sequence[str]
    """Ids that are no fact and are referred to."""
    origins: Sequence[tuple[str, str]]
    """Facts and documents of which one is not there, or marks that mean nothing."""
    words: bool
    vectors: Sequence[int]


def find_fact_problems(db: apsw.Connection, namespace: int, name: str) -> list[Problem]:
    """Return what is wrong with the facts of a namespace, in plain words. Reads only."""
    faults = _find(db, namespace)
    where = f"namespace {name!r}"
    found = [Problem(where=where, what=line, repairable=True) for line in _say(faults) if line]
    if faults.impossible:
        what = f"impossible values in facts: {_listed(faults.impossible)}"
        found.append(Problem(where=where, what=what, repairable=False))
    return found


def mend_facts(db: apsw.Connection, namespace: int) -> int:
    """Put the facts of a namespace in order, inside a transaction; return how many rows that changed."""
    before = db.total_changes()
    key = {"namespace": namespace}
    faults = _find(db, namespace)
    for fact, document in faults.origins:
        if document:
            retract(db, namespace, document, [fact])
        else:
            run(db, "delete_fact_origin", {**key, "ids": _ids(fact), "document": ""})
    for id in faults.strangers:
        run(db, "delete_fact_events", {**key, "ids": _ids(id)})
    for id in faults.dangling:
        run(db, "forget_superseded", {**key, "ids": _ids(id)})
        run(db, "forget_other", {**key, "ids": _ids(id)})
    for id, content in faults.misfiled:
        run(db, "set_fact_content", {**key, "id": id, "content": content})
    for id, accesses, accessed in faults.miscounted:
        run(db, "set_fact_accesses", {**key, "id": id, "accesses": accesses, "accessed": accessed})
    for id, created, status in faults.newborn:
        event = {**key, "fact": id, "at": created, "detail": "", "other": ""}
        run(db, "write_first_fact_event", {**event, "action": "added"})
        if status:
            run(db, "write_fact_event", {**event, "action": status})
    for number in faults.vectors:
        run(db, "delete_fact_vector", {"number": number})
    faults = _find(db, namespace)  # facts may have gone with their documents
    for unnamed in faults.unnamed:
        write_entity(db, namespace, FactEntity(key=unnamed, name=unnamed))
    drop_entities(db, namespace, faults.unneeded)
    if _find(db, namespace).words:
        run(db, "delete_all_fact_words", key)
        for entity, _ in run(db, "all_fact_entities", key):
            write_words(db, namespace, entity)
    return db.total_changes() - before


def find_lost_facts(db: apsw.Connection) -> list[Problem]:
    """Return the tables of facts that hold rows whose namespace or embedder is gone."""
    lost = {table: sum(1 for _ in db.execute(f"PRAGMA foreign_key_check ({table})")) for table in FACT_TABLES}
    return [
        Problem(
            where=f"table {table}", what=f"{_counted(count, 'row refers', 'rows refer')} to nothing", repairable=True
        )
        for table, count in lost.items()
        if count
    ]


def drop_lost_facts(db: apsw.Connection) -> int:
    """Remove rows whose namespace or embedder is gone; return how many."""
    before = db.total_changes()
    for table in ("vectors", "events", "words", "entities", "origins"):
        run(db, f"delete_lost_fact_{table}")
    run(db, "delete_lost_facts")
    return db.total_changes() - before


# ── inside ──────────────────────────────────────────────────────────────────────────────────────


def _find(db: apsw.Connection, namespace: int) -> _Faults:
    key = {"namespace": namespace}
    facts = run(db, "all_facts", key)
    entities = dict(run(db, "all_fact_entities", key))
    needed = {name for _, subject, _, object, *_ in facts for name in (subject, object) if name}
    contents = ((row[0], row[5], fact_content(row[1], row[2], object=row[3], value=row[4])) for row in facts)
    words = Counter((entity, word, len(key_words(entity))) for entity in entities for word in key_words(entity))
    return _Faults(
        unnamed=sorted(needed - entities.keys()),
        unneeded=[entity for entity, declared in entities.items() if entity not in needed and not declared],
        misfiled=[(id, right) for id, stored, right in contents if stored != right],
        miscounted=list(_find_miscounted(facts)),
        impossible=[row[0] for row in facts if not _is_possible(row)],
        strangers=[row[0] for row in run(db, "strange_fact_events", key)],
        newborn=[(row[0], row[1], row[2]) for row in run(db, "facts_without_history", key)],
        dangling=[row[0] for row in run(db, "stray_fact_references", key)],
        origins=[(row[0], row[1]) for row in run(db, "stray_fact_origins", key)],
        words=Counter(run(db, "all_fact_words", key)) != words,
        vectors=[row[0] for row in run(db, "fact_vectors_of", key) if not _is_right_vector(row)],
    )


def _find_miscounted(facts: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, int, int | None]]:
    """Yield facts whose counter is negative, or does not fit whether there was a last access."""
    for row in facts:
        accessed, accesses = row[11], row[12]
        right = max(accesses, 0 if accessed is None else 1)
        if accesses != right or (accesses > 0 and accessed is None):
            yield row[0], right, row[8] if accessed is None and right else accessed


def _is_possible(row: tuple[Any, ...]) -> bool:
    _, _, _, _, _, _, confidence, status, created, begins, ends, *_ = row
    since = created if begins is None else begins
    return 0 <= confidence <= 1 and status in get_args(FactStatus) and (ends is None or ends >= since)


def _is_right_vector(row: tuple[Any, ...]) -> bool:
    _, _, sketch, vector, dimension, is_known = row
    if not is_known or len(vector) != 4 * dimension:
        return False
    return bool(sketch == np.packbits(np.frombuffer(vector, "<f4") > 0).tobytes())


def _say(faults: _Faults) -> Iterator[str]:
    """Yield a line for each kind of fault that can be mended."""
    for found, one, many in (
        (faults.unnamed, "entity that facts name is missing", "entities that facts name are missing"),
        (faults.unneeded, "entity is named by no fact", "entities are named by no fact"),
        (faults.misfiled, "fact is filed under another statement", "facts are filed under other statements"),
        (faults.miscounted, "fact counts its accesses wrong", "facts count their accesses wrong"),
        (faults.strangers, "fact that is not there has a history", "facts that are not there have a history"),
        (faults.newborn, "fact has no beginning in its history", "facts have no beginning in their history"),
        (faults.dangling, "fact that is not there is referred to", "facts that are not there are referred to"),
        (faults.origins, "origin of a fact means nothing", "origins of facts mean nothing"),
        (faults.vectors, "vector of an entity of facts fits nothing", "vectors of entities of facts fit nothing"),
    ):
        yield _counted(len(found), one, many) if found else ""
    yield "the words of the entities of facts are wrong" if faults.words else ""


def _ids(id: str) -> str:
    return json.dumps([id])


def _listed(ids: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(ids) - limit:,} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
