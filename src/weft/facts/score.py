"""What a fact is worth at a time: how sure it is, who says so, how fresh, how often it was wanted."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from weft.config import MemoryOptions
from weft.records import Fact, Recalled

WEEK = timedelta(weeks=1)


def source_weight(source: str, *, options: MemoryOptions) -> float:
    """Return how much a source is believed."""
    match source:
        case "user_edit":
            return options.user_edit_weight
        case "file":
            return options.file_weight
        case "system":
            return options.system_weight
        case "conversation":
            return options.conversation_weight
        case _:
            return options.other_weight


def factors(fact: Fact, *, at: datetime, options: MemoryOptions) -> dict[str, float]:
    """Return what the score of a fact at a time is the product of, by name."""
    weeks = (at - (fact.last_accessed or fact.created)) / WEEK
    return {
        "confidence": fact.confidence,
        "source": source_weight(fact.source, options=options),
        "decay": options.weekly_decay ** max(0.0, weeks - options.grace_weeks),
        "usage": 1 + options.usage_weight * math.log10(fact.access_count + 1),
        "status": options.confirmed_weight if fact.status == "confirmed" else 1.0,
    }


def recalled(fact: Fact, *, hop: int, at: datetime, options: MemoryOptions) -> Recalled:
    """Return a fact with its score at a time."""
    found = factors(fact, at=at, options=options)
    return Recalled(fact=fact, hop=hop, score=math.prod(found.values()), factors=found)
