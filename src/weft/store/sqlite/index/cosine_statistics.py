"""The mean and the deviation of the cosines of a question with all vectors, from a sample of them."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector
from weft.store.relational.session import Session

SAMPLED = 2_000
"""Vectors from all over a namespace that are looked at."""


class Spreads:
    """Samples by embedder, taken again when a tenth of a namespace has come, gone or changed."""

    def __init__(self) -> None:
        self._known: dict[int, _Sampled] = {}

    def estimate(self, db: Session, vector: Vector, *, model: int, total: int) -> tuple[float, float]:
        """Return mean and deviation. They follow from the mean and the covariance of the sample."""
        last: int = db.one("last_vectors", {"scope": model})  # the number of each new vector is higher
        known = self._known.get(model)
        if known is None or len(known.mean) != len(vector) or known.is_old(total=total, last=last):
            sample = _sample(db, model=model, total=total, last=last)
            mean = sample.mean(axis=0)
            apart = sample - mean
            known = self._known[model] = _Sampled(total, last, mean, apart.T @ apart / len(sample))
        asked = vector.astype(np.float32)
        # Not by `@`: its threads wait for each other longer than this takes.
        variance = float(np.einsum("ij,j->i", known.covariance, asked) @ asked)
        return float(known.mean @ asked), math.sqrt(max(0.0, variance))


class _Sampled(NamedTuple):
    """What a sample of the vectors of an embedder gave, how many there were, and the number of the last one."""

    total: int
    last: int
    mean: NDArray[np.float32]
    covariance: NDArray[np.float32]

    def is_old(self, *, total: int, last: int) -> bool:
        """Tell whether enough vectors have come or gone since that another sample may tell something else."""
        return 10 * max(abs(total - self.total), abs(last - self.last)) > self.total


def _sample(db: Session, *, model: int, total: int, last: int) -> NDArray[np.float32]:
    numbers = np.unique(np.linspace(1, last, SAMPLED).astype(np.int64)).tolist()
    rows = [row[2] for row in db.run("vectors_at", {"numbers": json.dumps(numbers)}) if row[1] == model]
    if 4 * len(rows) < SAMPLED:  # most numbers are those of other namespaces, or gone
        values = {"model": model, "limit": 2 * SAMPLED}
        for every in (max(1, total // SAMPLED), 1):
            rows = [row[0] for row in db.run("sample_numbered_vectors", {**values, "every": every})]
            if rows:
                break
    return np.stack([db.unpack(row) for row in rows])
