"""Consistency check of facts with their entities, history and documents, and their repair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple, get_args

from weft.extract.names import key_words
from weft.records import FactEntity, FactStatus, Problem
from weft.store.relational.fact_origins import retract
from weft.store.relational.fact_rows import MICROSECOND, drop_entities, to_number, write_entity, write_words
from weft.store.relational.session import Namespace, Session
from weft.store.shared.fact_rules import MAX_CLOCK_SKEW
from weft.text.ids import fact_content
from weft.text.plurals import counted

FACT_TABLES = ("fact", "fact_entity", "fact_word", "fact_vector", "fact_text_vector", "fact_event", "fact_origin")
"""Tables whose rows are useless without their namespace or embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faults:
    """Inconsistencies in the facts of a namespace."""

    unnamed: Sequence[str]
    """Keys of subjects and objects without an entity."""
    unneeded: Sequence[str]
    """Keys of entities that no fact uses and that were not declared."""
    wrong_content: Sequence[tuple[str, str]]
    """Facts with a wrong content hash, and the correct hash. A repeated statement would not match such a fact."""
    wrong_accesses: Sequence[tuple[str, int, int | None]]
    """Facts whose access count and last access contradict each other, with corrected values."""
    future_accesses: Sequence[tuple[str, int, int | None]]
    """Facts whose last access is in the future, with corrected values. The clock was wrong then."""
    impossible: Sequence[str]
    """Facts with an unknown status, a confidence beyond 0 to 1, or an end before their beginning."""
    unknown_history: Sequence[str]
    """Ids with a history but without a fact."""
    no_added_event: Sequence[tuple[str, int, str]]
    """Facts without an `added` event: id, creation time, and status if that has no event either."""
    dangling: Sequence[str]
    """Referenced ids without a fact."""
    origins: Sequence[tuple[str, str]]
    """Origins whose fact or document is missing, and redundant marks of manual statements."""
    words: bool
    """True if the words of the entities are wrong."""
    vectors: Sequence[tuple[int, str]]
    """Numbers of embedders and keys of vectors without entity or embedder, or with a wrong length or sketch."""
    text_vectors: Sequence[str]
    """Ids of facts with a vector of a wrong length or sketch, or of another namespace."""


def find_fact_problems(db: Session, namespace: Namespace, name: str) -> list[Problem]:
    """Return the inconsistencies in the facts of a namespace. Reads only."""
    faults = _find(db, namespace)
    where = f"namespace {name!r}"
    found = [Problem(where=where, what=what, repairable=True) for what in _describe(faults) if what]
    if faults.impossible:
        what = f"impossible values in facts: {_listed(faults.impossible)}"
        found.append(Problem(where=where, what=what, repairable=False))
    return found


def repair_facts(db: Session, namespace: Namespace) -> int:
    """Repair the facts of a namespace inside a transaction; return how many rows changed."""
    before = db.total_changes()
    key = {"namespace": namespace}
    faults = _find(db, namespace)
    for fact, document in faults.origins:
        if document:
            retract(db, namespace, document, [fact])
        else:
            db.run("delete_fact_origin", {**key, "ids": _ids(fact), "document": ""})
    for id in faults.unknown_history:
        db.run("delete_fact_events", {**key, "ids": _ids(id)})
    for id in faults.dangling:
        db.run("forget_superseded", {**key, "ids": _ids(id)})
        db.run("forget_other", {**key, "ids": _ids(id)})
    for id, content in faults.wrong_content:
        db.run("set_fact_content", {**key, "id": id, "content": content})
    for id, accesses, accessed in (*faults.wrong_accesses, *faults.future_accesses):
        db.run("set_fact_accesses", {**key, "id": id, "accesses": accesses, "accessed": accessed})
    for id, created, status in faults.no_added_event:
        event = {**key, "fact": id, "at": created, "detail": "", "other": ""}
        db.run("write_first_fact_event", {**event, "action": "added"})
        if status:
            db.run("write_fact_event", {**event, "action": status})
    for model, entity in faults.vectors:
        db.run("delete_fact_vector", {**key, "model": model, "key": entity})
    db.run("delete_fact_text_vectors", {**key, "ids": json.dumps(list(faults.text_vectors))})
    faults = _find(db, namespace)  # facts may have been deleted with their documents
    for unnamed in faults.unnamed:
        write_entity(db, namespace, FactEntity(key=unnamed, name=unnamed))
    drop_entities(db, namespace, faults.unneeded)
    if _find(db, namespace).words:
        db.run("delete_all_fact_words", key)
        for entity, _ in db.run("all_fact_entities", key):
            write_words(db, namespace, entity)
    return db.total_changes() - before


# ── private ─────────────────────────────────────────────────────────────────────────────────────


