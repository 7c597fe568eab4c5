"""
Rejection of hits that share too few words with the question where others have nearly all of them.

    What is the Ochre Ledger?
        ochre-ledger.md     cosine 0.78   ochre, ledger    kept
        signal-box.md       cosine 0.66   none             rejected: closer to the average than to the best hit

    Who pays for the new lamps?
        lamp-budget.md      cosine 0.78   pay, new, lamp   kept
        street-light.md     cosine 0.74   none             kept: it may say the same in other words

Cosines of a small namespace, or of invented names, are all high. The gate therefore keeps them for want of anything
better. If a passage has the words of the question, there is something better; a common word of a name alone is none.
If these words are names of things alone, other words cannot say the same, and a word that many names have is no name:

    Signal Box
        signal-box.md       signal, box    kept
        signals.md          signal         kept: the rarer word of the name
        post-box.md         box            rejected, unless the graph connects it
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from weft.choices import GRAPH, VECTOR
from weft.rank.gate import MIN_COVERAGE, graph_supported
from weft.records import Hit, Ranking
from weft.search.confidence import MAX_COVERAGE_CHUNKS, find_terms
from weft.search.draft import Draft
from weft.search.search_context import SearchContext
from weft.text.analyzer import query_terms

MIN_CLOSENESS = 0.5
"""Part of the way from the mean to the best cosine that a hit without a word of the question must reach."""

MIN_NAME_SHARE = 0.5
"""Share of the weight of a name that a hit must have in an answer to a question that only names things."""


def reject_wordless(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft without distant hits that share no content word with the question, if other hits have them."""
    verdict, vector = draft.verdict, draft.complete.get(VECTOR)
    wanted = draft.query.question.content_terms
    if (
        not search.options.gate
        or draft.is_cited
        or len(verdict.kept) < 2
        or not wanted
        or not vector
        or not vector.hits
    ):
        return draft
    distant = _distant(verdict.kept, vector, least=_min_cosine(draft, vector)) - graph_supported(
        draft.rankings.get(GRAPH), trust=draft.walked.trust
    )
    if not distant:
        return draft
    counts = {} if search.where else search.store.keyword_statistics(wanted).counts
    if max(counts.values(), default=0) >= search.pool_size:  # further chunks may have a word
        return draft
    worded = search.store.search_keyword(wanted, limit=search.pool_size, where=search.where)
    if len(worded.hits) >= search.pool_size:
        return draft
    shared = distant.intersection(hit.chunk_id for hit in worded.hits)
    distant -= shared - _sharing_names(shared, wanted, draft, search)
    if not distant or not _is_covered(draft, worded, wanted, search):
        return draft
    return _reject(draft, distant)


