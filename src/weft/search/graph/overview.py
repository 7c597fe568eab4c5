"""Overview of a whole graph: the most mentioned entities and the strongest relations between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.extract.statements import inverse
from weft.records import Entity, Relation
from weft.search.graph.relations import Relations

RELATIONS_PER_ENTITY = 8
"""Relations of an entity in each direction. More of them make a drawing of 10,000 entities a grey disc."""

PAGE_ENTITIES = 500
"""Entities per read of relations, so that one statement stays short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Entities, most mentioned first, and relations with both ends among them, strongest first."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """Relation types, most frequent first."""
        counts: dict[str, int] = {}
        for relation in self.relations:
            counts[relation.type] = counts.get(relation.type, 0) + 1
        return tuple(sorted(counts, key=lambda type: (-counts[type], type)))


def is_directed(type: str) -> bool:
    """Return False for a relation type that is its own inverse, such as `co_occurs_with`."""
    return inverse(type) != type


def find_overview(entities: Sequence[Entity], *, relations: Relations) -> Overview:
    """Return the strongest relations among these entities. A relation that is its own inverse is listed once."""
    ids = [entity.id for entity in entities]
    wanted = set(ids)
    found: dict[tuple[str, str, str], Relation] = {}
    for start in range(0, len(ids), PAGE_ENTITIES):
        for relation in relations.with_derived(ids[start : start + PAGE_ENTITIES], limit=RELATIONS_PER_ENTITY):
            source, target = relation.source_id, relation.target_id
            if source == target or source not in wanted or target not in wanted:
                continue
            ends = (source, target) if is_directed(relation.type) else (min(source, target), max(source, target))
            found.setdefault((*ends, relation.type), relation)
    ranked = sorted(found.values(), key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))
    return Overview(entities=tuple(entities), relations=tuple(ranked))
