"""The graph channel: three algorithms behind one name, each chunk with the way that led to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from weft.config import GraphOptions
from weft.graph.expand import Neighbour, graph_score, neighbourhood
from weft.graph.guided import expansion_queries
from weft.models.base import Embedder
from weft.rank.fuse import order
from weft.records import Entity, Filter, GraphSource, Hit, PathStep, Relation
from weft.search.recognise import Seed
from weft.search.walk import walk
from weft.store.base import Graph, Store
from weft.text.statements import inverse

PER_QUERY = 3
"""Chunks taken for each expansion query (S2)."""

EXPLAINED = 20
"""Hits of a walk that come with the path that led to them."""

IN_CHUNK = "mentioned in"
ABOUT_CHUNK = "described in"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFound:
    """The hits of the graph channel, and how each was reached, by chunk id."""

    hits: tuple[Hit, ...] = ()
    sources: Mapping[str, GraphSource] = field(default_factory=dict)


def search_graph(
    seeds: Sequence[Seed],
    *,
    store: Store,
    embedder: Embedder | None,
    options: GraphOptions,
    limit: int,
    where: Filter,
) -> GraphFound:
    """Return the chunks the graph leads to from the question's entities; no seeds, no hits."""
    if not seeds:
        return GraphFound()
    match options.algorithm:
        case "walk":
            found = _walk(seeds, graph=store.graph, options=options, limit=limit)
        case "expand":
            found = _expand(seeds, graph=store.graph, options=options)
        case "guided":
            found = _guided(seeds, store=store, embedder=embedder, options=options, where=where)
    return _filtered(found, store=store, where=where) if where else found


def relations_between(entities: Sequence[Entity], *, graph: Graph, limit: int = 50) -> list[Relation]:
    """Return the relations whose two ends are both among `entities`, strongest first."""
    ids = {entity.id for entity in entities}
    every = graph.relations_of(sorted(ids), limit=limit) if ids else []
    inside = [relation for relation in every if relation.source_id in ids and relation.target_id in ids]
    return graph.describe(inside[:limit])


def _walk(seeds: Sequence[Seed], *, graph: Graph, options: GraphOptions, limit: int) -> GraphFound:
    hits, state = walk(seeds, graph=graph, options=options)
    hits = hits[:limit]
    paths = {hit.chunk_id: state.path(hit.chunk_id) for hit in hits[:EXPLAINED]}
    ids = sorted({node for path in paths.values() for node in path if node[0] == "e"})
    names = {entity.id: entity.name for entity in graph.entities(ids)}
    about = {(m.entity_id, m.chunk_id) for m in graph.mentions_in(sorted(paths)) if m.about}
    links = _strongest_links(graph.relations_of(ids, limit=options.max_edges))
    sources = {}
    for chunk, path in paths.items():
        entities = [node for node in path if node[0] == "e" and node in names]
        if not entities:
            continue
        steps = [_step(before, after, names=names, links=links) for before, after in pairwise(entities)]
        last = ABOUT_CHUNK if (entities[-1], chunk) in about else IN_CHUNK
        steps.append(PathStep(source=names[entities[-1]], type=last, weight=0.0, target=chunk))
        sources[chunk] = GraphSource(entity=names[entities[-1]], hops=len(entities) - 1, path=tuple(steps))
    return GraphFound(hits=tuple(hits), sources=sources)


def _strongest_links(relations: Sequence[Relation]) -> dict[tuple[str, str], tuple[str, float]]:
    links: dict[tuple[str, str], tuple[str, float]] = {}
    for relation in relations:  # strongest first
        links.setdefault((relation.source_id, relation.target_id), (relation.type, relation.weight))
        links.setdefault((relation.target_id, relation.source_id), (inverse(relation.type), relation.weight))
    return links


def _step(
    before: str, after: str, *, names: Mapping[str, str], links: Mapping[tuple[str, str], tuple[str, float]]
) -> PathStep:
    type, weight = links.get((before, after), ("mentioned_with", 1.0))
    return PathStep(source=names[before], type=type, weight=weight, target=names[after])


