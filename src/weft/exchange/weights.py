"""
Weights of any file on our scale, which goes from 1 to 10.

A weight from 1 to 10 is taken as it is, and a larger one is 10. One below 1 is a share and is multiplied by 10, though
the result is never less than 1; where no weight of a file is larger than 1, all of them are shares, so that 1 becomes
10. A relation without a weight, or with one that is negative, infinite or no number at all, gets 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

DEFAULT = 5.0
LEAST = 1.0
MOST = 10.0


def find_weight(value: object) -> float | None:
    """Return a weight as the file gives it, a number from 0 on, or None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        weight = float(value)
    except (ValueError, OverflowError):
        return None
    return weight if math.isfinite(weight) and weight >= 0 else None


def to_scale(weights: Sequence[float | None]) -> list[float]:
    """Return all weights of one file from 1 to 10, by the rule above."""
    largest = max((weight for weight in weights if weight is not None), default=MOST)
    limit = 1.0 if largest > 1 else math.inf
    return [DEFAULT if weight is None else _clip(weight * MOST if weight < limit else weight) for weight in weights]


def from_scale(weights: Sequence[float]) -> list[float]:
    """
    Return weights as they are to be written, so that `to_scale` gives them back.

    That is as they are, unless none is larger than 1: those would be taken for shares, so shares they become.
    """
    if max(weights, default=MOST) > 1:
        return list(weights)
    return [weight / MOST for weight in weights]


def _clip(weight: float) -> float:
    return min(max(weight, LEAST), MOST)
