"""
Score of a fact at a time: confidence · source · decay · usage · status.

| factor | value |
| --- | --- |
| confidence | of the fact, 0 to 1 |
| source | weight of its source (`memory.source_weights`) |
| decay | `weekly_decay ^ (weeks without access − grace_weeks)`, at most 1 |
| usage | `1 + usage_weight · log10(accesses + 1)` |
| status | `confirmed_weight` for a confirmed fact, else 1 |

Decay counts from the last access, or from creation. Example: with `weekly_decay` 0.95 and `grace_weeks` 1, a fact last
accessed 4 weeks ago has 0.95³ = 0.857.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from weft.config import MemoryOptions
from weft.records import Fact, Recalled

WEEK = timedelta(weeks=1)


def score_factors(fact: Fact, *, at: datetime, options: MemoryOptions) -> dict[str, float]:
    """Return the factors of the score by name."""
    weeks = (at - (fact.last_accessed or fact.created)) / WEEK
    return {
        "confidence": fact.confidence,
        "source": options.weight_of(fact.source),
        "decay": options.weekly_decay ** max(0.0, weeks - options.grace_weeks),
        "usage": 1 + options.usage_weight * math.log10(fact.access_count + 1),
        "status": options.confirmed_weight if fact.status == "confirmed" else 1.0,
    }


def score_fact(fact: Fact, *, hop: int, at: datetime, options: MemoryOptions) -> Recalled:
    """Return a fact with its score, the product of its factors."""
    found = score_factors(fact, at=at, options=options)
    return Recalled(fact=fact, hop=hop, score=math.prod(found.values()), factors=found)


def by_score(piece: Recalled) -> tuple[float, int, datetime, str]:
    """
    Sort key: highest score first, then newest by the millisecond, then as stated, then id.

    Facts of one call are microseconds apart, up to its time, and keep their order.
    """
    created = piece.fact.created
    return -piece.score, -math.ceil(created.timestamp() * 1000), created, piece.fact.id
