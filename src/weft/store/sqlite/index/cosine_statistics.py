"""Mean and deviation of the cosines between a query and all vectors, estimated from a sample."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector
from weft.store.relational.session import Session
from weft.store.shared.cosine_sample import CosineSample, summarise

SAMPLE_VECTORS = 2_000
"""Number of vectors sampled from a namespace."""


class CosineStatistics:
    """Statistics by embedder, sampled again after a tenth of a namespace was added, deleted or changed."""

    def __init__(self) -> None:
        self._by_model: dict[int, _Statistics] = {}

    def estimate(self, db: Session, vector: Vector, *, model: int, total: int) -> tuple[float, float]:
        """Return mean and standard deviation."""
        last: int = db.one("last_vectors", {"scope": model})  # grows with every new vector
        known = self._by_model.get(model)
        if known is None or len(known.sample.mean) != len(vector) or known.is_old(total=total, last=last):
            sample = summarise(_sample(db, model=model, total=total, last=last))
            known = self._by_model[model] = _Statistics(total, last, sample)
        return known.sample.estimate(vector)


class _Statistics(NamedTuple):
    """Statistics of a sample, with the state of the namespace at the time of sampling."""

    total: int
    """Number of chunks."""
    last: int
    """Highest number of a vector."""
    sample: CosineSample

    def is_old(self, *, total: int, last: int) -> bool:
        """Return True if more than a tenth of the vectors was added or deleted since the sample."""
        return 10 * max(abs(total - self.total), abs(last - self.last)) > self.total


def _sample(db: Session, *, model: int, total: int, last: int) -> NDArray[np.float32]:
    numbers = np.unique(np.linspace(1, last, SAMPLE_VECTORS).astype(np.int64)).tolist()
    rows = db.run("vectors_at", {"numbers": json.dumps(numbers)})
    blobs = [vector for _, scope, vector in rows if scope == model]
    if 4 * len(blobs) < SAMPLE_VECTORS:  # most numbers are deleted or belong to other namespaces
        values = {"model": model, "limit": 2 * SAMPLE_VECTORS}
        for every in (max(1, total // SAMPLE_VECTORS), 1):
            blobs = [vector for (vector,) in db.run("sample_numbered_vectors", {**values, "every": every})]
            if blobs:
                break
    return np.stack([db.vectors.unpack_half(blob) for blob in blobs])
