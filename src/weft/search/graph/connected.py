"""
Connected passages: the passages of stated neighbours of the entities that a question names.

A relation, a link or a fact states a neighbour; a shared sentence does not. Entities that the question names have
connected passages if the gate keeps a passage at all; `page_neighbours.py` adds those of found pages. An example:

    Auth Service ─depends_on 10→ OAuth Provider   cosine 0.61   score ½ · 10/10 · 0.61 = 0.31
    Auth Service ─links_to 8───→ Login Flow       cosine 0.70   score ½ ·  8/10 · 0.70 = 0.28

A relation that the question asks for adds ½. If the question names several entities, each brings its best neighbour in
turn, so that both sides of a comparison have their share of `graph.max_chunks`. There is no threshold on the score, so
neighbours do not vanish as their number grows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from weft.choices import VECTOR
from weft.extract.names import singular
from weft.extract.statements import inverse, spellings
from weft.graph.expand import FULL_WEIGHT
from weft.rank.fuse import COSINE_DIGITS, order
from weft.records import Definition, GraphSource, Hit, PathStep, Query, Ranking, Relation
from weft.search.draft import Draft, Neighbours, Walked
from weft.search.graph.channel import ABOUT_CHUNK, Explain, explain_sources
from weft.search.graph.relations import Relations
from weft.search.search_context import SearchContext
from weft.search.shared_words import names_alone
from weft.text.ids import fact_entity_key

MAX_RELATIONS = 50
"""Strongest relations of an entity that are read, in each direction."""


class Edge(NamedTuple):
    """A relation seen from the entity at which the search starts."""

    start_id: str
    type: str
    weight: float


def find_named(
    draft: Draft, starts: Sequence[str], search: SearchContext, *, relations: Relations
) -> dict[str, list[Edge]]:
    """Return the edges of the stated neighbours of named entities, if the gate kept a chunk."""
    is_refused = bool(draft.walked.skipped) and search.graph.confidence == "heuristic"
    if not draft.verdict.kept or not starts or draft.is_cited or is_refused or not search.graph.enabled:
        return {}
    read = read_relations(starts, draft.query.question.relation_types, relations=relations)
    return stated_edges(read, starts=starts, search=search)


def find_starts(draft: Draft, *, relations: Relations) -> list[str]:
    """
    Return the entities that the question names.

    One lower-case word is a name if it is the subject: with a relation asked for, among names alone, or if the best
    passage is of its page. `Environments` is not named by `several packages in one environment`.
    """
    question = draft.query.question
    seeds = [seed for seed in draft.walked.seeds if seed.words]
    marked = {spelling for word in question.words if word.is_name_like for spelling in (word.text, singular(word.text))}
    marked |= question.exact_keys.keys()
    plain = [seed for seed in seeds if seed.words == 1 and seed.key.isascii() and seed.key.lower() not in marked]
    ids = [seed.entity.id for seed in seeds]
    if not plain or question.relation_types or question.relations or names_alone(draft):
        return ids
    first = [hit.chunk_id for hit in draft.verdict.text[:1]]
    known = relations.define([seed.entity.id for seed in plain], hits=first)
    unnamed = {seed.entity.id for seed in plain if seed.entity.id not in known or not known[seed.entity.id].hits}
    return [id for id in ids if id not in unnamed]


def choose_connected(neighbours: Neighbours, *, shown: Collection[str], limit: int) -> list[Hit]:
    """
    Return at most `limit` passages of neighbours that are not in `shown`, best first.

    The named entities bring their best passages in turn, so that none takes the places of another.
    """
    taken: dict[str, Hit] = {}
    queues = [[hit for hit in hits if hit.chunk_id not in shown] for hits in neighbours.by_entity]
    for hit in (hit for turn in zip_longest(*queues) for hit in turn if hit is not None):
        known = taken.get(hit.chunk_id)
        if known is not None:
            taken[hit.chunk_id] = max(known, hit, key=lambda hit: hit.score)
        elif len(taken) < limit:
            taken[hit.chunk_id] = hit
    best = sorted(taken.values(), key=lambda hit: (-hit.score, hit.chunk_id))
    return [Hit(id, rank, score) for rank, (id, _, score) in enumerate(best, start=1)]


def explain_hits(walked: Walked, neighbours: Neighbours) -> Explain:
    """Return an explainer: a relation of a named entity explains a chunk, else the path of the algorithm does."""
    stated = explain_sources(neighbours.sources)
    hits = {hit.chunk_id for hit in walked.found.hits}

    def explain(citations: Mapping[str, str]) -> Mapping[str, GraphSource]:
        found = walked.found.explain({id: citation for id, citation in citations.items() if id in hits})
        expanded = {id: source for id, source in found.items() if source.expansion}
        return {**found, **stated(citations), **expanded}

    return explain


def rank_named(
    draft: Draft,
    starts: Sequence[str],
    edges: Mapping[str, Sequence[Edge]],
    definitions: Mapping[str, Definition],
    search: SearchContext,
    *,
    relations: Relations,
) -> Neighbours:
    """Return the defining chunks of the neighbours of named entities, by relation and closeness to the question."""
    types = draft.query.question.relation_types
    chunks = _pass_filter({id: definitions[id].chunk_id for id in edges if id in definitions}, search)
    closeness = _measure_closeness(draft.query, chunks, search, vector=draft.rankings.get(VECTOR))
    names = relations.names([*starts, *chunks])
    sources, weights = dict[str, GraphSource](), dict[str, float]()
    lists: dict[str, dict[str, float]] = {start: {} for start in starts}
    for id in sorted(chunks, key=lambda id: (-edges[id][0].weight, -closeness[id], id)):
        if id not in names:
            continue
        chunk, shown = chunks[id], max(edges[id], key=lambda edge: (edge.type in types, edge.weight))
        sources.setdefault(chunk, source_of(names[id], shown, names=names))
        weights[chunk] = max(weights.get(chunk, 0.0), edges[id][0].weight)
        for edge in edges[id]:
            score = ((edge.type in types) + edge.weight / FULL_WEIGHT * closeness[id]) / 2
            scores = lists[edge.start_id]
            scores[chunk] = max(scores.get(chunk, 0.0), score)
    by_entity = tuple(tuple(order(scores)) for scores in lists.values())
    return Neighbours(by_entity=by_entity, sources=sources, weights=weights)


def read_relations(starts: Sequence[str], types: Collection[str], *, relations: Relations) -> list[Relation]:
    """
    Return the strongest relations of these entities, and those of the types that the question asks for.

    A hub has more relations than are read, many of equal weight.
    """
    found = relations.of(sorted(starts), limit=MAX_RELATIONS)
    ends = Counter(relation.source_id for relation in found) + Counter(relation.target_id for relation in found)
    hubs = sorted(id for id in starts if ends[id] >= MAX_RELATIONS)  # all relations of the others are read
    if hubs and types:
        wanted = sorted({name for type in types for name in spellings(type)})
        found += relations.of(hubs, limit=MAX_RELATIONS, types=wanted)
    if len(hubs) > 1:
        found += relations.between(hubs)
    return found


def stated_edges(
    relations: Sequence[Relation], *, starts: Collection[str], search: SearchContext
) -> dict[str, list[Edge]]:
    """Return the edges of each neighbour, strongest first; `graph.rel_types` applies."""
    allowed = frozenset(search.graph.rel_types)
    edges: dict[str, dict[Edge, None]] = defaultdict(dict)
    for one, other, kind, weight, *_ in sorted(relations, key=lambda relation: -relation.weight):
        for source, type, target in ((one, kind, other), (other, inverse(kind), one)):
            is_allowed = not allowed or kind in allowed or type in allowed
            if is_allowed and source in starts and target not in starts and not fact_entity_key(target):
                edges[target][Edge(source, type, weight)] = None
    return {id: list(found) for id, found in edges.items()}


def _pass_filter(defining: dict[str, str], search: SearchContext) -> dict[str, str]:
    """Return the defining chunks that pass the filter."""
    if not search.where or not defining:
        return defining
    documents = {document.id for document in search.store.find_documents(search.where, limit=1_000_000)}
    known = search.chunks.read(list(defining.values()))
    passed = {
        id
        for id, chunk in known.items()
        if chunk.document_id in documents and search.where.allows_time(chunk.start_time, chunk.end_time)
    }
    return {id: chunk for id, chunk in defining.items() if chunk in passed}


def _measure_closeness(
    query: Query, chunks: Mapping[str, str], search: SearchContext, *, vector: Ranking | None
) -> dict[str, float]:
    """Return the cosine of the question with a chunk of the vector channel, else with name and description."""
    if query.vector is None or not chunks:
        return dict.fromkeys(chunks, 1.0)
    found = {hit.chunk_id: hit.score for hit in vector.hits} if vector else {}
    others = sorted({chunk for chunk in chunks.values() if chunk not in found})
    described = search.store.graph.compare_entities(query.vector, chunk_ids=others) if others else {}
    cosines = {
        id: max(0.0, round(score, COSINE_DIGITS))
        for id, chunk in chunks.items()
        if (score := found.get(chunk, described.get(id))) is not None
    }
    least = min(cosines.values(), default=1.0)
    return {id: cosines.get(id, least) for id in chunks}


def source_of(name: str, edge: Edge, *, names: Mapping[str, str]) -> GraphSource:
    step = PathStep(source=names.get(edge.start_id, ""), type=edge.type, weight=edge.weight, target=name)
    return GraphSource(entity=name, hops=1, path=(step, PathStep(source=name, type=ABOUT_CHUNK, weight=0.0, target="")))
