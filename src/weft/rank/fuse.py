"""Merge the rankings of several channels into one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count

from weft.records import Hit, Ranking

STANDARD = 8.0
"""Standard deviations that count as a perfect vector score; the best chunk of a good question has 4 to 8."""

PRIOR = 30
"""How many chunks' worth of trust the embedder's own background gets in a small namespace."""

COVERED = 0.12
"""Share of its ceiling that the best keyword score must reach for the channel to count in full."""

_make_hit: Callable[[tuple[str, int, float]], Hit] = partial(tuple.__new__, Hit)
"""`Hit._make` without its check, which costs more than the rest."""


def coverage(keyword: Ranking) -> float:
    """
    Return how far keywords may speak for a question, 0 to 1: by how much of it the best chunk has.

    The best of nearly nothing still is the best. A question in another language than the text shares a year or an
    `of` with it, and would be answered by whatever holds that. Measured in `benchmarks/quality/crosslingual.py`.
    """
    best = keyword.hits[0].score if keyword.hits else 0.0
    return min(1.0, best / keyword.ceiling / COVERED) if keyword.ceiling > 0 else 1.0


def fuse_reciprocal(
    rankings: Mapping[str, Ranking], *, weights: Mapping[str, float] | None = None, k: int = 60
) -> dict[str, float]:
    """
    Merge rankings into scores by Reciprocal Rank Fusion (Cormack et al., SIGIR 2009).

    A chunk scores the sum of `weight / (k + rank)` over the channels that found it, with ranks
    from 1. Only ranks are used, so channels need not share a scale.
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
    background: tuple[float, float] = (0.0, 0.1),
) -> dict[str, float]:
    """
    Merge rankings into the weighted sum of their scores on comparable scales, weights made to sum to 1.

    Vector: by how many standard deviations the cosine stands out among all chunks of the namespace, a scale
    that is the same for every embedder. Keyword: as a share of the best score. A chunk that a channel did not
    return counts as 0 there, or as the worst it returned if that is less.
    """
    used = {channel: ranking for channel, ranking in rankings.items() if weights.get(channel)}
    total = sum(weights[channel] for channel in used)
    scores: dict[str, float] = {}
    unseen = 0.0
    for channel, ranking in used.items():
        centre, unit = _standardised(ranking, background) if channel == "vector" else _relative(ranking)
        share = weights[channel] / total
        own = {id: share * ((score - centre) / unit) for id, _, score in ranking.hits}
        absent = min(0.0, *own.values()) if own else 0.0
        known = {id: score + own.get(id, absent) for id, score in scores.items()}
        scores = {id: unseen + score for id, score in own.items()} | known
        unseen += absent
    return scores


def order(scores: Mapping[str, float], *, limit: int | None = None) -> list[Hit]:
    """Return hits by falling score, ties to the smaller id, ranks from 1."""
    ids = sorted(sorted(scores), key=scores.__getitem__, reverse=True)[:limit]
    return number_hits(ids, map(scores.__getitem__, ids))


def number_hits(ids: Sequence[str], scores: Iterable[float]) -> list[Hit]:
    """Return hits in this order, ranks from 1."""
    return list(map(_make_hit, zip(ids, count(1), scores, strict=False)))


def _standardised(ranking: Ranking, background: tuple[float, float]) -> tuple[float, float]:
    """Few chunks say little about what is average, so the embedder's own background is mixed in."""
    seen, mean, deviation = ranking.count, *background
    centre = (seen * ranking.mean + PRIOR * mean) / (seen + PRIOR)
    variance = (seen * ranking.deviation**2 + PRIOR * deviation**2) / (seen + PRIOR)
    return centre, math.sqrt(variance) * STANDARD or 1.0


def _relative(ranking: Ranking) -> tuple[float, float]:
    return 0.0, ranking.hits[0].score or math.inf if ranking.hits else math.inf
