"""Candidate chunks by number: those that pass a filter, and those with the best scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.rank.fuse import number_hits
from weft.records import Filter, Hit
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Session


def allowed_chunks(db: Session, namespace: Namespace, where: Filter) -> set[int] | None:
    """Return the numbers of the chunks that pass a filter; None for an empty filter."""
    if not where:
        return None
    return {number for (number,) in db.run("filter_chunks", {"namespace": namespace, **bind(where)})}


def best_chunks(
    db: Session, namespace: Namespace, scores: NDArray[np.float64], *, limit: int, least: float
) -> tuple[Hit, ...]:
    """Return the chunks with the best scores above `least`, ties by id. `scores` is indexed by chunk number."""
    numbers = np.flatnonzero(scores > least)
    return rank_numbers(db, namespace, numbers, scores[numbers], limit=limit)


def rank_numbers(
    db: Session, namespace: Namespace, numbers: NDArray[np.int64], scores: NDArray[np.float64], *, limit: int
) -> tuple[Hit, ...]:
    """Return the best of these chunks, ties by id; deleted chunks are left out. `scores` is parallel to `numbers`."""
    if len(numbers) > limit:
        kth = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        numbers, scores = numbers[scores >= kth], scores[scores >= kth]
    best = numbers.tolist()
    ids = db.chunk_ids.find(namespace, best)
    found = zip((-scores).tolist(), best, strict=True)
    ordered = sorted([(score, ids[number]) for score, number in found if number in ids])[:limit]
    return tuple(number_hits([id for _, id in ordered], [-score for score, _ in ordered]))
