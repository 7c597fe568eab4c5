"""
Neighbours of the found page: the pages that a link, a relation or a fact joins with the best page of the text.

The second page of an answer may share no word with the question. For `For HTTPS on my Ingress: which type of Secret …`:

    ingress.md (found) ─links_to→ secret.md            cosine 0.71    connected
    ingress.md (found) ─links_to→ service.md           cosine 0.69    connected
    ingress.md (found) ─links_to→ contribute/style.md  cosine 0.48    left out: near the mean

Only a question that names a thing and says more about it, or that asks for a relation, brings them. A question of names
alone brings the neighbours of these names (`connected.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from weft.choices import VECTOR
from weft.extract.links.page_keys import page_key
from weft.extract.names import name_key
from weft.graph.expand import FULL_WEIGHT
from weft.rank.fuse import COSINE_DIGITS, order, round_cosines
from weft.records import Definition, Filter, Hit, Ranking, Relation
from weft.search.draft import Draft
from weft.search.graph.connected import (
    MAX_RELATIONS,
    Edge,
    find_named,
    find_starts,
    rank_named,
    read_relations,
    source_of,
    stated_edges,
)
from weft.search.graph.relations import Relations
from weft.search.search_context import SearchContext
from weft.search.shared_words import names_alone
from weft.text.ids import owner

MAX_PAGE_NEIGHBOURS = 3
"""Number of neighbours of the found page that compete for places, by their score."""

MIN_CLOSENESS = 0.3
"""Part of the way from the mean to the best cosine that the best chunk of a neighbour must reach."""

MAX_SEARCHED_PAGES = 50
"""Neighbours without a chunk among the best hits whose chunks are compared with the question, strongest first."""

ELSEWHERE_FACTOR = 0.8
"""Factor of the score if no passage among the best text hits states the relation."""


class Page(NamedTuple):
    """The best page of the text, and its neighbours."""

    starts: Sequence[str] = ()
    """Entities of the page."""
    read: Sequence[Relation] = ()
    """The relations of these entities."""
    edges: Mapping[str, Sequence[Edge]] = MappingProxyType({})
    """Edges of the neighbours, without those that the question names."""


def add_neighbours(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with the passages of the neighbours of named entities and of the best page of the text."""
    relations, vector = draft.relations, draft.rankings.get(VECTOR)
    if relations is None:
        return draft
    with search.stopwatch.stage("connect"):
        starts = find_starts(draft, relations=relations)
        named = find_named(draft, starts, search, relations=relations)
        page = _find_page(draft, starts, search, relations=relations)
        near = [hit.chunk_id for hit in _near_hits(vector)] if page.edges and vector else []
        known = relations.define([*dict.fromkeys((*named, *page.edges)), *page.starts], hits=near)
        if named:
            draft = draft._replace(neighbours=rank_named(draft, starts, named, known, search, relations=relations))
        return _add(draft, page, known, search, relations=relations, vector=vector) if near and vector else draft


def _find_page(draft: Draft, named: Sequence[str], search: SearchContext, *, relations: Relations) -> Page:
    vector, query = draft.rankings.get(VECTOR), draft.query
    is_asked = bool(named or query.question.names or query.question.relation_types) and not names_alone(draft)
    if not is_asked or not search.graph.enabled or draft.is_cited or query.vector is None:
        return Page()
    if not vector or not vector.hits or not draft.verdict.text or search.graph.fusion != "boost":
        return Page()
    starts = _find_starts(draft, search, relations=relations)
    read = read_relations(starts, query.question.relation_types, relations=relations) if starts else []
    edges = stated_edges(read, starts=starts, search=search)
    return Page(starts, read, {id: found for id, found in edges.items() if id not in named})


def _near_hits(vector: Ranking) -> list[Hit]:
    """Return the hits of the vector channel that are close enough for a neighbour."""
    least = _min_cosine(vector) if vector.hits else 0.0
    return [hit for hit in vector.hits if hit.score >= least]


def _min_cosine(vector: Ranking) -> float:
    return vector.mean + MIN_CLOSENESS * (vector.hits[0].score - vector.mean)


