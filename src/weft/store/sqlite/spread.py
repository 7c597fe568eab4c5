"""The mean and the deviation of the cosines of a question with all vectors, from a sample of them."""

from __future__ import annotations

import json
import math

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector
from weft.store.relational.session import Session

SAMPLED = 2_000
"""Vectors from all over a namespace that are looked at."""


class Spreads:
    """Samples by embedder, taken again when a namespace has grown or shrunk by a tenth."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, NDArray[np.float32], NDArray[np.float32]]] = {}

    def estimate(self, db: Session, vector: Vector, *, model: int, total: int) -> tuple[float, float]:
        """Return mean and deviation. They follow from the mean and the covariance of the sample."""
        known = self._known.get(model)
        if known is None or len(known[1]) != len(vector) or abs(known[0] - total) > known[0] / 10:
            sample = _sample(db, model=model, total=total)
            mean = sample.mean(axis=0)
            apart = sample - mean
            known = self._known[model] = (total, mean, apart.T @ apart / len(sample))
        _, mean, covariance = known
        asked = vector.astype(np.float32)
        # Not by `@`: its threads wait for each other longer than this takes.
        variance = float(np.einsum("ij,j->i", covariance, asked) @ asked)
        return float(mean @ asked), math.sqrt(max(0.0, variance))


def _sample(db: Session, *, model: int, total: int) -> NDArray[np.float32]:
    last = db.one("last_vectors", {"scope": model})
    numbers = np.unique(np.linspace(1, last, SAMPLED).astype(np.int64)).tolist()
    rows = [row[2] for row in db.run("vectors_at", {"numbers": json.dumps(numbers)}) if row[1] == model]
    if 4 * len(rows) < SAMPLED:  # most numbers are those of other namespaces, or gone
        values = {"model": model, "limit": 2 * SAMPLED}
        for every in (max(1, total // SAMPLED), 1):
            rows = [row[0] for row in db.run("sample_numbered_vectors", {**values, "every": every})]
            if rows:
                break
    return np.stack([db.unpack(row) for row in rows])
