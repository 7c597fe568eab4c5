"""
Conversion of relation weights to Weft's scale from 1 to 10.

    weight in the file                      weight
    1 to 10                                 unchanged
    above 10                                10
    below 1                                 10 × weight, at least 1
    1, if others are below and none above   10 (the file has shares from 0 to 1)
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
    valid = [weight for weight in weights if weight is not None]
    are_shares = bool(valid) and min(valid) < 1 and max(valid) <= 1
    return [
        DEFAULT_WEIGHT if weight is None else _clip(weight * MAX_WEIGHT if weight < 1 or are_shares else weight)
        for weight in weights
    ]


def _clip(weight: float) -> float:
    return min(max(weight, MIN_WEIGHT), MAX_WEIGHT)
