"""The relations that are followed: those of the graph, and live facts from one of its entities to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from weft.records import Mention, Relation
from weft.store.base import Facts, Graph, Store

LINKS = 50
"""Facts of each entity in each direction among which those that join two given entities are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """The relations of a graph. With `facts`, those that hold at a time are among them."""

    graph: Graph
    facts: tuple[Facts, datetime] | None = None
    """None where facts are not asked, or none of them leads to an entity."""

    def of(self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = ()) -> list[Relation]:
        """
        Return the strongest `limit` relations of each entity in each direction, and as many facts, strongest first.

        Where both say the same, the larger weight counts.
        """
        found = self.graph.relations_of(entity_ids, limit=limit, types=types)
        return _join(found, self._links(entity_ids, limit=limit, types=types))

    def with_mentions(
        self, entity_ids: Sequence[str], *, limit: int, min_weight: float, min_fact_weight: float
    ) -> tuple[list[Mention], list[Relation]]:
        """Return the strongest `limit` mentions of each entity, and its relations of so much weight and more."""
        mentions, found = self.graph.links_of(entity_ids, limit=limit, min_weight=min_weight)
        return mentions, _join(found, self._links(entity_ids, limit=limit, min_weight=min_fact_weight))

    def between(self, entity_ids: Sequence[str], *, limit: int = LINKS) -> list[Relation]:
        """Return the relations both of whose ends are among these entities, strongest first."""
        links = [
            link
            for link in self._links(entity_ids, limit=limit)
            if link.source_id in entity_ids and link.target_id in entity_ids
        ]
        return _join(self.graph.relations_between(entity_ids), links)

    def _links(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        if self.facts is None or not entity_ids:
            return []
        facts, at = self.facts
        return facts.links(entity_ids, at=at, limit=limit, types=types, min_weight=min_weight)


def relations_in(store: Store, *, at: datetime | None) -> Relations:
    """Return the relations of a namespace, with facts that hold at a time; None for those of the documents alone."""
    facts = store.facts
    return Relations(graph=store.graph, facts=(facts, at) if at is not None and facts.has_links() else None)


def _join(relations: Sequence[Relation], links: Sequence[Relation]) -> list[Relation]:
    if not links:
        return list(relations)
    best: dict[tuple[str, str, str], Relation] = {}
    for relation in (*relations, *links):
        at = (relation.source_id, relation.target_id, relation.type)
        if at not in best or relation.weight > best[at].weight:
            best[at] = relation
    return sorted(best.values(), key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))
