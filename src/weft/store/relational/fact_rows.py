"""Facts and their entities as rows, written and removed inside an open transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from weft.extract.names import key_words
from weft.records import Fact, FactEntity, FactEvent
from weft.store.relational.session import Namespace, Session
from weft.store.shared.fact_rules import content_of, merge_entity, named_entities

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
INSTANT = timedelta(microseconds=1)


def write_facts(
    db: Session,
    namespace: Namespace,
    facts: Sequence[Fact],
    *,
    events: Sequence[FactEvent] = (),
    entities: Sequence[FactEntity] = (),
) -> None:
    """Make facts exactly what these say, with what happened to them and the entities they need."""
    for entity in named_entities(facts, entities):
        write_entity(db, namespace, entity)
    for fact in facts:
        db.run("write_fact", {"namespace": namespace, **to_row(fact)})
    for event in events:
        row = {"fact": event.fact_id, "at": to_number(event.at), "action": event.action}
        row |= {"detail": event.detail, "other": event.other}
        db.run("write_fact_event", {"namespace": namespace, **row})


def forget_facts(db: Session, namespace: Namespace, ids: Sequence[str], *, entities: Sequence[str] = ()) -> int:
    """Remove facts with all that only they need, and of `entities` (keys) those that nothing needs; return how many."""
    values = {"namespace": namespace, "ids": json.dumps(list(ids))}
    keys = [row[0] for row in db.run("fact_keys", values)]
    db.run("delete_facts", values)
    gone = db.changes()
    if gone:
        for statement in ("delete_fact_events", "forget_superseded", "forget_other", "delete_fact_origins"):
            db.run(statement, values)
    released = json.dumps(list(entities))
    named = {"namespace": namespace, "keys": json.dumps([*keys, *entities]), "released": released}
    drop_entities(db, namespace, [row[0] for row in db.run("unneeded_fact_keys", named)])
    return gone


def drop_entities(db: Session, namespace: Namespace, keys: Sequence[str]) -> None:
    """Remove entities with their words and vectors."""
    values = {"namespace": namespace, "keys": json.dumps(list(keys))}
    for statement in ("delete_fact_vectors", "delete_fact_words", "delete_fact_entities"):
        db.run(statement, values)


def write_entity(db: Session, namespace: Namespace, given: FactEntity) -> None:
    """Make an entity, or add what is newly said of it; described anew it needs a new vector."""
    rows = db.run("fact_entities", {"namespace": namespace, "keys": json.dumps([given.key])})
    known = to_entity(rows[0]) if rows else None
    entity = merge_entity(known, given)
    if entity == known:
        return
    if known and known.description != entity.description:
        db.run("delete_fact_vectors", {"namespace": namespace, "keys": json.dumps([entity.key])})
    row = {"namespace": namespace, "key": entity.key}
    said = {"name": entity.name, "description": entity.description, "type": entity.type}
    db.run("write_fact_entity", {**row, **said, "declared": entity.declared})
    if not known:
        write_words(db, namespace, entity.key)


def write_words(db: Session, namespace: Namespace, key: str) -> None:
    """Add the words by which an entity is found."""
    words = key_words(key)
    for word in sorted(words):
        db.run("write_fact_word", {"namespace": namespace, "key": key, "word": word, "size": len(words)})


def to_entity(row: tuple[Any, ...]) -> FactEntity:
    """Return a stored entity."""
    key, name, description, type, declared = row
    return FactEntity(key=key, name=name, description=description, type=type, declared=bool(declared))


def to_number(time: datetime) -> int:
    """Return a time as it is stored."""
    return (time - EPOCH) // INSTANT


def to_time(number: int) -> datetime:
    """Return a stored time."""
    return EPOCH + number * INSTANT


def to_row(fact: Fact) -> dict[str, Any]:
    """Return a fact as it is stored."""
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


def to_fact(row: tuple[Any, ...]) -> Fact:
    """Return a stored fact, with the names of its entities."""
    return Fact(
        id=row[0],
        subject=row[1],
        subject_name=row[2],
        predicate=row[3],
        object=row[4],
        value=row[5],
        confidence=row[6],
        source=row[7],
        status=row[8],
        created=to_time(row[9]),
        valid_from=None if row[10] is None else to_time(row[10]),
        valid_to=None if row[11] is None else to_time(row[11]),
        last_accessed=None if row[12] is None else to_time(row[12]),
        access_count=row[13],
        supersedes=row[14],
        note=row[15],
        spelling=row[16],
    )
