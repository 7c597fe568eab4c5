"""BM25 (Robertson and Zaragoza, 2009) as every store computes it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
"""The textbook values; others gave about 0.01 more on one open set and less on another."""


def idf(count: int, *, total: int) -> float:
    """Return the weight of a term that `count` of `total` chunks hold. Never negative."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def ceiling(idfs: list[float]) -> float:
    """Return the score that a chunk full of every term would approach."""
    return sum(idfs) * (K1 + 1)


def term_scores(
    frequency: NDArray[np.float64],
    length: NDArray[np.float64],
    *,
    weight: float | NDArray[np.float64],
    mean_length: float,
) -> NDArray[np.float64]:
    """Return what one term with idf `weight` adds to the score of chunks of these lengths."""
    norm = K1 * (1 - B + B * length / max(mean_length, 1e-9))
    scores: NDArray[np.float64] = weight * frequency * (K1 + 1) / (frequency + norm)
    return scores


def shares(share: float, *, weight: float) -> float:
    """Return a share of what a term with idf `weight` adds to the score of a chunk that is full of it."""
    return share * weight * (K1 + 1)


def drift(mean: float, other: float) -> tuple[float, float]:
    """Return the least and the most by which a term's scores may be multiplied when the mean length changes."""
    ratio = max(other, 1e-9) / max(mean, 1e-9)
    return min(1.0, ratio), max(1.0, ratio)
