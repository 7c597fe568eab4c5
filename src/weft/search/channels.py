"""Search in the text channels of the table, and the fusion of their rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft.choices import VECTOR
from weft.rank.fuse import fuse_reciprocal, fuse_weighted, order
from weft.records import Hit, Query, Ranking
from weft.search import channel_table
from weft.search.channel_table import MAX_COMPARED_HITS, scales, weigh
from weft.search.corrections import correct
from weft.search.draft import Draft
from weft.search.question.choose_method import Plan
from weft.search.question.rare_names import find_candidates
from weft.search.search_context import SearchContext


def ask_channels(query: Query, plan: Plan, search: SearchContext) -> Draft:
    """
    Return the rankings of the text channels. A channel without input, such as no vector, is left out.

    The best hits are read at once, because the corrections read them one after another: as many as an answer has, and
    more of conversations, whose corrections compare more.
    """
    options, found = search.options, search_channels(query, plan.channels, search)
    have_times = search.store.passages.have_times()
    count = MAX_COMPARED_HITS if have_times else min(options.top_k, MAX_COMPARED_HITS)
    leading = [hit.chunk_id for ranking in found.values() for hit in ranking.hits[:count]]
    is_weighed = len(found) > 1 and options.fusion == "weighted" and options.weights[1] and options.name_bonus
    named = find_candidates(query.question, store=search.store, where=search.where) if is_weighed else {}
    known = search.chunks.read([*leading, *(id for ids in named.values() for id in ids)])
    has_exchanges = have_times and any(known[id].start_time is not None for id in leading if id in known)
    draft = Draft(query=query, plan=plan, rankings=found, complete=found)
    draft = correct("rankings", draft._replace(has_exchanges=has_exchanges, name_candidates=named), search)
    kept = {
        channel: _drop_below(ranking, options.min_score) if channel == VECTOR else ranking
        for channel, ranking in draft.rankings.items()
    }
    return draft._replace(rankings=kept)


def search_channels(query: Query, channels: frozenset[str], search: SearchContext) -> dict[str, Ranking]:
    """Return the rankings of the text channels from the store."""
    found = dict[str, Ranking]()
    is_without = bool(query.degraded) and query.vector is None
    for channel in channel_table.CHANNELS:
        if channel.search and (channel.name in channels or (is_without and channel.is_fallback)):
            with search.stopwatch.stage(channel.name):
                ranking = channel.search(query, search)
            if ranking is not None:
                found[channel.name] = ranking
    return found


def fuse_text(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the fused ranking of the text channels, best first.

    If the method has one channel, its scores stay unchanged.
    """
    options, rankings = search.options, draft.rankings
    if len(draft.plan.channels) == 1:
        return draft._replace(text=[hit for ranking in rankings.values() for hit in ranking.hits][: search.pool_size])
    weights = weigh(rankings, draft.query, search)
    if options.fusion == "rrf":
        draft = draft._replace(scores=fuse_reciprocal(rankings, weights=weights, k=options.rrf_k))
    else:
        scores = fuse_weighted(rankings, weights=weights, scales=scales(rankings, search))
        draft = correct("scores", draft._replace(scores=scores), search)
    return draft._replace(text=_cut(order(draft.scores), rankings, search))


def _cut(hits: Sequence[Hit], rankings: Mapping[str, Ranking], search: SearchContext) -> list[Hit]:
    """Return the first hits of the pool, and further ones among the first `top_k` of a channel."""
    limit = search.pool_size
    leading = {hit.chunk_id for ranking in rankings.values() for hit in ranking.hits[: search.options.top_k]}
    return [*hits[:limit], *(hit for hit in hits[limit:] if hit.chunk_id in leading)]


def _drop_below(ranking: Ranking, min_score: float | None) -> Ranking:
    if min_score is None:
        return ranking
    return replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.score >= min_score))
