"""Graph channel: the algorithms `walk`, `expand` and `guided`. Each returns the path to every chunk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from weft.config import GraphOptions
from weft.errors import ModelError
from weft.extract.statements import inverse, spellings
from weft.graph.expand import FULL_WEIGHT, Neighbour, graph_score, neighbourhood
from weft.graph.guided_expansion import expansion_queries
from weft.rank.fuse import order
from weft.records import Entity, GraphSource, Hit, PathStep, Question, Relation
from weft.search.graph.link_weights import FOLLOWED_GRAPH_SCORE, weakest_links
from weft.search.graph.relations import Relations, strongest_first
from weft.search.graph.walk import Walk, walk
from weft.search.question.entities import Seed
from weft.search.search_context import SearchContext
from weft.text.ids import fact_entity_key

logger = logging.getLogger(__name__)

IN_CHUNK = "mentioned in"
ABOUT_CHUNK = "described in"
SEARCHED = "searched for in"

MAX_FILTERED_MENTIONS = 1000
"""Maximum number of mentions of an entity that `expand` reads if a filter is set."""

MAX_OWN_CHUNKS = 3
"""Defining chunks of a seed that are compared with the best text hits."""

FILTER_BATCH_CHUNKS = 200
"""Chunks that are compared with a filter at once."""


Explain: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, GraphSource]]
"""Takes the citations of chunks by id; returns the paths to these chunks by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFound:
    """The hits of the graph channel, and a function that explains them."""

    hits: tuple[Hit, ...] = ()
    own: tuple[Hit, ...] = ()
    """The seeds' own chunks, if the algorithm leaves them out of `hits`. Agreement with the text needs them."""
    explain: Explain = field(default=lambda citations: {})
    weakest_links: Callable[[Collection[str]], Mapping[str, float]] = field(default=lambda ids: {})
    """Takes ids of chunks; returns the weight of the weakest link on the path to each, 1 to 10."""
    answers: bool = False
    """True if an entity of the question has a relation that the question asks for."""
    degraded: str = ""
    """Reason why the graph was searched without an embedder; empty if the embedder was available."""


def search_graph(
    question: Question, seeds: Sequence[Seed], search: SearchContext, *, relations: Relations | None = None
) -> GraphFound:
    """Return the chunks reached from the entities of a question over `relations`, by default those of the documents."""
    if not seeds:
        return GraphFound()
    relations = relations or Relations(graph=search.store.graph)
    match search.graph.algorithm:
        case "walk":
            types = question.relation_types
            hits, state = walk(seeds, relations=relations, options=search.graph, relation_types=types)
            known = {seed.entity.id: seed.entity.name for seed in seeds}
            explain = partial(explain_walk, state, known=known)
            return GraphFound(
                hits=_filtered(hits, search, count=search.pool_size),
                explain=explain,
                weakest_links=partial(weakest_links, state),
                answers=state.answers,
            )
        case "expand":
            return _expand(seeds, search, relations=relations)
        case "guided":
            return _guided(seeds, search, relations=relations)


def relations_between(entities: Sequence[Entity], *, relations: Relations, limit: int = 50) -> list[Relation]:
    """Return the relations between `entities`, strongest first. Stated ones have a sentence, derived ones have none."""
    if len(entities) < 2:
        return []
    ids = [entity.id for entity in entities]
    stated = relations.graph.describe(relations.between(ids)[:limit])
    shared = relations.graph.co_occurrences(ids, others=ids, limit=limit)
    return sorted([*stated, *shared], key=lambda relation: -relation.weight)[:limit]


def explain_walk(state: Walk, citations: Mapping[str, str], *, known: Mapping[str, str]) -> dict[str, GraphSource]:
    """
    Return the paths of activation to chunks: entities, with the strongest relation between neighbours.

    `known` are names of entities by id.
    """
    paths = {id: [node for node in state.path(id) if node[0] == "e"] for id in citations if id in state.came_from}
    ids = {node for path in paths.values() for node in path}
    read = {**state.names, **known}
    others = [id for id in ids if id not in read]
    names = {**read, **(state.relations.names(others) if others else {})}
    found = strongest_first(
        relation for relation in state.read if relation.source_id in ids and relation.target_id in ids
    )
    links = _strongest_links(found, asked=state.relation_types)
    sources = {}
    for chunk, path in paths.items():
        entities = [node for node in path if node in names]
        if not entities:
            continue
        steps = [_step(before, after, names=names, links=links) for before, after in pairwise(entities)]
        last = ABOUT_CHUNK if (entities[-1], chunk) in state.about else IN_CHUNK
        steps.append(PathStep(source=names[entities[-1]], type=last, weight=0.0, target=citations[chunk]))
        sources[chunk] = GraphSource(entity=names[entities[-1]], hops=len(entities) - 1, path=tuple(steps))
    return sources


