"""
Related documents: those nearest by vectors and those connected in the graph, with the reasons.

    start     a document, or one of its chunks
    vectors   centroid of its chunks → chunks by cosine → the best chunk of each other document
    graph     entities that its chunks mention, rare ones first, and their stated neighbours → documents
    fusion    Reciprocal Rank Fusion of the two rankings of documents
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.choices import GRAPH, VECTOR
from weft.graph.expand import FULL_WEIGHT
from weft.models.base import Embedder
from weft.rank.fuse import fuse_reciprocal, order
from weft.records import (
    Chunk,
    DocumentInfo,
    Filter,
    Hit,
    Mention,
    PathStep,
    Ranking,
    RelatedDocument,
    Relation,
    Vector,
)
from weft.store.base import StoreReader

MAX_CANDIDATES = 70
"""Nearest chunks of other documents that are read."""

MAX_ENTITIES = 30
"""Entities of the start whose other chunks and relations are read: those it defines, then the rarest."""

MAX_MENTIONS = 20
"""Strongest mentions of an entity that are read."""

MAX_REASONS = 5
"""Shared names, and relations, that are reported per document."""


@dataclass(slots=True)
class _Connection:
    """Evidence of the graph for one document."""

    score: float = 0.0
    chunk_id: str = ""
    shared: dict[str, float] = field(default_factory=dict)
    """Shared entities by id, with their share of the score."""
    relations: list[Relation] = field(default_factory=list)


def find_related(
    document: DocumentInfo, chunks: Sequence[Chunk], *, store: StoreReader, embedder: Embedder | None, limit: int
) -> list[RelatedDocument]:
    """Return at most `limit` other documents related to a document, or to some of its chunks, best first."""
    with store.reading():
        near = _find_near(document, chunks, store=store, floor=embedder.card.floor if embedder else -1.0)
        connected = _find_connected(document, chunks, store=store)
        rankings = {
            VECTOR: Ranking(hits=_number({id: hit.score for id, hit in near.items()})),
            GRAPH: Ranking(hits=_number({id: found.score for id, found in connected.items()})),
        }
        best = order(fuse_reciprocal(rankings), limit=limit)
        return _explain(best, near, connected, store=store)


def _number(scores: Mapping[str, float]) -> tuple[Hit, ...]:
    return tuple(order(scores))


def _find_near(document: DocumentInfo, chunks: Sequence[Chunk], *, store: StoreReader, floor: float) -> dict[str, Hit]:
    """Return the nearest chunk of each other document, if its cosine reaches `floor`."""
    wanted = {chunk.id for chunk in chunks}
    own = [item for batch in store.batches([document.id]) for item in batch.chunks]
    vectors = [item.vector for item in own if item.chunk.id in wanted and item.vector is not None]
    centre = _centroid(vectors)
    if centre is None:
        return {}
    hits = store.search_vector(centre, limit=MAX_CANDIDATES + len(own), where=Filter()).hits
    owners = {chunk.id: chunk.document_id for chunk in store.chunks([hit.chunk_id for hit in hits])}
    best: dict[str, Hit] = {}
    for hit in hits:
        owner = owners.get(hit.chunk_id, document.id)
        if owner != document.id and hit.score >= floor:
            best.setdefault(owner, hit)
    return best


def _centroid(vectors: Sequence[Vector]) -> Vector | None:
    """Return the normalised mean of unit vectors; None without vectors, and if they cancel out."""
    if not vectors:
        return None
    mean = np.mean(np.stack(vectors), axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length, dtype=np.float32) if length > 0 else None


def _find_connected(document: DocumentInfo, chunks: Sequence[Chunk], *, store: StoreReader) -> dict[str, _Connection]:
    """Return the documents that share entities with these chunks or describe a stated neighbour, by id."""
    entities = _choose_entities(store.graph.mentions_in([chunk.id for chunk in chunks]))
    if not entities:
        return {}
    relations = [
        relation
        for relation in store.graph.relations_of([id for id, mention in entities.items() if mention.about], limit=50)
        if relation.source_id != relation.target_id
    ]
    stated: dict[str, list[Relation]] = defaultdict(list)
    for relation in relations:
        far = relation.target_id if relation.source_id in entities else relation.source_id
        stated[far].append(relation)
    shared = store.graph.mentions_of(list(entities), limit=MAX_MENTIONS)
    described = [m for m in store.graph.mentions_of(list(stated), limit=3) if m.about] if stated else []
    found_ids = sorted({mention.chunk_id for mention in (*shared, *described)})
    owners = {chunk.id: chunk.document_id for chunk in store.chunks(found_ids)}
    found: dict[str, _Connection] = defaultdict(_Connection)
    for mention in shared:
        _add_shared(found[owners.get(mention.chunk_id, document.id)], mention, entities[mention.entity_id])
    for mention in described:
        _add_stated(found[owners.get(mention.chunk_id, document.id)], mention, stated[mention.entity_id])
    found.pop(document.id, None)
    return dict(found)


def _choose_entities(mentions: Sequence[Mention]) -> dict[str, Mention]:
    """Return the entities of some chunks by id: those that the chunks define first, then the rarest."""
    ranked = sorted(mentions, key=lambda m: (not m.about, m.chunks, -m.count, m.entity_id))
    best: dict[str, Mention] = {}
    for mention in ranked:
        if mention.elsewhere or mention.about:
            best.setdefault(mention.entity_id, mention)
    return dict(list(best.items())[:MAX_ENTITIES])


def _add_shared(found: _Connection, mention: Mention, start: Mention) -> None:
    """Count an entity once per document: 1 for a name of two chunks, less for common names."""
    if mention.entity_id in found.shared:
        return
    worth = 1 / math.log2(max(2, start.chunks, mention.chunks))
    found.shared[mention.entity_id] = worth
    found.score += worth
    found.chunk_id = found.chunk_id or mention.chunk_id


def _add_stated(found: _Connection, mention: Mention, relations: Sequence[Relation]) -> None:
    for relation in relations:
        if relation not in found.relations:
            found.relations.append(relation)
            found.score += relation.weight / FULL_WEIGHT
    found.chunk_id = mention.chunk_id


def _explain(
    hits: Sequence[Hit], near: Mapping[str, Hit], connected: Mapping[str, _Connection], *, store: StoreReader
) -> list[RelatedDocument]:
    """Return the records of these documents with cosine, shared names and relations."""
    ids = [hit.chunk_id for hit in hits]
    documents = {document.id: document for document in store.documents(ids)}
    best = {id: near[id].chunk_id if id in near else connected[id].chunk_id for id in ids}
    chunks = {chunk.id: chunk for chunk in store.chunks(list(best.values()))}
    names = store.graph.names(sorted(_mentioned(connected[id] for id in ids if id in connected)))
    return [
        RelatedDocument(
            document=documents[hit.chunk_id],
            chunk=chunks[best[hit.chunk_id]],
            score=hit.score,
            cosine=near[hit.chunk_id].score if hit.chunk_id in near else None,
            shared=_shared_names(connected.get(hit.chunk_id), names),
            relations=_steps(connected.get(hit.chunk_id), names),
        )
        for hit in hits
        if hit.chunk_id in documents and best[hit.chunk_id] in chunks
    ]


def _mentioned(found: Iterable[_Connection]) -> set[str]:
    """Return the ids of all entities in this evidence."""
    ids: set[str] = set()
    for item in found:
        ids.update(item.shared)
        ids.update(end for relation in item.relations for end in relation[:2])
    return ids


def _shared_names(found: _Connection | None, names: Mapping[str, str]) -> tuple[str, ...]:
    ranked = sorted(found.shared, key=lambda id: (-found.shared[id], names.get(id, ""))) if found else []
    return tuple(names[id] for id in ranked if id in names)[:MAX_REASONS]


def _steps(found: _Connection | None, names: Mapping[str, str]) -> tuple[PathStep, ...]:
    relations = sorted(found.relations, key=lambda r: (-r.weight, r.type, r.target_id)) if found else []
    return tuple(
        PathStep(source=names[r.source_id], type=r.type, weight=r.weight, target=names[r.target_id])
        for r in relations
        if r.source_id in names and r.target_id in names
    )[:MAX_REASONS]
