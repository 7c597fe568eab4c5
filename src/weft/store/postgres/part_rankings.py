"""Rankings of the parts of a namespace, merged into one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import nsmallest

from weft.records import Hit, Ranking


def merge_vectors(rankings: Sequence[Ranking], *, statistics: Sequence[Ranking], limit: int) -> Ranking:
    """Return the best hits of all parts, with the mean and deviation of all cosines that `statistics` describe."""
    count = sum(ranking.count for ranking in statistics)
    if not count:
        return Ranking(hits=_best(rankings, limit))
    mean = sum(ranking.mean * ranking.count for ranking in statistics) / count
    squares = sum((ranking.deviation**2 + ranking.mean**2) * ranking.count for ranking in statistics) / count
    deviation = math.sqrt(max(0.0, squares - mean * mean))
    return Ranking(hits=_best(rankings, limit), mean=mean, deviation=deviation, count=count)


def merge_keywords(rankings: Sequence[Ranking], *, limit: int) -> Ranking:
    """Return the best hits of all parts. The highest possible score is the same in all of them."""
    return Ranking(hits=_best(rankings, limit), ceiling=max(ranking.ceiling for ranking in rankings))


def _best(rankings: Sequence[Ranking], limit: int) -> tuple[Hit, ...]:
    found = ((-hit.score, hit.chunk_id) for ranking in rankings for hit in ranking.hits)
    return tuple(Hit(id, rank, -score) for rank, (score, id) in enumerate(nsmallest(limit, found), start=1))