def _find_starts(draft: Draft, search: SearchContext, *, relations: Relations) -> list[str]:
    """Return the ids of the entities of the best text document: its page, and the thing that its title names."""
    chunks = search.chunks.read([hit.chunk_id for hit in draft.verdict.text[:1]])
    pages = search.chunks.documents(chunks.values()).values()
    keys = [key for page in pages for key in (page_key(page.source), name_key(page.title)) if key]
    known = relations.read_names(keys, limit=MAX_RELATIONS)
    return list(dict.fromkeys(known[key] for key in keys if key in known))


def _add(
    draft: Draft,
    page: Page,
    known: Mapping[str, Definition],
    search: SearchContext,
    *,
    relations: Relations,
    vector: Ranking,
) -> Draft:
    """Return the draft with the closest chunk of each neighbouring page, in a list of its own."""
    old, edges = draft.neighbours, page.edges
    close = _find_close({id: known[id] for id in edges if id in known}, draft, search, vector=vector)
    names = relations.names([*page.starts, *close])
    close = {id: found for id, found in close.items() if id in names and found.chunk_id not in old.weights}
    told = _find_told(close, page.read, draft, search, relations=relations)
    scores, sources, weights = dict[str, float](), dict(old.sources), dict(old.weights)
    for id, (chunk, _, cosine) in close.items():
        edge = max(edges[id], key=lambda edge: edge.weight)
        score = edge.weight / FULL_WEIGHT * cosine / 2 * (1.0 if id in told else ELSEWHERE_FACTOR)
        scores[chunk] = max(scores.get(chunk, 0.0), round(score, COSINE_DIGITS))
        sources.setdefault(chunk, source_of(names[id], edge, names=names))
        weights[chunk] = max(weights.get(chunk, 0.0), edge.weight)
    found = tuple(order(scores)[:MAX_PAGE_NEIGHBOURS])
    by_entity = (*old.by_entity, found) if found else old.by_entity
    return draft._replace(neighbours=replace(old, by_entity=by_entity, sources=sources, weights=weights))


def _find_told(
    ids: Collection[str],
    read: Sequence[Relation],
    draft: Draft,
    search: SearchContext,
    *,
    relations: Relations,
) -> set[str]:
    """Return the entities among `ids` with a relation in `read` that one of the best text hits states."""
    shown = {hit.chunk_id for hit in draft.verdict.text[: search.options.top_k]}
    asked = [relation for relation in read if relation.source_id in ids or relation.target_id in ids]
    stated = [relation for relation in relations.graph.describe(asked) if shown.intersection(relation.chunks)]
    return {end for relation in stated for end in (relation.source_id, relation.target_id)}


def _find_close(
    known: Mapping[str, Definition], draft: Draft, search: SearchContext, *, vector: Ranking
) -> dict[str, Hit]:
    """Return the closest chunk of the page of each entity, for those that come close enough to the question."""
    near = _near_hits(vector)
    pages = {id: definition.document_id for id, definition in known.items()}
    hits = {definition.document_id: definition.hits for definition in known.values()}
    best = {page: hit for page, ids in hits.items() if (hit := next((h for h in near if h.chunk_id in ids), None))}
    if len(near) == search.pool_size:  # other chunks may be close enough, too
        others = [page for page in dict.fromkeys(pages.values()) if page not in best]
        best |= _search_pages(others[:MAX_SEARCHED_PAGES], draft, search, least=_min_cosine(vector))
    return {id: best[page] for id, page in pages.items() if page in best}


def _search_pages(pages: Sequence[str], draft: Draft, search: SearchContext, *, least: float) -> dict[str, Hit]:
    """Return the chunk of each document that is closest to the question, if its cosine is at least `least`."""
    allowed = set(search.where.documents)
    wanted = tuple(page for page in pages if not allowed or page in allowed)
    if not wanted or draft.query.vector is None:
        return {}
    where: Filter = replace(search.where, documents=wanted)
    ranking = round_cosines(search.store.search_vector(draft.query.vector, limit=search.pool_size, where=where))
    near = [hit for hit in ranking.hits if hit.score >= least]
    best: dict[str, Hit] = {}
    for hit in near:
        best.setdefault(owner(hit.chunk_id), hit)
    chunks = search.chunks.read([hit.chunk_id for hit in best.values()])
    return {chunk.document_id: best[owner(id)] for id, chunk in chunks.items()}
