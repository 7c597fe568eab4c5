"""
Conversion of relation weights to Weft's scale from 1 to 10.

    weight in the file                      weight
    1 to 10                                 unchanged
    above 10                                10
    below 1                                 10 × weight, at least 1
    all weights of the file at most 1       10 × weight, at least 1 (so 1 becomes 10)
    missing, negative, infinite, no number  5
"""

from __future__ import annotations

import math
from collections.abc import Sequence

DEFAULT_WEIGHT = 5.0
MIN_WEIGHT = 1.0
MAX_WEIGHT = 10.0


def parse_weight(value: object) -> float | None:
    """Return a weight of a file as a number from 0; None if it is invalid."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        weight = float(value)
    except (ValueError, OverflowError):
        return None
    return weight if math.isfinite(weight) and weight >= 0 else None


def to_scale(weights: Sequence[float | None]) -> list[float]:
    """Return all weights of one file on the scale from 1 to 10."""
    largest = max((weight for weight in weights if weight is not None), default=MAX_WEIGHT)
    limit = 1.0 if largest > 1 else math.inf
    return [
        DEFAULT_WEIGHT if weight is None else _clip(weight * MAX_WEIGHT if weight < limit else weight)
        for weight in weights
    ]


def from_scale(weights: Sequence[float]) -> list[float]:
    """Return the weights to write; `to_scale` restores them. If no weight is larger than 1, all are divided by 10."""
    if max(weights, default=MAX_WEIGHT) > 1:
        return list(weights)
    return [weight / MAX_WEIGHT for weight in weights]


def _clip(weight: float) -> float:
    return min(max(weight, MIN_WEIGHT), MAX_WEIGHT)
