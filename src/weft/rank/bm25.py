"""
BM25 keyword scoring (Robertson and Zaragoza, 2009), shared by all stores.

    score(chunk) = Σ over query terms  idf(t) · f · (K1 + 1) / (f + K1 · (1 − B + B · length / mean_length))
    idf(t)       = ln(1 + (total − count + 0.5) / (count + 0.5))

`f` is the frequency of the term in the chunk, `length` the number of terms of the chunk, `count` the number of chunks
with the term, `total` the number of all chunks. Example: a term in 1 of 3 chunks has idf ln(1 + 2.5 / 1.5) = 0.981.
Once in a chunk of mean length it adds 0.981 · 2.2 / 2.2 = 0.981; twice, 0.981 · 4.4 / 3.2 = 1.349. The limit for large
`f` is 0.981 · 2.2 = 2.158.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
"""Textbook values. Other values gained about 0.01 on one open data set and lost on another."""


def idf(count: int, *, total: int) -> float:
    """Return the inverse document frequency of a term in `count` of `total` chunks. Never negative."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def ceiling(idfs: list[float]) -> float:
    """Return the upper bound of the score for query terms with these idf values."""
    return sum(idfs) * (K1 + 1)


def term_scores(
    frequency: NDArray[np.float64],
    length: NDArray[np.float64],
    *,
    weight: float | NDArray[np.float64],
    mean_length: float,
) -> NDArray[np.float64]:
    """Return the contribution of one term with idf `weight` to the scores of chunks of these lengths."""
    norm = K1 * (1 - B + B * length / max(mean_length, 1e-9))
    scores: NDArray[np.float64] = weight * frequency * (K1 + 1) / (frequency + norm)
    return scores


def share_of_bound(share: float, *, weight: float) -> float:
    """Return `share` times the maximum score of a term with idf `weight`."""
    return share * weight * (K1 + 1)


def length_drift(mean: float, other: float) -> tuple[float, float]:
    """Return bounds (low, high) of the factor by which a change of the mean length changes term scores."""
    ratio = max(other, 1e-9) / max(mean, 1e-9)
    return min(1.0, ratio), max(1.0, ratio)
