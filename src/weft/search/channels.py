"""Text channels: vector and keyword search, and the fusion of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft.rank.fuse import coverage, fuse_reciprocal, fuse_weighted, order, round_cosines
from weft.records import Hit, Query, Ranking
from weft.search.corrections import correct
from weft.search.draft import Draft
from weft.search.question.choose_method import Plan
from weft.search.search_context import SearchContext

DEFAULT_BACKGROUND = (0.0, 0.1)
"""Mean and standard deviation of cosines without an embedder's card."""

MAX_COMPARED_HITS = 20
"""Number of best hits of each channel whose documents are counted."""

MIN_COMPARED_CHUNKS = 500
"""Number of chunks from which documents are counted. The best hits of a smaller namespace have few documents anyway."""

LONG_DOCUMENT_SHARES = (0.5, 0.8)
LONG_DOCUMENT_WEIGHT = 0.35
"""
Shares of distinct documents between which the weight of vectors grows, and its value at the first.

Chosen on one half of the questions of LongMemEval; the other half and real folders are in docs/quality.md.
"""


def ask_channels(query: Query, plan: Plan, search: SearchContext) -> Draft:
    """Return the rankings of the text channels. A channel without input, such as no vector, is left out."""
    found = search_channels(query, plan.channels, search)
    leading = [hit.chunk_id for ranking in found.values() for hit in ranking.hits[:MAX_COMPARED_HITS]]
    search.chunks.read(leading)  # at once, because the corrections read them one after another
    draft = correct("rankings", Draft(query=query, plan=plan, rankings=found, complete=found), search)
    kept = {
        channel: _drop_below(ranking, search.options.min_score) if channel == "vector" else ranking
        for channel, ranking in draft.rankings.items()
    }
    return replace(draft, rankings=kept)


def search_channels(query: Query, channels: frozenset[str], search: SearchContext) -> dict[str, Ranking]:
    """Return the rankings of the text channels from the store."""
    store, limit, where = search.store, search.pool_size, search.where
    by_vector, by_keyword = dict[str, Ranking](), dict[str, Ranking]()
    vector = query.vector if "vector" in channels else None
    if "keyword" in channels or (query.degraded and query.vector is None):
        with search.stopwatch.stage("keyword"):
            by_keyword["keyword"] = store.search_keyword(query.terms, limit=limit, where=where)
    if vector is not None:
        with search.stopwatch.stage("vector"):
            by_vector["vector"] = round_cosines(store.search_vector(vector, limit=limit, where=where))
    return {**by_vector, **by_keyword}


def fuse_text(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the fused ranking of the text channels, best first.

    If the method has one channel, its scores stay unchanged.
    """
    options, rankings = search.options, draft.rankings
    if len(draft.plan.channels) == 1:
        return replace(draft, text=[hit for ranking in rankings.values() for hit in ranking.hits][: search.pool_size])
    covered = coverage(rankings["keyword"]) if "keyword" in rankings else 1.0
    vector_weight, keyword_weight = _channel_weights(rankings, search)
    weights = {"vector": vector_weight * draft.query.vector_weight, "keyword": keyword_weight * covered}
    if not any(weights[channel] for channel in rankings):  # the only channels left have weight 0: use them anyway
        weights = dict.fromkeys(rankings, 1.0)
    if options.fusion == "rrf":
        draft = replace(draft, scores=fuse_reciprocal(rankings, weights=weights, k=options.rrf_k))
    else:
        background = search.embedder.card.background if search.embedder else DEFAULT_BACKGROUND
        scores = fuse_weighted(rankings, weights=weights, background=background)
        draft = correct("scores", replace(draft, scores=scores), search)
    return replace(draft, text=_cut(order(draft.scores), rankings, search))


def _cut(hits: Sequence[Hit], rankings: Mapping[str, Ranking], search: SearchContext) -> list[Hit]:
    """Return the first hits of the pool, and further ones among the first `top_k` of a channel."""
    limit = search.pool_size
    leading = {hit.chunk_id for ranking in rankings.values() for hit in ranking.hits[: search.options.top_k]}
    return [*hits[:limit], *(hit for hit in hits[limit:] if hit.chunk_id in leading)]


def _channel_weights(rankings: Mapping[str, Ranking], search: SearchContext) -> tuple[float, float]:
    """
    Return the weights of vectors and keywords: those of the settings, or else by the length of the documents found.

    Chunks of one long document are about one subject, so their vectors are close to each other and say little. The
    length shows in the share of distinct documents among the best chunks:

    | share of distinct documents | example | weights |
    | --- | --- | --- |
    | 0.8 or more | passages and abstracts | 0.7 and 0.3 |
    | 0.5 or less | conversations, long pages | 0.35 and 0.65 |

    """
    options = search.options
    is_set = options.vector_weight is not None or options.text_weight is not None
    is_small = "vector" not in rankings or rankings["vector"].count < MIN_COMPARED_CHUNKS
    if is_set or is_small or options.fusion != "weighted" or len(rankings) < 2:
        return options.weights
    ids = dict.fromkeys(hit.chunk_id for ranking in rankings.values() for hit in ranking.hits[:MAX_COMPARED_HITS])
    chunks = search.chunks.read(list(ids)).values()
    share = len({chunk.document_id for chunk in chunks}) / max(1, len(chunks))
    first, last = LONG_DOCUMENT_SHARES
    if share >= last:
        return options.weights
    shortness = max(0.0, (share - first) / (last - first))
    vector_weight = LONG_DOCUMENT_WEIGHT + shortness * (options.weights[0] - LONG_DOCUMENT_WEIGHT)
    return vector_weight, 1 - vector_weight


def _drop_below(ranking: Ranking, min_score: float | None) -> Ranking:
    if min_score is None:
        return ranking
    return replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.score >= min_score))
