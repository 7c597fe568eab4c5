"""Chunks by their numbers: which pass a filter, and which have the best scores."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Hit
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Session


def allowed_chunks(db: Session, namespace: Namespace, where: Filter) -> set[int] | None:
    """Return the numbers of the chunks that pass the filter; None when everything does."""
    if not where:
        return None
    return {row[0] for row in db.run("filter_chunks", {"namespace": namespace, **bind(where)})}


def best_chunks(
    db: Session, namespace: Namespace, scores: NDArray[np.float64], *, limit: int, least: float
) -> tuple[Hit, ...]:
    """Return the best of `scores` (by chunk number) above `least`; ties go to the smaller id."""
    numbers = np.flatnonzero(scores > least)
    if len(numbers) > limit:
        kth = np.partition(scores[numbers], len(numbers) - limit)[len(numbers) - limit]
        numbers = numbers[scores[numbers] >= kth]
    ids: dict[int, str] = dict(db.run("chunk_ids", {"namespace": namespace, "numbers": json.dumps(numbers.tolist())}))
    ordered = sorted(((float(scores[n]), ids[n]) for n in numbers.tolist() if n in ids), key=lambda p: (-p[0], p[1]))
    return tuple(Hit(id, rank, score) for rank, (score, id) in enumerate(ordered[:limit], start=1))
