"""What a fact is worth at a time: how sure it is, who says so, how fresh, how often it was wanted."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from weft.records import Fact, Recalled

SOURCE_WEIGHTS = {"user_edit": 2.0, "file": 1.5, "system": 1.2, "conversation": 1.0}
OTHER_SOURCE = 1.0
WEEKLY = 0.95
"""What is left of the worth after each week without access."""
GRACE = 1.0
"""Weeks during which nothing is lost."""
USAGE = 0.5
CONFIRMED = 1.2
WEEK = timedelta(weeks=1)


def source_weight(source: str) -> float:
    """Return how much a source is believed."""
    return SOURCE_WEIGHTS.get(source, OTHER_SOURCE)


def factors(fact: Fact, *, at: datetime) -> dict[str, float]:
    """Return what the score of a fact at a time is the product of, by name."""
    weeks = (at - (fact.last_accessed or fact.created)) / WEEK
    return {
        "confidence": fact.confidence,
        "source": source_weight(fact.source),
        "decay": WEEKLY ** max(0.0, weeks - GRACE),
        "usage": 1 + USAGE * math.log10(fact.access_count + 1),
        "status": CONFIRMED if fact.status == "confirmed" else 1.0,
    }


def recalled(fact: Fact, *, hop: int, at: datetime) -> Recalled:
    """Return a fact with its score at a time."""
    found = factors(fact, at=at)
    return Recalled(fact=fact, hop=hop, score=math.prod(found.values()), factors=found)
