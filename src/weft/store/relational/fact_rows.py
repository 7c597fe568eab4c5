"""Rows of facts and their entities: writing, deleting and parsing, inside a transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from weft.extract.names import key_words
from weft.records import Fact, FactEntity, FactEvent
from weft.store.relational.session import Namespace, Row, Session
from weft.store.shared.fact_rules import content_of, merge_entity, named_entities

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)


def write_facts(
    db: Session,
    namespace: Namespace,
    facts: Sequence[Fact],
    *,
    events: Sequence[FactEvent] = (),
    entities: Sequence[FactEntity] = (),
) -> None:
    """Write facts, append their events, and create the entities they need."""
    for entity in named_entities(facts, entities):
        write_entity(db, namespace, entity)
    for fact in facts:
        db.run("write_fact", {"namespace": namespace, **to_row(fact)})
    for event in events:
        row = {"fact": event.fact_id, "at": to_number(event.at), "action": event.action}
        row |= {"detail": event.detail, "other": event.other}
        db.run("write_fact_event", {"namespace": namespace, **row})


def forget_facts(db: Session, namespace: Namespace, ids: Sequence[str], *, entities: Sequence[str] = ()) -> int:
    """
    Delete facts, their history and unused entities; return the number of facts.

    Keep declared entities not in `entities`.
    """
    values = {"namespace": namespace, "ids": json.dumps(list(ids))}
    keys = [key for (key,) in db.run("fact_keys", values)]
    db.run("delete_facts", values)
    deleted = db.changes()
    if deleted:
        for statement in ("delete_fact_events", "forget_superseded", "forget_other", "delete_fact_origins"):
            db.run(statement, values)
    released = json.dumps(list(entities))
    named = {"namespace": namespace, "keys": json.dumps([*keys, *entities]), "released": released}
    drop_entities(db, namespace, [key for (key,) in db.run("unneeded_fact_keys", named)])
    return deleted


def drop_entities(db: Session, namespace: Namespace, keys: Sequence[str]) -> None:
    """Delete entities with their words and vectors."""
    values = {"namespace": namespace, "keys": json.dumps(list(keys))}
    for statement in ("delete_fact_vectors", "delete_fact_words", "delete_fact_entities"):
        db.run(statement, values)


def write_entity(db: Session, namespace: Namespace, new: FactEntity) -> None:
    """Create or update an entity; a changed description deletes its vectors."""
    rows = db.run("fact_entities", {"namespace": namespace, "keys": json.dumps([new.key])})
    known = to_entity(rows[0]) if rows else None
    entity = merge_entity(known, new)
    if entity == known:
        return
    if known and known.description != entity.description:
        db.run("delete_fact_vectors", {"namespace": namespace, "keys": json.dumps([entity.key])})
    row = {"namespace": namespace, "key": entity.key}
    texts = {"name": entity.name, "description": entity.description, "type": entity.type}
    db.run("write_fact_entity", {**row, **texts, "declared": entity.declared})
    if not known:
        write_words(db, namespace, entity.key)


def write_words(db: Session, namespace: Namespace, key: str) -> None:
    """Add the search words of an entity."""
    words = key_words(key)
    for word in sorted(words):
        db.run("write_fact_word", {"namespace": namespace, "key": key, "word": word, "size": len(words)})


def to_entity(row: Row) -> FactEntity:
    """Return the entity in a row."""
    key, name, description, type, declared = row
    return FactEntity(key=key, name=name, description=description, type=type, declared=bool(declared))


def to_number(time: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (time - EPOCH) // MICROSECOND


def to_time(number: int) -> datetime:
    """Return the time at a number of microseconds since 1970."""
    return EPOCH + number * MICROSECOND


def to_row(fact: Fact) -> dict[str, Any]:
    """Return the columns of a fact."""
    return {
        "id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "value": "" if fact.object else fact.value,
        "content": content_of(fact),
        "confidence": float(fact.confidence),
        "source": fact.source,
        "status": fact.status,
        "created": to_number(fact.created),
        "valid_from": None if fact.valid_from is None else to_number(fact.valid_from),
        "valid_to": None if fact.valid_to is None else to_number(fact.valid_to),
        "accessed": None if fact.last_accessed is None else to_number(fact.last_accessed),
        "accesses": fact.access_count,
        "supersedes": fact.supersedes,
        "note": fact.note,
        "spelling": fact.spelling,
    }


def to_fact(row: Row) -> Fact:
    """Return the fact in a row, with the names of its entities."""
    (
        id, subject, subject_name, predicate, object, value, confidence, source, status, created, valid_from, valid_to,
        accessed, accesses, supersedes, note, spelling,
    ) = row  # fmt: skip
    return Fact(
        id=id,
        subject=subject,
        subject_name=subject_name,
        predicate=predicate,
        object=object,
        value=value,
        confidence=confidence,
        source=source,
        status=status,
        created=to_time(created),
        valid_from=None if valid_from is None else to_time(valid_from),
        valid_to=None if valid_to is None else to_time(valid_to),
        last_accessed=None if accessed is None else to_time(accessed),
        access_count=accesses,
        supersedes=supersedes,
        note=note,
        spelling=spelling,
    )
