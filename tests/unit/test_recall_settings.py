"""Settings of recall: anchors and scores."""

import pytest

from weft.config import MemoryOptions, Settings
from weft.engine.engine import Engine
from weft.records import GivenFact


@pytest.fixture
def make_engine(database):
    def make(embedder, **options):
        return Engine(Settings(memory=MemoryOptions(**options)), database=database, embedder=embedder)

    return make


@pytest.mark.parametrize("by_meaning", [True, False])
def test_the_number_of_close_entities_is_set(make_engine, embedder, by_meaning):
    """By meaning or by words of their names; three where it is not."""
    facts = [
        GivenFact(subject=f"Harbour {name}", predicate="is", value="blue") for name in ("Crane", "Gate", "Bell", "Tug")
    ]

    def close(**options):
        engine = make_engine(embedder if by_meaning else None, **options)
        if not by_meaning:
            engine.embedder_slot.replace(None)
        engine.memory.add_many(facts)
        return len(engine.memory.recall("crane, gate, bell and tug of the harbour").anchors)

    assert [close(anchors=1), close(), close(anchors=4)] == [1, 3, 4]


def test_scores_are_made_of_what_is_set(make_engine, embedder):
    """A source that counts more puts its facts first."""
    facts = [
        GivenFact(subject="Harbour Crane", predicate="colour", value="blue", source="conversation"),
        GivenFact(subject="Harbour Crane", predicate="colour", value="red", source="file"),
    ]
    engine = make_engine(embedder, rank="score")
    engine.memory.add_many(facts)
    other = make_engine(embedder, rank="score", source_weights=("conversation=9",))

    assert [piece.fact.value for piece in engine.memory.recall("Harbour Crane").facts] == ["red", "blue"]
    assert [piece.fact.value for piece in other.memory.recall("Harbour Crane").facts] == ["blue", "red"]
    assert other.memory.recall("Harbour Crane").facts[0].factors["source"] == 9.0


@pytest.mark.parametrize(
    "rank, order", [("score", ["DuckDB", "tea", "Graz"]), ("relevance", ["Graz", "tea", "DuckDB"])]
)
def test_facts_can_be_ranked_by_score_alone(make_engine, embedder, rank, order):
    """Shared words and distance then have no effect."""
    engine = make_engine(embedder, rank=rank)
    engine.memory.add_many(
        [
            GivenFact(subject="user", predicate="works_on", object="JACQ", confidence=0.1, source="system"),
            GivenFact(subject="user", predicate="lives_in", value="Graz", confidence=0.23, source="conversation"),
            GivenFact(subject="user", predicate="drinks", value="tea", confidence=0.9, source="file"),
            GivenFact(subject="JACQ", predicate="uses", value="DuckDB", source="user_edit"),
        ]
    )
    found = engine.memory.recall("In which city do I live?").facts

    assert [piece.fact.value for piece in found if piece.fact.value != "JACQ"] == order
    if rank == "score":
        assert [piece.score for piece in found] == sorted((piece.score for piece in found), reverse=True)
