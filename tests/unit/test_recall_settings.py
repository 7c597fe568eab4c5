"""Settings of recall: anchors and scores."""

from datetime import datetime, timedelta, timezone

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


def test_of_equal_facts_the_newer_one_comes_first(database, embedder):
    """Facts of one call keep their order."""
    now = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    settings = Settings(memory=MemoryOptions(rank="score"))
    engine = Engine(settings, database=database, embedder=embedder, clock=lambda: now[0])
    engine.memory.add("Harbour Crane", "painted", "red")
    now[0] += timedelta(hours=1)
    engine.memory.add_many(
        [GivenFact(subject="Harbour Crane", predicate="painted", value=value) for value in ("blue", "grey")]
    )

    assert [piece.fact.value for piece in engine.memory.recall("Harbour Crane").facts] == ["blue", "grey", "red"]


def test_an_entity_has_at_most_its_number_of_facts_and_the_second_hop_its_path(make_engine, embedder):
    """Facts that are close to the question do not push out those of the entities that it leads to."""
    engine = make_engine(embedder)
    engine.memory.add("Harbour Crane", "owned_by", object="Team Basalt", confidence=1.0)
    engine.memory.add_many(
        GivenFact(subject="Harbour Crane", predicate=f"gear {n}", value=f"crane part {n}", confidence=0.5)
        for n in range(30)
    )
    engine.memory.add("Team Basalt", "works_in", "Dock Nine")

    found = engine.memory.recall("What do you know about Harbour Crane?").facts
    second = [piece for piece in found if piece.hop == 2]

    assert sum(piece.fact.subject == "harbour crane" for piece in found) == 10
    assert [piece.fact.value for piece in second] == ["Dock Nine"]
    assert [fact.value for fact in second[0].path] == ["Team Basalt"]