def _strongest_links(
    relations: Sequence[Relation], *, asked: Collection[str] = ()
) -> dict[tuple[str, str], tuple[str, float]]:
    """Return the strongest relation of each pair; a type in `asked` comes before the others."""
    links: dict[tuple[str, str], tuple[str, float]] = {}
    for relation in relations:  # strongest first
        ends = relation.source_id, relation.target_id
        for pair, type in ((ends, relation.type), (ends[::-1], inverse(relation.type))):
            if pair not in links or (type in asked and links[pair][0] not in asked):
                links[pair] = type, relation.weight
    return links


def _step(
    before: str, after: str, *, names: Mapping[str, str], links: Mapping[tuple[str, str], tuple[str, float]]
) -> PathStep:
    type, weight = links.get((before, after), ("mentioned_with", 1.0))
    return PathStep(source=names[before], type=type, weight=weight, target=names[after])


def _neighbours(seeds: Sequence[Seed], *, relations: Relations, options: GraphOptions) -> list[Neighbour]:
    types = sorted({name for type in options.rel_types for name in spellings(type)})
    return neighbourhood(
        [seed.entity.id for seed in seeds],
        fetch=lambda ids: relations.with_derived(ids, limit=options.max_edges, types=types),
        inverse=inverse,
        max_hops=options.max_hops,
        min_graph_score=options.min_graph_score,
        rel_types=options.rel_types,
    )


def _expand(seeds: Sequence[Seed], search: SearchContext, *, relations: Relations) -> GraphFound:
    graph, options = relations.graph, search.graph
    neighbours = _neighbours(seeds, relations=relations, options=options)
    entities = {e.id: e for e in relations.entities([n.entity_id for n in neighbours])}
    names = {id: entity.name for id, entity in entities.items()} | {s.entity.id: s.entity.name for s in seeds}
    scores: dict[str, float] = {}
    sources: dict[str, GraphSource] = {}
    for neighbour in neighbours:
        entity = entities.get(neighbour.entity_id)
        if entity is None or fact_entity_key(entity.id):  # no chunk mentions this entity
            continue
        score = graph_score(weight=neighbour.weight, hops=neighbour.hops, mentions=entity.mentions)
        for mention in graph.mentions_of(
            [entity.id], limit=MAX_FILTERED_MENTIONS if search.where else options.max_chunks
        ):
            if score > scores.get(mention.chunk_id, 0.0):
                scores[mention.chunk_id] = score
                end = PathStep(
                    source=entity.name,
                    type=ABOUT_CHUNK if mention.about else IN_CHUNK,
                    weight=0.0,
                    target=mention.chunk_id,
                )
                path = (*_named_path(neighbour, names=names), end)
                sources[mention.chunk_id] = GraphSource(entity=entity.name, hops=neighbour.hops, path=path)
    hits = _filtered(order(scores), search, count=options.max_chunks)
    own = _own_chunks(seeds, relations=relations)
    return GraphFound(hits=hits, own=own, explain=explain_sources(sources), weakest_links=_weakest_steps(sources))


def _own_chunks(seeds: Sequence[Seed], *, relations: Relations) -> tuple[Hit, ...]:
    """Return the defining chunks of the seeds, with the highest score that a chunk of a neighbour can have."""
    ids = [seed.entity.id for seed in seeds if not fact_entity_key(seed.entity.id)]
    mentions = relations.graph.mentions_of(ids, limit=MAX_OWN_CHUNKS) if ids else []
    return tuple(Hit(mention.chunk_id, 1, 1.0) for mention in mentions if mention.about)


def _guided(seeds: Sequence[Seed], search: SearchContext, *, relations: Relations) -> GraphFound:
    """Return the nearest chunks of expansion queries; without an embedder, the result of `_expand`."""
    if search.embedder is None:
        return _expand(seeds, search, relations=relations)
    queries = _suggested(seeds, relations=relations, options=search.graph)
    try:
        vectors = search.embedder.embed([suggested.query for suggested in queries], kind="query")
    except ModelError as error:
        logger.warning("embedding the expansion queries failed: %s", error)
        why = f"the graph was searched without an embedder: embedding failed: {error}"
        found = _expand(seeds, search, relations=relations)
        return replace(found, degraded=why)
    scores: dict[str, float] = {}
    sources: dict[str, GraphSource] = {}
    for suggested, vector in zip(queries, vectors, strict=True):
        for hit in search.store.search_vector(vector, limit=search.graph.per_query, where=search.where).hits:
            score = suggested.proximity * max(0.0, hit.score)
            if score > scores.get(hit.chunk_id, 0.0):
                scores[hit.chunk_id] = score
                end = PathStep(source=suggested.entity, type=SEARCHED, weight=0.0, target=hit.chunk_id)
                sources[hit.chunk_id] = GraphSource(
                    entity=suggested.entity,
                    hops=suggested.hops,
                    path=(*suggested.path, end),
                    expansion=suggested.query,
                )
    return GraphFound(
        hits=tuple(order(scores)), explain=explain_sources(sources), weakest_links=_weakest_steps(sources)
    )


