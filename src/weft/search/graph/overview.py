"""Overview of a whole graph: the most mentioned entities and the strongest relations between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import dirname

from weft.extract.names import name_key
from weft.extract.statements import inverse
from weft.records import Entity, Relation
from weft.search.graph.relations import Relations
from weft.store.base import StoreReader

RELATIONS_PER_ENTITY = 8
"""Relations of an entity in each direction. More of them make a drawing of 10,000 entities a grey disc."""

SAMPLED_MENTIONS = 16
"""Chunks of an entity whose documents are read."""

PAGE_ENTITIES = 500
"""Entities per read of relations, so that one statement stays short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Entities, most mentioned first, and relations with both ends among them, strongest first."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    spread: tuple[int, ...]
    """Chunks that mention each entity, fewer if many of them are in one document."""
    folders: tuple[str, ...]
    """Folder of the document that defines each entity; empty if none does."""

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


def find_overview(entities: Sequence[Entity], *, relations: Relations, store: StoreReader) -> Overview:
    """
    Return the strongest relations among these entities. A relation that is its own inverse is listed once.

    A section (`Volumes › csi`) is folded into its page, which gets its relations.
    """
    pages = {entity.name: entity.id for entity in entities}
    folded = {entity.id: pages.get(entity.name.partition(" › ")[0], entity.id) for entity in entities}
    found: dict[tuple[str, str, str], Relation] = {}
    ids = list(folded)
    for start in range(0, len(ids), PAGE_ENTITIES):
        for relation in relations.with_derived(ids[start : start + PAGE_ENTITIES], limit=RELATIONS_PER_ENTITY):
            source, target = folded.get(relation.source_id), folded.get(relation.target_id)
            if source is None or target is None or source == target:
                continue
            moved = relation._replace(source_id=source, target_id=target)
            ends = (source, target) if is_directed(relation.type) else (min(source, target), max(source, target))
            key = (*ends, relation.type)
            if key not in found or found[key].weight < relation.weight:
                found[key] = moved
    ranked = sorted(found.values(), key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))
    kept = [entity for entity in entities if folded[entity.id] == entity.id]
    homes = _homes(kept, store)
    kept.sort(key=lambda entity: -homes[entity.id][0])
    return Overview(
        entities=tuple(kept),
        relations=tuple(ranked),
        spread=tuple(homes[entity.id][0] for entity in kept),
        folders=tuple(homes[entity.id][1] for entity in kept),
    )


def _homes(entities: Sequence[Entity], store: StoreReader) -> dict[str, tuple[int, str]]:
    """
    Return for each entity how far it is spread, and the folder of the document that defines it.

    A title counts once in its own document. Another name counts less if `SAMPLED_MENTIONS` chunks are in few documents.
    """
    homes = {entity.id: (entity.chunks, "") for entity in entities}
    for start in range(0, len(entities), PAGE_ENTITIES):
        page = entities[start : start + PAGE_ENTITIES]
        chunks: dict[str, list[str]] = {entity.id: [] for entity in page}
        for mention in store.graph.mentions_of(list(chunks), limit=SAMPLED_MENTIONS):
            chunks[mention.entity_id].append(mention.chunk_id)
        titles = store.passages.titles(sorted({id for ids in chunks.values() for id in ids}))
        sizes = {d.id: d.chunk_count for d in store.documents(sorted({title.document_id for title in titles.values()}))}
        for entity in page:
            if seen := [titles[id] for id in chunks[entity.id] if id in titles]:
                first, documents = seen[0], {title.document_id for title in seen}
                is_own = name_key(first.title) == entity.key
                others = entity.chunks - sizes.get(first.document_id, 1) if is_own else 0
                spread = 1 + others if is_own else entity.chunks * len(documents) // len(seen)
                homes[entity.id] = max(1, spread), dirname(first.source)
    return homes
