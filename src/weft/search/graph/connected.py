"""
Connected passages: the chunks that define the stated neighbours of the entities a question names.

A relation, a link or a fact states a neighbour; a shared sentence does not. Each neighbour gives one chunk:

    question: Auth Service
    Auth Service ─depends_on 10→ OAuth Provider   cosine 0.61   score 10/10 · 0.61 = 0.61
    Auth Service ─links_to 8───→ Login Flow       cosine 0.70   score  8/10 · 0.70 = 0.56

A neighbour of several named entities gets the sum of its scores, each times the entity's share of the seed weights.
Neighbours by a relation that the question asks for come first. The score needs no threshold: the number of places is
bounded instead (`search/selection.py`), so neighbours do not vanish as their number grows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from weft.extract.mentions import DERIVED_TYPES
from weft.extract.statements import inverse, spellings
from weft.graph.expand import FULL_WEIGHT
from weft.records import GraphSource, Hit, Mention, PathStep, Query, Relation
from weft.search.graph.channel import ABOUT_CHUNK
from weft.search.graph.relations import Relations
from weft.search.question.entities import Seed
from weft.search.search_context import SearchContext
from weft.text.ids import fact_entity_key

MAX_RELATIONS = 50
"""Strongest relations of a named entity that are read, in each direction."""

MAX_DEFINING_CHUNKS = 4
"""Defining chunks of a neighbour of which the best text hit, or else the first, is shown."""

MAX_DESCRIBED_NAMES = 20
"""Names described in one chunk that are compared with the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The chunks of stated neighbours, best first, with the path to each."""

    hits: tuple[Hit, ...] = ()
    sources: Mapping[str, GraphSource] = field(default_factory=dict)
    asked: int = 0
    """Number of first hits whose relation the question asks for."""


class _Edge(NamedTuple):
    """A relation seen from a seed."""

    seed: Seed
    type: str
    weight: float


def find_connected(
    query: Query, seeds: Sequence[Seed], text: Sequence[Hit], search: SearchContext, *, relations: Relations
) -> Connected:
    """Return the chunks of the stated neighbours of named entities. `text` are the hits of the text channels."""
    named = {seed.entity.id: seed for seed in seeds if seed.words}
    if not named:
        return Connected()
    types = query.question.relation_types
    edges = _stated_edges(named, _read_relations(named, types, text, search, relations=relations), search=search)
    chunks = _defining_chunks([id for id in edges if not fact_entity_key(id)], text, search, relations=relations)
    closeness = _closeness(query, chunks, search)
    total = sum(seed.weight for seed in named.values()) or 1.0
    scores = {
        id: sum(edge.seed.weight / total * edge.weight / FULL_WEIGHT for edge in edges[id]) * closeness.get(id, 0.0)
        for id in chunks
    }
    asked = {id for id in chunks if any(edge.type in types for edge in edges[id])}
    best = sorted(chunks, key=lambda id: (id not in asked, -scores[id], id))
    names = relations.names(best)
    hits, sources = list[Hit](), dict[str, GraphSource]()
    for id in best:
        if chunks[id] not in sources and id in names:
            sources[chunks[id]] = _source(names[id], edges[id], types=types)
            hits.append(Hit(chunks[id], len(hits) + 1, scores[id]))
    count = sum(chunks[id] in sources for id in asked)
    return Connected(hits=tuple(hits), sources=sources, asked=count)


def _read_relations(
    named: Mapping[str, Seed],
    types: Collection[str],
    text: Sequence[Hit],
    search: SearchContext,
    *,
    relations: Relations,
) -> list[Relation]:
    """
    Return the strongest relations of the named entities and those of the types asked for.

    A hub has more relations than are read, many of equal weight. Of these, the relations to entities described in
    the text hits are read too: they are the closest to the question.
    """
    ids = list(named)
    found = relations.of(ids, limit=MAX_RELATIONS)
    if types:
        wanted = sorted({name for type in types for name in spellings(type)})
        found += relations.of(ids, limit=MAX_RELATIONS, types=wanted)
    if len(found) >= MAX_RELATIONS:
        about = relations.graph.mentions_in([hit.chunk_id for hit in text[: search.pool_size]], about=True)
        near = list(dict.fromkeys(mention.entity_id for mention in about))
        found += relations.between([*ids, *(id for id in near if id not in named)])
    return found


def _stated_edges(
    named: Mapping[str, Seed], relations: Sequence[Relation], *, search: SearchContext
) -> dict[str, list[_Edge]]:
    """Return the edges of each neighbour, strongest first, at most one per seed and type; `graph.rel_types` holds."""
    allowed = frozenset(search.graph.rel_types)
    edges: dict[str, dict[tuple[str, str], _Edge]] = defaultdict(dict)
    for one, other, kind, weight, *_ in relations:
        if kind in DERIVED_TYPES or weight / FULL_WEIGHT < search.graph.min_graph_score:
            continue
        for source, type, target in ((one, kind, other), (other, inverse(kind), one)):
            if allowed and kind not in allowed and type not in allowed:
                continue
            if source in named and target not in named:
                edges[target].setdefault((source, type), _Edge(named[source], type, weight))
    return {
        id: sorted(found.values(), key=lambda edge: (-edge.weight, edge.seed.entity.id, edge.type))
        for id, found in edges.items()
    }


def _defining_chunks(
    ids: Sequence[str], text: Sequence[Hit], search: SearchContext, *, relations: Relations
) -> dict[str, str]:
    """Return by neighbour the defining chunk to show; neighbours without one, or outside the filter, are left out."""
    ranks = {hit.chunk_id: hit.rank for hit in text}
    found: dict[str, list[Mention]] = defaultdict(list)
    for mention in relations.graph.mentions_of(ids, limit=MAX_DEFINING_CHUNKS) if ids else ():
        if mention.about:
            found[mention.entity_id].append(mention)
    allowed = _allowed([mention.chunk_id for group in found.values() for mention in group], search)
    chosen = {}
    for id, mentions in found.items():
        candidates = [mention.chunk_id for mention in mentions if allowed is None or mention.chunk_id in allowed]
        if candidates:
            chosen[id] = min(candidates, key=lambda chunk: ranks.get(chunk, len(ranks) + 1))
    return chosen


def _allowed(chunk_ids: Sequence[str], search: SearchContext) -> set[str] | None:
    """Return the chunks that pass the filter; None without a filter."""
    if not search.where:
        return None
    documents = {document.id for document in search.store.find_documents(search.where, limit=1_000_000)}
    return {id for id, chunk in search.chunks.read(chunk_ids).items() if chunk.document_id in documents}


def _closeness(query: Query, chunks: Mapping[str, str], search: SearchContext) -> dict[str, float]:
    """Return the cosine of each neighbour's name and description with the question; 1 without vectors."""
    if query.vector is None or not chunks:
        return dict.fromkeys(chunks, 1.0)
    found = search.store.graph.search_entities(
        query.vector, chunk_ids=list(dict.fromkeys(chunks.values())), limit=len(chunks) * MAX_DESCRIBED_NAMES
    )
    scores = {entity.id: max(0.0, score) for entity, score in found}
    least = min((scores[id] for id in chunks if id in scores), default=1.0)
    return {id: scores.get(id, least) for id in chunks}


def _source(name: str, edges: Sequence[_Edge], *, types: Collection[str]) -> GraphSource:
    edge = next((edge for edge in edges if edge.type in types), edges[0])
    step = PathStep(source=edge.seed.entity.name, type=edge.type, weight=edge.weight, target=name)
    return GraphSource(entity=name, hops=1, path=(step, PathStep(source=name, type=ABOUT_CHUNK, weight=0.0, target="")))
