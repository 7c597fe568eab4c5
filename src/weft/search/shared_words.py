"""
Rejection of hits without any word of the question where others have nearly all of them.

    What is the Ochre Ledger?
        ochre-ledger.md     cosine 0.78   ochre, ledger    kept
        signal-box.md       cosine 0.66   none             rejected: closer to the average than to the best hit

    Who pays for the new lamps?
        lamp-budget.md      cosine 0.78   pay, new, lamp   kept
        street-light.md     cosine 0.74   none             kept: it may say the same in other words

Cosines of a small namespace, or of invented names, are all high. The gate therefore keeps them for want of anything
better. If a passage has the words of the question, there is something better. If these words are names of things alone,
other words cannot say the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from weft.choices import GRAPH, VECTOR
from weft.rank.gate import MIN_COVERAGE, graph_supported
from weft.records import Hit, Ranking
from weft.search.confidence import MAX_COVERAGE_CHUNKS, find_terms
from weft.search.draft import Draft
from weft.search.search_context import SearchContext

MIN_CLOSENESS = 0.5
"""Part of the way from the mean to the best cosine that a hit without a word of the question must reach."""


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
    distant -= {hit.chunk_id for hit in worded.hits}
    if not distant or not _is_covered(draft, worded, wanted, search):
        return draft
    kept = tuple(hit for hit in verdict.kept if hit.chunk_id not in distant)
    text = tuple(hit for hit in verdict.text if hit.chunk_id not in distant)
    if not kept:
        return draft
    rejected = (*verdict.rejected, *(hit for hit in verdict.kept if hit.chunk_id in distant))
    return replace(draft, verdict=replace(verdict, kept=kept, text=text, rejected=rejected))


def names_alone(draft: Draft) -> bool:
    """Return True if nearly all content words of the question are names of entities with a defining chunk."""
    explained = sum(seed.words for seed in draft.walked.seeds if seed.defining_chunks)
    return explained > 0 and explained >= MIN_COVERAGE * len(draft.query.question.content_words)


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
