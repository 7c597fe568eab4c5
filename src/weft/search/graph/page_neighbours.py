"""
Neighbours of found pages: the pages that a link, a relation or a fact joins with the best pages of the text.

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

from weft.choices import VECTOR
from weft.extract.links.page_keys import page_key
from weft.extract.names import name_key
from weft.graph.expand import FULL_WEIGHT
from weft.rank.fuse import COSINE_DIGITS, order
from weft.records import Filter, Ranking
from weft.search.draft import Draft
from weft.search.graph.connected import Edge, read_relations, source_of, stated_edges
from weft.search.graph.relations import Relations
from weft.search.search_context import SearchContext
from weft.search.shared_words import names_alone

MAX_START_PAGES = 3
"""Best documents of the text channels whose neighbours are read."""

MAX_PAGE_NEIGHBOURS = 5
"""Number of neighbours of found pages that compete for places, by their score."""

MIN_CLOSENESS = 0.3
"""Part of the way from the mean to the best cosine that the best chunk of a neighbour must reach."""

ELSEWHERE_FACTOR = 0.8
"""Factor of the score if no passage among the best text hits states the relation."""


def add_page_neighbours(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with the passages of the neighbours of the best text documents."""
    vector, relations, query = draft.rankings.get(VECTOR), draft.relations, draft.query
    named = [seed.entity.id for seed in draft.walked.seeds if seed.words]
    is_asked = bool(named or query.question.names or query.question.relation_types) and not names_alone(draft)
    if not is_asked or not search.graph.enabled or draft.is_cited or relations is None or query.vector is None:
        return draft
    if not vector or not vector.hits or not draft.verdict.text or search.graph.fusion != "boost":
        return draft
    with search.stopwatch.stage("connect"):
        starts = _find_starts(draft, search, relations=relations)
        if not starts:
            return draft
        read = read_relations(list(starts), query.question.relation_types, relations=relations)
        edges = stated_edges(read, starts=starts, search=search)
        shown = {hit.chunk_id for hit in draft.verdict.text[: search.options.top_k]}
        told = {
            end
            for relation in relations.graph.describe(read)
            if shown.intersection(relation.chunks)
            for end in (relation.source_id, relation.target_id)
        }
        near = {id: found for id, found in edges.items() if id not in named}
        return _add(draft, near, search, relations=relations, least=_min_cosine(vector), told=told, names=starts)


def _min_cosine(vector: Ranking) -> float:
    return vector.mean + MIN_CLOSENESS * (vector.hits[0].score - vector.mean)


def _find_starts(draft: Draft, search: SearchContext, *, relations: Relations) -> dict[str, str]:
    """Return the names of the entities of the best text documents, by id."""
    chunks = search.chunks.read([hit.chunk_id for hit in draft.verdict.text[: search.options.top_k]])
    owners = list(dict.fromkeys(chunk.document_id for chunk in chunks.values()))[:MAX_START_PAGES]
    documents = search.chunks.documents(chunks.values())
    pages = [documents[id] for id in owners if id in documents]
    keys = [key for page in pages for key in (page_key(page.source), name_key(page.title)) if key]
    known = relations.graph.find_entities(keys)
    return {known[key].id: known[key].name for key in keys if key in known}


def _add(
    draft: Draft,
    edges: Mapping[str, Sequence[Edge]],
    search: SearchContext,
    *,
    relations: Relations,
    least: float,
    told: Collection[str],
    names: Mapping[str, str],
) -> Draft:
    """
    Return the draft with the closest chunk of each neighbouring page, in a list of its own.

    `names` are those of the entities at which the edges start.
    """
    pages = _read_pages(list(edges), search, relations=relations)
    best = _find_closest(list(dict.fromkeys(pages.values())), draft, search)
    names = {**names, **relations.names(list(pages))}
    old, scores = draft.neighbours, dict[str, float]()
    sources, weights = dict(old.sources), dict(old.weights)
    for id, page in pages.items():
        chunk, cosine = best.get(page, ("", 0.0))
        if not chunk or cosine < least or id not in names or chunk in old.weights:
            continue
        edge = max(edges[id], key=lambda edge: edge.weight)
        score = edge.weight / FULL_WEIGHT * cosine / 2 * (1.0 if id in told else ELSEWHERE_FACTOR)
        scores[chunk] = max(scores.get(chunk, 0.0), round(score, COSINE_DIGITS))
        sources.setdefault(chunk, source_of(names[id], edge, names=names))
        weights[chunk] = max(weights.get(chunk, 0.0), edge.weight)
    found = tuple(order(scores)[:MAX_PAGE_NEIGHBOURS])
    by_entity = (*old.by_entity, found) if found else old.by_entity
    return replace(draft, neighbours=replace(old, by_entity=by_entity, sources=sources, weights=weights))


def _read_pages(ids: Sequence[str], search: SearchContext, *, relations: Relations) -> dict[str, str]:
    """Return the document of each entity by its first defining chunk; those outside the filter are left out."""
    defining = relations.defining_chunks(ids)
    owners = search.chunks.owners(list(defining.values()))
    return {id: owners[chunk] for id, chunk in defining.items() if chunk in owners}


def _find_closest(pages: Sequence[str], draft: Draft, search: SearchContext) -> dict[str, tuple[str, float]]:
    """Return the chunk of each document that is closest to the question, with its cosine."""
    if not pages or draft.query.vector is None:
        return {}
    allowed = set(search.where.documents)
    wanted = tuple(page for page in pages if not allowed or page in allowed)
    if not wanted:
        return {}
    where: Filter = replace(search.where, documents=wanted)
    hits = search.store.search_vector(draft.query.vector, limit=search.pool_size, where=where).hits
    owners = search.chunks.owners([hit.chunk_id for hit in hits])
    best: dict[str, tuple[str, float]] = {}
    for hit in hits:
        if hit.chunk_id in owners:
            best.setdefault(owners[hit.chunk_id], (hit.chunk_id, round(hit.score, COSINE_DIGITS)))
    return best
