"""Fusion of several rankings: reciprocal ranks or weighted scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from types import MappingProxyType

from weft.records import Hit, Ranking

FULL_SCORE_DEVIATIONS = 8.0
"""
Standard deviations above the mean cosine that give vector score 1.

Answerable questions have a best chunk at 4 to 8.
"""

BACKGROUND_CHUNKS = 30
"""Weight, in chunks, of the mean and deviation on the embedder's card. They matter in small namespaces only."""

FULL_KEYWORD_SHARE = 0.12
"""Best keyword score, as a share of its upper bound, from which the channel has its full weight."""

COSINE_DIGITS = 5
"""
Digits of a cosine that decide the order.

Stores sum the products of a cosine in different orders, so their results differ by about 1e-7, even for equal texts.
"""

_make_hit: Callable[[tuple[str, int, float]], Hit] = partial(tuple.__new__, Hit)
"""`Hit._make` without its length check, which would take most of the time."""


def coverage(keyword: Ranking) -> float:
    """
    Return the weight of the keyword channel for a question, 0 to 1. It depends on the best score as a share of its
    bound.

    A question in another language shares only a year or a stop word with the text. Its best keyword match is
    meaningless and must not decide the order.


    """
    best = keyword.hits[0].score if keyword.hits else 0.0
    return min(1.0, best / keyword.ceiling / FULL_KEYWORD_SHARE) if keyword.ceiling > 0 else 1.0


def round_cosines(ranking: Ranking) -> Ranking:
    """Return the ranking with rounded cosines; those that become equal are ordered by id."""
    return replace(ranking, hits=tuple(order({id: round(score, COSINE_DIGITS) for id, _, score in ranking.hits})))


def fuse_reciprocal(
    rankings: Mapping[str, Ranking], *, weights: Mapping[str, float] | None = None, k: int = 60
) -> dict[str, float]:
    """
    Return chunk scores by Reciprocal Rank Fusion (Cormack et al., SIGIR 2009).

    A chunk scores the sum of `weight / (k + rank)` over the channels that found it, with ranks from 1. Only ranks are
    used, so channels need not share a scale.
    """
    scores: dict[str, float] = defaultdict(float)
    for channel, ranking in rankings.items():
        weight = (weights or {}).get(channel, 1.0)
        for hit in ranking.hits if weight else ():
            scores[hit.chunk_id] += weight / (k + hit.rank)
    return scores


def fuse_weighted(
    rankings: Mapping[str, Ranking],
    *,
    weights: Mapping[str, float],
    scales: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> dict[str, float]:
    """
    Return the weighted sum of comparable scores. The weights of the available channels are scaled to sum 1.

    `scales` has the centre and the unit of a channel; without one, its scores are divided by the best. A chunk that a
    channel did not return gets 0 there, or the lowest score of the channel if that is negative.

    """
    used = {channel: ranking for channel, ranking in rankings.items() if weights.get(channel)}
    total = sum(weights[channel] for channel in used)
    scores: dict[str, float] = {}
    unseen = 0.0
    for channel, ranking in used.items():
        centre, unit = scales[channel] if channel in scales else relative_scale(ranking)
        share = weights[channel] / total
        own = {id: share * ((score - centre) / unit) for id, _, score in ranking.hits}
        absent = min(0.0, *own.values()) if own else 0.0
        known = {id: score + own.get(id, absent) for id, score in scores.items()}
        scores = {id: unseen + score for id, score in own.items()} | known
        unseen += absent
    return scores


def order(scores: Mapping[str, float], *, limit: int | None = None) -> list[Hit]:
    """Return hits by descending score, ties to the smaller id, ranks from 1."""
    ids = sorted(sorted(scores), key=scores.__getitem__, reverse=True)[:limit]
    return number_hits(ids, map(scores.__getitem__, ids))


def number_hits(ids: Sequence[str], scores: Iterable[float]) -> list[Hit]:
    """Return hits in this order, ranks from 1."""
    return list(map(_make_hit, zip(ids, count(1), scores, strict=False)))


def standard_scale(ranking: Ranking, background: tuple[float, float]) -> tuple[float, float]:
    """
    Return the centre and the unit of cosines: standard deviations above the mean, the same scale for every embedder.

    The embedder's background is mixed in, because few chunks estimate both badly.
    """
    seen, mean, deviation = ranking.count, *background
    centre = (seen * ranking.mean + BACKGROUND_CHUNKS * mean) / (seen + BACKGROUND_CHUNKS)
    variance = (seen * ranking.deviation**2 + BACKGROUND_CHUNKS * deviation**2) / (seen + BACKGROUND_CHUNKS)
    return centre, math.sqrt(variance) * FULL_SCORE_DEVIATIONS or 1.0


def relative_scale(ranking: Ranking) -> tuple[float, float]:
    """Return the centre and the unit by which scores become shares of the best one."""
    return 0.0, ranking.hits[0].score or math.inf if ranking.hits else math.inf