class _Suggested(NamedTuple):
    """An expansion query: the name of a seed, alone or with the name of a neighbour."""

    query: str
    proximity: float
    hops: int
    entity: str
    """Name of the neighbour, or of the seed."""
    path: tuple[PathStep, ...] = ()
    """Path from the seed to the neighbour."""


def _suggested(seeds: Sequence[Seed], *, relations: Relations, options: GraphOptions) -> list[_Suggested]:
    """Return the expansion queries: pairs of names that no weak link joins, closest first, then names of the seeds."""
    options = replace(options, min_graph_score=max(options.min_graph_score, FOLLOWED_GRAPH_SCORE))
    named = [(seed.entity.id, seed.entity.name) for seed in seeds]
    around: dict[str, list[tuple[str, str, int]]] = {}
    paths: dict[tuple[str, str], tuple[PathStep, ...]] = {}
    for seed in seeds:
        id, found = seed.entity.id, _neighbours([seed], relations=relations, options=options)
        ends = {end for n in found for step in n.path for end in (step.source_id, step.target_id)}
        names = {entity.id: entity.name for entity in relations.entities(sorted(ends))}
        known = [n for n in found if n.entity_id in names and not fact_entity_key(n.entity_id)]
        around[id] = [(n.entity_id, names[n.entity_id], n.hops) for n in known]
        paths |= {(id, n.entity_id): _named_path(n, names=names) for n in known}
    pairs = []
    for pair in expansion_queries(named, around, max_expansions=options.max_expansions):
        path = paths[pair.seed_id, pair.neighbour_id]
        pairs.append(_Suggested(pair.query, pair.score, pair.hops, path[-1].target, path))
    return [*pairs, *(_Suggested(name, 1.0, 0, name) for _, name in named)]


def _named_path(neighbour: Neighbour, *, names: Mapping[str, str]) -> tuple[PathStep, ...]:
    """Return the path to a neighbour with the names of its entities."""
    return tuple(
        PathStep(
            source=names.get(step.source_id, ""),
            type=step.type,
            weight=step.weight,
            target=names.get(step.target_id, ""),
        )
        for step in neighbour.path
    )


def _filtered(hits: Sequence[Hit], search: SearchContext, *, count: int) -> tuple[Hit, ...]:
    """Return the first `count` hits in documents that pass the filter. The path to a hit may use any document."""
    store, where = search.store, search.where
    if not where:
        return tuple(hits[:count])
    allowed = {document.id for document in store.find_documents(where, limit=1_000_000)}
    kept: dict[str, float] = {}
    for start in range(0, len(hits), FILTER_BATCH_CHUNKS):
        some = hits[start : start + FILTER_BATCH_CHUNKS]
        passed = {
            chunk.id
            for chunk in store.chunks([hit.chunk_id for hit in some])
            if chunk.document_id in allowed and where.allows_time(chunk.start_time, chunk.end_time)
        }
        kept |= {hit.chunk_id: hit.score for hit in some if hit.chunk_id in passed}
        if len(kept) >= count:
            break
    return tuple(order(kept, limit=count))


def explain_sources(sources: Mapping[str, GraphSource]) -> Explain:
    """Return an explainer for these sources; each path ends at its citation."""
    return lambda citations: {id: _cited(sources[id], end) for id, end in citations.items() if id in sources}


def _weakest_steps(sources: Mapping[str, GraphSource]) -> Callable[[Collection[str]], Mapping[str, float]]:
    """Return a function of chunk ids: the smallest weight of the relations on the path to each."""
    weights = {id: min((s.weight for s in source.path if s.weight), default=0.0) for id, source in sources.items()}
    return lambda ids: {id: weights[id] or FULL_WEIGHT for id in ids if id in weights}


def _cited(source: GraphSource, citation: str) -> GraphSource:
    if not source.path:
        return source
    *steps, end = source.path
    return replace(source, path=(*steps, replace(end, target=citation)))
