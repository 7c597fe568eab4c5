"""Whether what is remembered contradicts itself or the documents, and mending what can be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from weft.extract.names import key_words
from weft.records import FactEntity, FactStatus, Problem
from weft.store.relational.check.graph import counted
from weft.store.relational.fact_origins import retract
from weft.store.relational.fact_rows import drop_entities, write_entity, write_words
from weft.store.relational.session import Namespace, Row, Session
from weft.text.ids import fact_content

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
    vectors: Sequence[tuple[int, str]]
    """Embedders and keys of vectors that fit nothing."""


def find_fact_problems(db: Session, namespace: Namespace, name: str) -> list[Problem]:
    """Return what is wrong with the facts of a namespace, in plain words. Reads only."""
    faults = _find(db, namespace)
    where = f"namespace {name!r}"
    found = [Problem(where=where, what=line, repairable=True) for line in _say(faults) if line]
    if faults.impossible:
        what = f"impossible values in facts: {_listed(faults.impossible)}"
        found.append(Problem(where=where, what=what, repairable=False))
    return found


def mend_facts(db: Session, namespace: Namespace) -> int:
    """Put the facts of a namespace in order, inside a transaction; return how many rows that changed."""
    before = db.total_changes()
    key = {"namespace": namespace}
    faults = _find(db, namespace)
    for fact, document in faults.origins:
        if document:
            retract(db, namespace, document, [fact])
        else:
            db.run("delete_fact_origin", {**key, "ids": _ids(fact), "document": ""})
    for id in faults.strangers:
        db.run("delete_fact_events", {**key, "ids": _ids(id)})
    for id in faults.dangling:
        db.run("forget_superseded", {**key, "ids": _ids(id)})
        db.run("forget_other", {**key, "ids": _ids(id)})
    for id, content in faults.misfiled:
        db.run("set_fact_content", {**key, "id": id, "content": content})
    for id, accesses, accessed in faults.miscounted:
        db.run("set_fact_accesses", {**key, "id": id, "accesses": accesses, "accessed": accessed})
    for id, created, status in faults.newborn:
        event = {**key, "fact": id, "at": created, "detail": "", "other": ""}
        db.run("write_first_fact_event", {**event, "action": "added"})
        if status:
            db.run("write_fact_event", {**event, "action": status})
    for model, entity in faults.vectors:
        db.run("delete_fact_vector", {**key, "model": model, "key": entity})
    faults = _find(db, namespace)  # facts may have gone with their documents
    for unnamed in faults.unnamed:
        write_entity(db, namespace, FactEntity(key=unnamed, name=unnamed))
    drop_entities(db, namespace, faults.unneeded)
    if _find(db, namespace).words:
        db.run("delete_all_fact_words", key)
        for entity, _ in db.run("all_fact_entities", key):
            write_words(db, namespace, entity)
    return db.total_changes() - before


# ── inside ──────────────────────────────────────────────────────────────────────────────────────


def _find(db: Session, namespace: Namespace) -> _Faults:
    key = {"namespace": namespace}
    facts = db.run("all_facts", key)
    entities: dict[str, bool] = dict(db.run("all_fact_entities", key))
    needed = {name for _, subject, _, object, *_ in facts for name in (subject, object) if name}
    contents = ((row[0], row[5], fact_content(row[1], row[2], object=row[3], value=row[4])) for row in facts)
    words = Counter((entity, word, len(key_words(entity))) for entity in entities for word in key_words(entity))
    return _Faults(
        unnamed=sorted(needed - entities.keys()),
        unneeded=[entity for entity, declared in entities.items() if entity not in needed and not declared],
        misfiled=[(id, right) for id, stored, right in contents if stored != right],
        miscounted=list(_find_miscounted(facts)),
        impossible=[row[0] for row in facts if not _is_possible(row)],
        strangers=[row[0] for row in db.run("strange_fact_events", key)],
        newborn=[(row[0], row[1], row[2]) for row in db.run("facts_without_history", key)],
        dangling=[row[0] for row in db.run("stray_fact_references", key)],
        origins=[(row[0], row[1]) for row in db.run("stray_fact_origins", key)],
        words=Counter(db.run("all_fact_words", key)) != words,
        vectors=[(row[0], row[1]) for row in db.run("fact_vectors_of", key) if not _is_right_vector(db, row)],
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


def _is_right_vector(db: Session, row: Row) -> bool:
    _, _, sketch, stored, dimension, is_known = row
    vector = db.unpack(stored)
    return bool(is_known and len(vector) == dimension and sketch == db.sketch(vector))


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
        yield counted(len(found), one, many) if found else ""
    yield "the words of the entities of facts are wrong" if faults.words else ""


def _ids(id: str) -> str:
    return json.dumps([id])


def _listed(ids: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(ids) - limit:,} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more
