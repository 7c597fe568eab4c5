"""Recall of two statements of one subject and predicate: the recent one comes first."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from weft import Engine, open_engine
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


class NearEmbedder(FakeEmbedder):
    """Gives texts with `water` the vector of every question."""

    def _vector(self, text):
        return super()._vector("asked" if "water" in text or text.endswith("?") else text)


@pytest.mark.parametrize("is_guess_first", [False, True])
def test_a_guess_does_not_come_before_a_statement_of_the_user(tmp_path, is_guess_first):
    """However close to the question its value is, and whichever was added first."""
    given = [
        GivenFact(subject="user", predicate="drinks", value="cocoa", source="user_edit"),
        GivenFact(subject="user", predicate="drinks", value="water", source="conversation", confidence=0.6),
    ]
    with open_engine(tmp_path / "weft.db", embedder=NearEmbedder()) as engine:
        engine.memory.add_many(given[::-1] if is_guess_first else given)
        facts = engine.memory.recall("What do I drink?").facts
    assert [piece.fact.value for piece in facts] == ["cocoa", "water"]


def test_meaning_chooses_among_statements_of_equal_worth(tmp_path):
    """`drinks water` was stated first."""
    with open_engine(tmp_path / "weft.db", embedder=NearEmbedder()) as engine:
        for value in ("mineral water", "Bach", "chess"):
            engine.memory.add("user", "likes", value)
        first, *_ = engine.memory.recall("What do I enjoy?").facts
    assert first.fact.value == "mineral water"
