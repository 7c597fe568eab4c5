"""Recall of two statements of one subject and predicate: the recent one comes first."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from weft import Engine
from weft.config import Settings, StoreOptions
from weft.records import GivenFact
from weft.testing import FakeEmbedder

NOW = datetime(2026, 11, 1, tzinfo=UTC)
VALUES = ("diesel forklifts", "electric forklifts in the yard", "a crane", "ropes and hooks", "one blue handcart")


@pytest.mark.parametrize("asked", ["Heron Depot", "What does Heron Depot use?", "Tell me about Heron Depot"])
@pytest.mark.parametrize("old", VALUES)
def test_a_recall_does_not_put_an_old_fact_before_a_new_one(tmp_path, asked, old):
    """A recall accesses both facts, so that both decay from the same time."""
    clock = [NOW - timedelta(weeks=60)]
    settings = Settings(store=StoreOptions(db=str(tmp_path / "weft.db")))
    with Engine(settings, embedder=FakeEmbedder(), clock=lambda: clock[0]) as engine:
        engine.memory.add_many([GivenFact(subject="Heron Depot", predicate="uses", value=old)])
        clock[0] = NOW
        new = [value for value in VALUES if value != old]
        engine.memory.add_many([GivenFact(subject="Heron Depot", predicate="uses", value=value) for value in new])
        for hours in (1, 2, 3):
            clock[0] = NOW + timedelta(hours=hours)
            facts = engine.memory.recall(asked).facts
            assert len(facts) == len(VALUES)
            assert facts[-1].fact.value == old
            assert all(one.score >= other.score for one, other in pairwise(facts))