def reject_namesakes(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft without hits that share only common words of a name, if the question only names things.

    A hit stays with at least half of the weight of one name, or if the graph supports it. A word weighs the more the
    fewer chunks contain it. Nothing is rejected if no hit has a whole name.
    """
    kept = draft.verdict.kept
    if not search.options.gate or draft.is_cited or len(kept) < 2 or not names_alone(draft):
        return draft
    names = _names(draft)
    if not names:
        return draft
    terms = sorted(frozenset[str]().union(*names))
    found = search.store.passages.find_terms([hit.chunk_id for hit in kept], terms)
    shares = _name_shares(found, names, search)
    if max(shares.values(), default=0.0) < 1.0:
        return draft
    supported = graph_supported(draft.rankings.get(GRAPH), trust=draft.walked.trust)
    return _reject(draft, {id for id, share in shares.items() if 0 < share < MIN_NAME_SHARE} - supported)


def _sharing_names(ids: Collection[str], wanted: Sequence[str], draft: Draft, search: SearchContext) -> set[str]:
    """Return the hits whose words of the question are only common words of a name."""
    names = _names(draft)
    if not ids or not names:
        return set()
    named = {term for seed in draft.walked.seeds if seed.defining_chunks for term in query_terms(seed.key)}
    own = frozenset[str]().union(*names)
    found = search.store.passages.find_terms(sorted(ids), sorted(own | set(wanted)))
    shares = _name_shares(found, names, search)
    return {id for id, share in shares.items() if 0 < share < MIN_NAME_SHARE and not found[id] & set(wanted) - named}


def _names(draft: Draft) -> list[frozenset[str]]:
    """Return the terms of each name of the question, as it is written and as the entity is called."""
    seeds = [seed for seed in draft.walked.seeds if seed.defining_chunks]
    names = (frozenset(query_terms(key)) for seed in seeds for key in (seed.key, seed.entity.key))
    return [name for name in names if name]


def _name_shares(
    found: Mapping[str, set[str]], names: Sequence[frozenset[str]], search: SearchContext
) -> dict[str, float]:
    """Return for each hit the largest share of the weight of a name that it has; `found` are the terms of the hits."""
    terms = sorted(frozenset[str]().union(*names))
    statistics = search.store.keyword_statistics(terms)
    weights = {term: math.log(1 + statistics.chunks / (1 + statistics.counts.get(term, 0))) for term in terms}
    return {id: max(_share(name, own, weights=weights) for name in names) for id, own in found.items()}


def _share(name: frozenset[str], found: set[str], *, weights: Mapping[str, float]) -> float:
    """Return the weight of the terms of a name that were found, as a share of all its terms; 1 if all were."""
    return 1.0 if name <= found else sum(weights[t] for t in name & found) / sum(weights[t] for t in name)


def _reject(draft: Draft, ids: set[str]) -> Draft:
    """Return the draft with these hits rejected, unless no hit is left."""
    verdict = draft.verdict
    kept = tuple(hit for hit in verdict.kept if hit.chunk_id not in ids)
    if not ids or not kept:
        return draft
    text = tuple(hit for hit in verdict.text if hit.chunk_id not in ids)
    rejected = (*verdict.rejected, *(hit for hit in verdict.kept if hit.chunk_id in ids))
    return draft._replace(verdict=replace(verdict, kept=kept, text=text, rejected=rejected))


def names_alone(draft: Draft) -> bool:
    """
    Return True if nearly all content words of the question are names of entities with a defining chunk.

    `What is the Auth Service about?` and `Tell me about the Auth Service` only name it.
    """
    seeds = [seed for seed in draft.walked.seeds if seed.defining_chunks]
    question = draft.query.question
    explained = sum(seed.words for seed in seeds)
    if not explained or explained >= MIN_COVERAGE * len(question.content_words):
        return explained > 0
    named = {term for seed in seeds for term in query_terms(seed.key)}
    return named.issuperset(question.content_terms)


def _min_cosine(draft: Draft, vector: Ranking) -> float:
    """Return the cosine from which a hit without a word of the question stays; infinite if it only names things."""
    if names_alone(draft):
        return math.inf
    return vector.mean + MIN_CLOSENESS * (vector.hits[0].score - vector.mean)


def _distant(hits: Sequence[Hit], vector: Ranking, *, least: float) -> set[str]:
    cosines = {hit.chunk_id: hit.score for hit in vector.hits}
    return {hit.chunk_id for hit in hits if cosines.get(hit.chunk_id, vector.mean) < least}


def _is_covered(draft: Draft, worded: Ranking, wanted: Sequence[str], search: SearchContext) -> bool:
    """Return True if one chunk, or the chunks about the named entities together, have nearly all content words."""
    best = [hit.chunk_id for hit in worded.hits[:MAX_COVERAGE_CHUNKS]]
    named = [seed.entity.id for seed in draft.walked.seeds if seed.defining_chunks]
    own = [mention.chunk_id for mention in search.store.graph.mentions_of(named, limit=1)] if named else []
    found = find_terms(wanted, [*best, *own], chunks=search.chunks)
    together = {term for id in own for term in found.get(id, ())}
    covered = max((len(terms) for terms in (*(found.get(id, set()) for id in best), together)), default=0)
    return covered >= MIN_COVERAGE * len(set(wanted))
