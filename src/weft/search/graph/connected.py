"""
Connected passages: the chunks of the stated neighbours of entities that a question names or finds.

A relation, a link or a fact states a neighbour; a shared sentence does not. The search starts from

- the entities that the question names: every neighbour with a defining chunk counts;
- the pages of the text hits in the answer: a neighbour counts only if the text channels found its page too.

First come neighbours by a relation that the question asks for, then those of clear names: entities with at most three
defining chunks. For the question `Auth Service`:

    Auth Service ─depends_on 10→ OAuth Provider   cosine 0.61   score 10/10 · 0.61 = 0.61
    Auth Service ─links_to 8───→ Login Flow       cosine 0.70   score  8/10 · 0.70 = 0.56

A neighbour of several of these entities gets the sum of its scores. Then come the neighbours of other names and of
pages. `Pod` has dozens of defining chunks in the documentation of Kubernetes, so its neighbours compete with those of
the pages. For `What holds back a finished Job that is past its TTL?`, text scores are relative to the best hit:

    page             text score   linked with        words of the question in the link's sentence   score
    Jobs             1.00         (a start)
    TTL controller   0.97         (a start)
    Finalizers       0.45         TTL controller     0.20                        (0.45 + 0.20) · √0.97 = 0.64
    Workloads        0.40         both               0                           (0.40 + 0)    · √1.97 = 0.56

There is no threshold on the score: the number of places is bounded instead (`search/selection.py`), so neighbours do
not vanish as their number grows.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from weft.extract.links.page_keys import page_key
from weft.extract.names import name_key
from weft.extract.statements import inverse, spellings
from weft.graph.expand import FULL_WEIGHT
from weft.rank.fuse import COSINE_DIGITS
from weft.records import DocumentTitle, GraphSource, Hit, PathStep, Query, Ranking, Relation
from weft.search.document_spread import spread
from weft.search.graph.channel import ABOUT_CHUNK
from weft.search.graph.relations import Relations
from weft.search.graph.trust import MAX_DEFINING_CHUNKS
from weft.search.question.content_terms import content_terms
from weft.search.question.entities import Seed
from weft.search.search_context import SearchContext
from weft.store.base import GraphReader
from weft.text.analyzer import query_terms
from weft.text.ids import fact_entity_key

MAX_RELATIONS = 50
"""Strongest relations of an entity that are read, in each direction."""

MIN_PAGE_RELATION_WEIGHT = 6.0
"""Relations of a page below this weight are not read: nearly all of them derive from mentions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The chunks of stated neighbours, best first, with the path to each."""

    hits: tuple[Hit, ...] = ()
    sources: Mapping[str, GraphSource] = field(default_factory=dict)
    """By chunk, its path."""
    named: frozenset[str] = frozenset()
    """Chunks whose path starts at an entity that the question names."""
    asked: int = 0
    """Number of first hits whose relation the question asks for."""
    due: int = 0
    """Number of first hits that the answer must have places for: those asked for and those of clear names."""


class _Edge(NamedTuple):
    """A relation seen from the entity at which the search starts."""

    start_id: str
    type: str
    weight: float
    relation: Relation


class _Page(NamedTuple):
    """A document that the text channels found."""

    chunk_id: str
    """Its best hit."""
    score: float
    """Score of that hit, relative to the best hit of all."""
    is_shown: bool
    """True if that hit is in the answer of the text channels."""


def find_connected(
    query: Query,
    seeds: Sequence[Seed],
    text: Sequence[Hit],
    search: SearchContext,
    *,
    relations: Relations,
    vector: Ranking | None = None,
) -> Connected:
    """
    Return the chunks of stated neighbours, best first.

    `text` are the fused hits of the text channels, `vector` is the ranking of the vector channel.
    """
    named = {seed.entity.id for seed in seeds if seed.words}
    pages = _find_pages(text, search)
    starts = {id: page.score for id, page in pages.items() if page.is_shown} | dict.fromkeys(sorted(named), 1.0)
    if not starts:
        return Connected()
    types = query.question.relation_types
    found = _read_relations(starts, types, named=named, near=list(pages), relations=relations)
    edges = _stated_edges(found, starts=starts, named=named, search=search)
    chunks = _choose_chunks(edges, pages, named=named, search=search, relations=relations)
    clear = {seed.entity.id for seed in seeds if seed.words and seed.defining_chunks <= MAX_DEFINING_CHUNKS}
    asked = {id for id in chunks if any(edge.start_id in named and edge.type in types for edge in edges[id])}
    due = asked | {id for id in chunks if any(edge.start_id in clear for edge in edges[id])}
    closeness = _measure_closeness(query, chunks, search, vector=vector)
    scores = {id: closeness[id] * _strength(edges[id]) for id in due}
    others = {id: edges[id] for id in chunks if id not in due}
    scores |= _score_linked(query, others, starts, pages, graph=relations.graph)
    best = sorted(chunks, key=lambda id: (id not in asked, id not in due, -scores[id], -closeness[id], id))
    names = relations.names([*starts, *best])
    hits, sources = list[Hit](), dict[str, GraphSource]()
    for id in best:
        if chunks[id] not in sources and id in names:
            sources[chunks[id]] = _source(names[id], _choose_edge(edges[id], named=named, types=types), names=names)
            hits.append(Hit(chunks[id], len(hits) + 1, scores[id]))
    by_name = frozenset(chunks[id] for id in best if any(edge.start_id in named for edge in edges[id]))
    return Connected(
        hits=tuple(hits),
        sources=sources,
        named=by_name,
        asked=len({chunks[id] for id in asked} & sources.keys()),
        due=len({chunks[id] for id in due} & sources.keys()),
    )


def _find_pages(text: Sequence[Hit], search: SearchContext) -> dict[str, _Page]:
    """
    Return the entities of the pages of all found documents, best first.

    The entity of a page is that of its path if several pages have its title, else that of its title.
    """
    titles = search.store.titles([hit.chunk_id for hit in text])
    shown = {hit.chunk_id for hit in spread(text, chunks=search.chunks, top_k=search.options.top_k)}
    best: dict[DocumentTitle, _Page] = {}
    for hit in text:
        if (title := titles.get(hit.chunk_id)) and title not in best:
            score = max(0.0, hit.score / text[0].score) if text[0].score > 0 else 0.0
            best[title] = _Page(hit.chunk_id, score, hit.chunk_id in shown)
    keys = sorted({key for title in best for key in _page_keys(title)})
    known = search.store.graph.find_ids(keys)
    pages: dict[str, _Page] = {}
    for title, page in best.items():
        if id := next((known[key] for key in _page_keys(title) if key in known), ""):
            pages.setdefault(id, page)
    return pages


@lru_cache(maxsize=16384)
def _page_keys(title: DocumentTitle) -> tuple[str, ...]:
    """Return the keys of a page: that of its path, then that of its title. The same pages are found often."""
    return tuple(filter(None, (page_key(title.source), name_key(title.title))))


def _read_relations(
    starts: Collection[str],
    types: Collection[str],
    *,
    named: Collection[str],
    near: Sequence[str],
    relations: Relations,
) -> list[Relation]:
    """
    Return the strongest relations of these entities, those of the types asked for, and those to entities `near`.

    A hub has more relations than are read, many of equal weight. Those to pages that the text channels found are the
    closest to the question.
    """
    found = relations.of(sorted(named), limit=MAX_RELATIONS)
    pages = [id for id in starts if id not in named]
    found += relations.of(pages, limit=MAX_RELATIONS, min_weight=MIN_PAGE_RELATION_WEIGHT)
    ends = Counter(relation.source_id for relation in found) + Counter(relation.target_id for relation in found)
    hubs = [id for id in starts if ends[id] >= MAX_RELATIONS]  # all relations of the others are read
    if hubs and types:
        wanted = sorted({name for type in types for name in spellings(type)})
        found += relations.of(hubs, limit=MAX_RELATIONS, types=wanted)
    if hubs:
        found += relations.between(hubs, others=list(dict.fromkeys([*hubs, *near])))
    return found


def _stated_edges(
    relations: Sequence[Relation], *, starts: Collection[str], named: Collection[str], search: SearchContext
) -> dict[str, list[_Edge]]:
    """Return the edges of each neighbour, strongest first; `graph.rel_types` applies."""
    allowed = frozenset(search.graph.rel_types)
    edges: dict[str, dict[_Edge, None]] = defaultdict(dict)
    for relation in sorted(relations, key=lambda relation: -relation.weight):
        one, other, kind, weight, *_ = relation
        if weight / FULL_WEIGHT < search.graph.min_graph_score:
            continue
        for source, type, target in ((one, kind, other), (other, inverse(kind), one)):
            is_allowed = not allowed or kind in allowed or type in allowed
            if is_allowed and source in starts and target not in named and not fact_entity_key(target):
                edges[target][_Edge(source, type, weight, relation)] = None
    return {id: list(found) for id, found in edges.items()}


def _score_linked(
    query: Query,
    edges: Mapping[str, Sequence[_Edge]],
    starts: Mapping[str, float],
    pages: Mapping[str, _Page],
    *,
    graph: GraphReader,
) -> dict[str, float]:
    """
    Return the scores of neighbours of pages and vague names, by the scores of `starts`.

    Sentences of links are read only for pages that the answer does not show yet.
    """
    terms = set(content_terms(query.terms))
    pairs = [(id, edge) for id, found in edges.items() if id in pages and not pages[id].is_shown for edge in found]
    shares: dict[str, float] = {}
    for (id, _), relation in zip(pairs, graph.describe([edge.relation for _, edge in pairs]), strict=True):
        common = terms.intersection(query_terms(relation.description))
        shares[id] = max(shares.get(id, 0.0), len(common) / max(1, len(terms)))
    scores = {}
    for id, found in edges.items():
        text = pages[id].score if id in pages else 0.0
        reached = sum(starts[start] for start in {edge.start_id for edge in found})
        scores[id] = (text + shares.get(id, 0.0)) * math.sqrt(reached)
    return scores


def _strength(edges: Sequence[_Edge]) -> float:
    """Return the sum of the strongest edges, one per start; an edge of full weight counts 1. `edges` are sorted."""
    strongest = {edge.start_id: edge.weight for edge in reversed(edges)}
    return sum(strongest.values()) / FULL_WEIGHT


def _choose_chunks(
    edges: Mapping[str, Sequence[_Edge]],
    pages: Mapping[str, _Page],
    *,
    named: Collection[str],
    search: SearchContext,
    relations: Relations,
) -> dict[str, str]:
    """
    Return the chunk to show of each neighbour: the best text hit of its page, else its first defining chunk.

    A neighbour that no named entity states needs a text hit. Neighbours without a chunk or outside the filter are left
    out.
    """
    chunks = {id: pages[id].chunk_id for id in edges if id in pages}
    others = [id for id in edges if id not in pages and any(edge.start_id in named for edge in edges[id])]
    mentions = relations.graph.mentions_of(others, limit=1) if others else []
    defining = {mention.entity_id: mention.chunk_id for mention in mentions if mention.about}
    if search.where:
        documents = {document.id for document in search.store.find_documents(search.where, limit=1_000_000)}
        known = search.chunks.read(list(defining.values()))
        passed = {
            id
            for id, chunk in known.items()
            if chunk.document_id in documents and search.where.allows_time(chunk.start_time, chunk.end_time)
        }
        defining = {id: chunk for id, chunk in defining.items() if chunk in passed}
    return chunks | defining


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


def _choose_edge(edges: Sequence[_Edge], *, named: Collection[str], types: Collection[str]) -> _Edge:
    """Return the edge to show: named entities first, then types that the question asks for, then larger weights."""
    return min(edges, key=lambda edge: (edge.start_id not in named, edge.type not in types, -edge.weight))


def _source(name: str, edge: _Edge, *, names: Mapping[str, str]) -> GraphSource:
    step = PathStep(source=names.get(edge.start_id, ""), type=edge.type, weight=edge.weight, target=name)
    return GraphSource(entity=name, hops=1, path=(step, PathStep(source=name, type=ABOUT_CHUNK, weight=0.0, target="")))