def _find(db: Session, namespace: Namespace) -> _Faults:
    key = {"namespace": namespace}
    facts = [_FactRow(*row) for row in db.run("all_facts", key)]
    entities: dict[str, bool] = dict(db.run("all_fact_entities", key))
    needed = {name for fact in facts for name in (fact.subject, fact.object) if name}
    words = Counter((entity, word, len(key_words(entity))) for entity in entities for word in key_words(entity))
    return _Faults(
        unnamed=sorted(needed - entities.keys()),
        unneeded=[entity for entity, declared in entities.items() if entity not in needed and not declared],
        wrong_content=[(fact.id, right) for fact in facts if (right := _content(fact)) != fact.content],
        wrong_accesses=list(_find_wrong_accesses(facts)),
        future_accesses=list(_find_future_accesses(facts)),
        impossible=[fact.id for fact in facts if not _is_possible(fact)],
        unknown_history=[id for (id,) in db.run("strange_fact_events", key)],
        no_added_event=[(id, created, status) for id, created, status in db.run("facts_without_history", key)],
        dangling=[id for (id,) in db.run("stray_fact_references", key)],
        origins=[(fact, document) for fact, document in db.run("stray_fact_origins", key)],
        words=Counter(db.run("all_fact_words", key)) != words,
        vectors=[
            (model, entity) for model, entity, *rest in db.run("fact_vectors_of", key) if not _is_valid(db, *rest)
        ],
        text_vectors=[id for _, id, *rest in db.run("fact_text_vectors_of", key) if not _is_valid(db, *rest)],
    )


class _FactRow(NamedTuple):
    """Row of `all_facts`; times are numbers."""

    id: str
    subject: str
    predicate: str
    object: str
    value: str
    content: str
    confidence: float
    status: str
    created: int
    valid_from: int | None
    valid_to: int | None
    accessed: int | None
    accesses: int
    supersedes: str


def _content(fact: _FactRow) -> str:
    return fact_content(fact.subject, fact.predicate, object=fact.object, value=fact.value)


def _find_wrong_accesses(facts: Sequence[_FactRow]) -> Iterator[tuple[str, int, int | None]]:
    """Yield facts whose access count is negative, or contradicts the last access."""
    for fact in facts:
        right = max(fact.accesses, 0 if fact.accessed is None else 1)
        if fact.accesses != right or (fact.accesses > 0 and fact.accessed is None):
            yield fact.id, right, fact.created if fact.accessed is None and right else fact.accessed


def _find_future_accesses(facts: Sequence[_FactRow]) -> Iterator[tuple[str, int, int | None]]:
    """Yield facts that were last accessed after now; their last access becomes their creation, or now if earlier."""
    now = to_number(datetime.now(timezone.utc))
    for fact in facts:
        if fact.accessed is not None and fact.accessed > now + MAX_CLOCK_SKEW // MICROSECOND:
            yield fact.id, max(fact.accesses, 1), min(fact.created, now)


def _is_possible(fact: _FactRow) -> bool:
    since = fact.created if fact.valid_from is None else fact.valid_from
    return (
        0 <= fact.confidence <= 1
        and fact.status in get_args(FactStatus)
        and (fact.valid_to is None or fact.valid_to >= since)
    )


def _is_valid(db: Session, sketch: bytes | None, stored: Any, dimension: int, is_known: bool) -> bool:
    vector = db.vectors.unpack(stored)
    return bool(is_known and len(vector) == dimension and sketch == db.vectors.sketch(vector))


def _describe(faults: _Faults) -> Iterator[str]:
    """Yield a finding for each kind of inconsistency that can be repaired."""
    for found, one, many in (
        (faults.unnamed, "entity used by facts is missing", "entities used by facts are missing"),
        (faults.unneeded, "entity is used by no fact", "entities are used by no fact"),
        (faults.wrong_content, "fact has a wrong content hash", "facts have a wrong content hash"),
        (faults.wrong_accesses, "fact has a wrong access count", "facts have a wrong access count"),
        (
            faults.future_accesses,
            "fact has its last access in the future",
            "facts have their last access in the future",
        ),
        (faults.unknown_history, "history belongs to a missing fact", "histories belong to missing facts"),
        (faults.no_added_event, "fact has no `added` event", "facts have no `added` event"),
        (faults.dangling, "missing fact is referred to", "missing facts are referred to"),
        (faults.origins, "origin of a fact is invalid", "origins of facts are invalid"),
        (faults.vectors, "vector of a fact entity is invalid", "vectors of fact entities are invalid"),
        (faults.text_vectors, "vector of a fact is invalid", "vectors of facts are invalid"),
    ):
        yield counted(len(found), one, many) if found else ""
    yield "the words of the fact entities are wrong" if faults.words else ""


def _ids(id: str) -> str:
    return json.dumps([id])


def _listed(ids: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(ids) - limit:,} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more
