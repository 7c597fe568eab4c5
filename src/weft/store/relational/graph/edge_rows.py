"""Rows of `links_of`: names of entities with their mentions, relations and facts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from weft.records import Relation
from weft.store.relational.fact_rows import to_number
from weft.store.relational.session import Session
from weft.store.shared.fact_rules import MAX_LINK_CANDIDATES, Link, strongest_links
from weft.text.ids import fact_entity_id, fact_entity_key


class LinkRow(NamedTuple):
    """A name of an entity, or an entity known only from facts."""

    id: str
    """Empty for an entity known only from facts."""
    key: str
    name: str
    """Name of the entity."""
    chunks: int
    """Number of chunks that state a mention."""
    strong: int
    mentions: str
    """JSON: id of the chunk, count and about of each mention."""
    relations: str
    """JSON: source, target, type and weight of each relation."""
    facts: str
    """JSON: id and key of the subject, id and key of the object, predicate, confidence, time and id of each fact."""


def read_links(
    db: Session,
    name: str,
    entity_ids: Sequence[str],
    *,
    keys: Sequence[str] = (),
    mentions: int = 0,
    relations: int = 0,
    min_weight: float = 0.0,
    at: datetime | None = None,
) -> list[LinkRow]:
    """Return a row for each name of each entity: its stated mentions, its relations in each direction, and facts."""
    alone = [key for id in entity_ids if (key := fact_entity_key(id))]
    ids = [id for id in entity_ids if not fact_entity_key(id)] if alone else list(entity_ids)
    if at is None:
        alone = []
    values = {
        "namespace": db.namespace_key(name),
        "ids": json.dumps(ids),
        "keys": json.dumps(list(keys), ensure_ascii=False),
        "alone": json.dumps(alone, ensure_ascii=False),
        "mentions": mentions,
        "relations": relations,
        "weight": min_weight,
        "at": None if at is None else to_number(at),
        "looks": MAX_LINK_CANDIDATES,
    }
    return [LinkRow(row[0] or "", *row[1:]) for row in db.run("links_of", values)]


def join_facts(
    rows: Iterable[LinkRow],
    *,
    entity_ids: Sequence[str],
    limit: int,
    types: Sequence[str] = (),
    min_weight: float = 0.0,
) -> list[Relation]:
    """Return the facts of rows as relations: the strongest of each entity in each direction."""
    found = [
        Link(
            source_id=source or fact_entity_id(subject),
            target_id=target or fact_entity_id(object),
            predicate=predicate,
            confidence=confidence,
            created=created,
            fact_id=id,
        )
        for row in rows
        for source, subject, target, object, predicate, confidence, created, id in json.loads(row.facts)
    ]
    return strongest_links(found, entity_ids=entity_ids, limit=limit, types=types, min_weight=min_weight)
