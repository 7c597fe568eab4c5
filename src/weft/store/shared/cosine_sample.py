"""
Mean and deviation of the cosines between a query and a sample of vectors.

The sampled vectors have the mean `m` and the covariance `C`. The cosines of a query `q` then have the mean `m · q` and
the variance `q · C · q`. The sample itself is not needed again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector


class CosineSample(NamedTuple):
    """Mean and covariance of sampled vectors of unit length."""

    mean: NDArray[np.float32]
    covariance: NDArray[np.float32]

    def estimate(self, vector: Vector) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines with a vector."""
        query = vector.astype(np.float32)
        # einsum, not `@`: synchronising BLAS threads takes longer than this product.
        variance = float(np.einsum("ij,j->i", self.covariance, query) @ query)
        return float(self.mean @ query), math.sqrt(max(0.0, variance))


def summarise(vectors: NDArray[np.float32]) -> CosineSample:
    """Return the mean and the covariance of vectors."""
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    return CosineSample(mean, centred.T @ centred / len(vectors))