def _neighbours(seeds: Sequence[Seed], *, graph: Graph, options: GraphOptions) -> list[Neighbour]:
    return neighbourhood(
        [seed.entity.id for seed in seeds],
        fetch=lambda ids: graph.relations_of(ids, limit=options.max_edges, types=options.rel_types),
        inverse=inverse,
        max_hops=options.max_hops,
        min_graph_score=options.min_graph_score,
        rel_types=options.rel_types,
    )


def _expand(seeds: Sequence[Seed], *, graph: Graph, options: GraphOptions) -> GraphFound:
    neighbours = _neighbours(seeds, graph=graph, options=options)
    entities = {e.id: e for e in graph.entities([n.entity_id for n in neighbours])}
    names = {id: entity.name for id, entity in entities.items()} | {s.entity.id: s.entity.name for s in seeds}
    scores: dict[str, float] = {}
    sources: dict[str, GraphSource] = {}
    for neighbour in neighbours:
        entity = entities.get(neighbour.entity_id)
        if entity is None:
            continue
        score = graph_score(weight=neighbour.weight, hops=neighbour.hops, mentions=entity.mentions)
        for mention in graph.mentions_of([entity.id], limit=options.max_chunks):
            if score > scores.get(mention.chunk_id, 0.0):
                scores[mention.chunk_id] = score
                last = ABOUT_CHUNK if mention.about else IN_CHUNK
                steps = [
                    PathStep(
                        source=names.get(s.source_id, ""),
                        type=s.type,
                        weight=s.weight,
                        target=names.get(s.target_id, ""),
                    )
                    for s in neighbour.path
                ]
                steps.append(PathStep(source=entity.name, type=last, weight=0.0, target=mention.chunk_id))
                sources[mention.chunk_id] = GraphSource(entity=entity.name, hops=neighbour.hops, path=tuple(steps))
    return GraphFound(hits=tuple(order(scores)[: options.max_chunks]), sources=sources)


def _guided(
    seeds: Sequence[Seed], *, store: Store, embedder: Embedder | None, options: GraphOptions, where: Filter
) -> GraphFound:
    if embedder is None:
        return GraphFound()
    named = [(seed.entity.id, seed.entity.name) for seed in seeds]
    around: dict[str, list[tuple[str, str, int]]] = {}
    for seed in seeds:
        found = _neighbours([seed], graph=store.graph, options=options)
        names = {entity.id: entity.name for entity in store.graph.entities([n.entity_id for n in found])}
        around[seed.entity.id] = [(n.entity_id, names[n.entity_id], n.hops) for n in found if n.entity_id in names]
    pairs = expansion_queries(named, around, max_expansions=options.max_expansions)
    queries = [(pair.query, pair.score, pair.hops) for pair in pairs] + [(name, 1.0, 0) for _, name in named]
    vectors = embedder.embed([query for query, _, _ in queries], kind="query")
    scores: dict[str, float] = {}
    sources: dict[str, GraphSource] = {}
    for (query, proximity, hops), vector in zip(queries, vectors, strict=True):
        for hit in store.search_vector(vector, limit=PER_QUERY, where=where).hits:
            score = proximity * max(0.0, hit.score)
            if score > scores.get(hit.chunk_id, 0.0):
                scores[hit.chunk_id] = score
                sources[hit.chunk_id] = GraphSource(entity=query, hops=hops, expansion=query)
    return GraphFound(hits=tuple(order(scores)), sources=sources)


def _filtered(found: GraphFound, *, store: Store, where: Filter) -> GraphFound:
    """The walk may pass anywhere; what it returns must pass the filter."""
    chunks = {chunk.id: chunk.document_id for chunk in store.chunks([hit.chunk_id for hit in found.hits])}
    allowed = {document.id for document in store.find_documents(where, limit=1_000_000)}
    kept = {hit.chunk_id: hit.score for hit in found.hits if chunks.get(hit.chunk_id) in allowed}
    return GraphFound(hits=tuple(order(kept)), sources={id: found.sources[id] for id in kept if id in found.sources})
