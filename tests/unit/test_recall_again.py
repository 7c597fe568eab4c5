"""Repeated recall: cached answers, access counts, prefetching."""

import threading
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from weft.config import MemoryOptions, Settings
from weft.engine.engine import Engine
from weft.engine.warmer import Warmer
from weft.errors import ModelUnavailable
from weft.models.embedders.vector_cache import CachedEmbedder
from weft.rank.gate import shipped_calibration
from weft.records import Curve, GivenFact, Recall
from weft.search.facts.recall_cache import MAX_NAMESPACES, RecallCache, RecallKey
from weft.search.question.cache_key import cache_key
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
FACTS = [
    GivenFact(subject="user", predicate="works_on", object="JACQ Project"),
    GivenFact(subject="JACQ Project", predicate="uses", object="DuckDB"),
    GivenFact(subject="DuckDB", predicate="type", value="embedded OLAP database"),
]


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(database, embedder, clock):
    engine = Engine(Settings(), database=database, embedder=embedder, clock=clock)
    engine.memory.add_many(FACTS)
    return engine


# ── nearly the same question ────────────────────────────────────────────────────────────────────


def test_the_same_in_other_words_is_answered_from_the_cache(engine, clock):
    """It counts as an access, has its own text, and lasts as long as the first answer."""
    first = engine.memory.recall("What does the JACQ Project use?")
    clock.now += 59 * SECOND
    second = engine.memory.recall("Does the JACQ Project use what?")

    assert not first.cached and second.cached
    assert second.text == "Does the JACQ Project use what?"
    assert second.facts == first.facts
    assert {fact.access_count for fact in engine.memory.list()} == {2}
    clock.now += SECOND
    assert not engine.memory.recall("what does the JACQ Project use").cached


@pytest.mark.parametrize(
    ("seconds", "later", "cached"), [(120, 119, True), (120, 120, False), (5, 4, True), (5, 5, False), (0, 0, False)]
)
def test_how_long_an_answer_serves_is_set(database, embedder, clock, seconds, later, cached):
    """A minute where it is not; with 0 not even the same moment."""
    options = MemoryOptions(cache_seconds=seconds)
    engine = Engine(Settings(memory=options), database=database, embedder=embedder, clock=clock)
    engine.memory.add_many(FACTS)
    engine.memory.recall("What does the JACQ Project use?")
    clock.now += later * SECOND

    assert engine.memory.recall("What does the JACQ Project use?").cached == cached


@pytest.mark.parametrize("seconds", [0, 600])
def test_what_was_just_recalled_is_no_news_however_long_answers_serve(database, embedder, clock, seconds):
    """Recalled facts count as recent for a minute, whatever the cache lifetime."""
    options = MemoryOptions(cache_seconds=seconds)
    engine = Engine(Settings(memory=options), database=database, embedder=embedder, clock=clock)
    engine.memory.add_many(FACTS)
    engine.memory.recall("What is DuckDB?")
    said = GivenFact(subject="DuckDB", predicate="type", value="embedded OLAP database", source="conversation")
    clock.now += 59 * SECOND
    assert engine.memory.add_many([said])[0].outcome == "refused"
    clock.now += SECOND
    assert engine.memory.add_many([said])[0].outcome != "refused"


@pytest.mark.parametrize(("seconds", "every"), [(60, 60), (5, 5), (0, 60)])
def test_facts_are_read_beforehand_as_often_as_they_serve(database, embedder, seconds, every):
    """The default period is the cache lifetime, or a minute without a cache."""
    engine = Engine(Settings(memory=MemoryOptions(cache_seconds=seconds)), database=database, embedder=embedder)

    assert Warmer(engine)._every == every
    assert Warmer(engine, every=7)._every == 7


@pytest.mark.parametrize(
    "asked",
    [
        "What does the JACQ Project cost?",
        "What does DuckDB use?",
        "What does the JACQ Project use, and DuckDB?",
    ],
)
def test_another_question_or_other_entities_are_not(engine, asked):
    """Close is not the same, and the names must be the same ones."""
    engine.memory.recall("What does the JACQ Project use?")

    assert not engine.memory.recall(asked).cached


def test_options_time_and_writes_part_what_is_the_same(engine, database, embedder, clock):
    """Other settings, another time asked about, and any write but the count of accesses."""
    asked, again = "What does the JACQ Project use?", "Does the JACQ Project use what?"
    engine.memory.recall(asked)
    assert not engine.memory.recall(again, as_of=NOW).cached
    other = Engine(Settings(memory=MemoryOptions(max_facts=1)), database=database, embedder=embedder, clock=clock)
    other._recalls = engine._recalls
    assert not other.memory.recall(again).cached
    engine.memory.add("user", "prefers", "tea")
    assert not engine.memory.recall(again).cached


@pytest.mark.parametrize(
    "asked",
    [
        "which database does the JACQ Project use",
        "Could you please tell me which databases the JACQ Project uses?",
        "what database does JACQ-Project use ?",
        "The JACQ Project does use which database?",
    ],
)
def test_a_reworded_question_is_cached(engine, asked):
    """Case, punctuation, polite openers, articles, plurals and the place of a clause do not matter."""
    engine.embedder_slot.replace(None)
    engine.memory.recall("Which database does the JACQ Project use?")

    assert engine.memory.recall(asked).cached


@pytest.mark.parametrize(
    "first, second",
    [
        ("What changed in version 2.3?", "What changed in version 2.4?"),
        ("What did I do on 3 May?", "What did I do on 3 June?"),
        ("Who is allergic to nuts?", "Who isn't allergic to nuts?"),
        ("Does Ada report to Bruno?", "Does Bruno report to Ada?"),
        ("What does Kiln Log use?", "What is Kiln Log used for?"),
        ("Who owns the kiln?", "Who owned the kiln?"),
        ("How much vitamin A do I take?", "How much vitamin do I take?"),
        ("What is C++ used for?", "What is C# used for?"),
        ("我住在哪里？", "我不住在哪里？"),
        ("?", "!"),
    ],
)
def test_a_close_question_with_another_answer_is_not_cached(first, second):
    """Every word but fillers counts, and so does the order of the words."""
    assert cache_key(first) != cache_key(second)


def test_hits_misses_and_entries_are_counted_by_namespace(engine, database, embedder, clock):
    """Exact and near hits alike; another namespace starts at nothing."""
    for asked in ("What does the JACQ Project use?", "Does the JACQ Project use what?", "What is DuckDB?"):
        engine.memory.recall(asked)
    engine.memory.recall("What is DuckDB?")
    other = Engine(Settings(store=replace(Settings().store, namespace="other")), database=database, embedder=embedder)
    other._recalls = engine._recalls

    assert engine.memory.stats() == {"facts": 3, "entities": 3, "cached": 2, "hits": 2, "misses": 2}
    assert other.memory.stats() == {"facts": 0, "entities": 0, "cached": 0, "hits": 0, "misses": 0}


def test_one_namespace_does_not_push_out_another():
    """Each has its own room, and there is room for so many."""
    cache, recall = RecallCache(entries=3), Recall(text="q", status="no_match", at=NOW)
    first = RecallKey(text="q", options=None)
    cache.keep("mine", first, recall, generation=1, now=NOW)
    for number in range(9):
        cache.keep("theirs", RecallKey(text=f"q{number}", options=None), recall, generation=1, now=NOW)
    assert cache.find("mine", first, generation=1, now=NOW) is not None
    assert cache.count("theirs")["cached"] == 3
    for number in range(MAX_NAMESPACES):
        cache.keep(f"n{number}", first, recall, generation=1, now=NOW)
    assert cache.find("mine", first, generation=1, now=NOW) is None


# ── before anybody asks ─────────────────────────────────────────────────────────────────────────


@pytest.fixture
def reads(engine, monkeypatch):
    """The keys whose facts were read from the store."""
    facts, seen = type(engine.store.facts), []
    about = facts.about

    def noted(self, keys, **options):
        seen.extend(keys)
        return about(self, keys, **options)

    monkeypatch.setattr(facts, "about", noted)
    return seen


def test_what_is_recalled_most_is_read_before_it_is_asked_for(engine, reads):
    """The next recall about it reads no facts, gives the same, and counts as the first access."""
    asked = "And the JACQ Project, what is it?"
    engine.memory.recall("What does the JACQ Project use?")
    cold = Engine(Settings(), database=engine.database, embedder=engine.embedder, clock=engine._clock)
    expected = [(piece.fact.id, piece.hop, piece.score) for piece in engine.memory.recall(asked).facts]
    counts = {fact.id: fact.access_count for fact in cold.memory.list()}
    assert cold.warm() == 3
    assert counts == {fact.id: fact.access_count for fact in cold.memory.list()}
    reads.clear()
    found = cold.memory.recall(asked)

    assert reads == [] and not found.cached
    assert [(piece.fact.id, piece.hop) for piece in found.facts] == [(id, hop) for id, hop, _ in expected]
    assert {fact.access_count for fact in cold.memory.list()} == {3}


def test_only_what_is_missing_is_read(engine, reads):
    """An entity nobody asked for before is read from the store, in the one statement of its hop."""
    engine.memory.recall("What does the JACQ Project use?")
    engine.memory.add("Tide Gauge", "near", object="JACQ Project")
    engine.warm()
    reads.clear()
    found = engine.memory.recall("Where is the Tide Gauge?")

    assert reads == ["tide gauge"]
    assert "DuckDB" in [piece.fact.value for piece in found.facts]


def test_a_write_a_minute_or_another_time_ends_what_was_read(engine, reads, clock):
    """Forgotten and added facts are seen."""
    engine.memory.recall("What does the JACQ Project use?")
    engine.warm()
    added = engine.memory.add("JACQ Project", "status", "active").fact
    assert "active" in [piece.fact.value for piece in engine.memory.recall("JACQ Project?").facts]
    engine.warm()
    engine.memory.forget(added.id)
    assert "active" not in [piece.fact.value for piece in engine.memory.recall("JACQ Project?").facts]
    engine.warm()
    reads.clear()
    engine.memory.recall("the JACQ Project then", as_of=NOW)
    assert "jacq project" in reads
    clock.now += 60 * SECOND
    reads.clear()
    engine.memory.recall("the JACQ Project now")
    assert "jacq project" in reads


def test_the_most_wanted_come_first_and_only_so_many(engine):
    """By accesses of live facts; what was never asked for is left out."""
    store = engine.store
    ids = {fact.subject: fact.id for fact in engine.memory.list()}
    assert store.facts.frequent(limit=5) == []
    for subject, times in (("duckdb", 2), ("jacq project", 3), ("user", 2)):
        for _ in range(times):
            store.facts.touch([ids[subject]], at=NOW)

    assert store.facts.frequent(limit=5) == ["jacq project", "duckdb", "user"]
    assert store.facts.frequent(limit=1) == ["jacq project"]
    assert engine.memory.warm(limit=1) == 1
    engine.memory.reject(ids["jacq project"])
    assert store.facts.frequent(limit=1) == ["duckdb"]


def test_the_model_is_loaded_even_where_its_vectors_are_known(tmp_path, database):
    """The cache of vectors does not stand in the way; a model that cannot be loaded is no error."""

    class Weights(FakeEmbedder):
        loads = 0

        def load(self):
            self.loads += 1
            if self.failing:
                raise ModelUnavailable(self.failing)

    inner = Weights()
    engine = Engine(Settings(), database=database, embedder=CachedEmbedder(inner, path=tmp_path / "vectors.db"))

    assert engine.warm() == 0
    assert inner.loads == 1
    inner.failing = "gone"
    assert engine.warm() == 0
    engine.embedder.close()


def test_warming_goes_on_beside_writers(tmp_path):
    """Rounds in a thread while facts are written: no error, and every answer has what was written before it."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    settings = Settings(memory=MemoryOptions(per_entity=50, max_facts=50))
    engine = Engine(settings, database=database, embedder=FakeEmbedder())
    engine.memory.add_many(FACTS)
    rounds, failures, warm = threading.Event(), [], engine.warm

    def noted():
        try:
            warm()
        except Exception as error:
            failures.append(error)
            raise
        rounds.set()

    engine.warm = noted
    with Warmer(engine, every=0.001) as warmer:
        assert rounds.wait(60)
        for number in range(25):
            engine.memory.add("JACQ Project", "step", f"number {number}", confidence=1.0)
            values = [piece.fact.value for piece in engine.memory.recall("the JACQ Project").facts]
            assert f"number {number}" in values
    assert failures == []
    assert not warmer._thread.is_alive()
    database.close()


# ── what counts as close ────────────────────────────────────────────────────────────────────────


def test_anchors_go_by_the_calibration_of_the_namespace(engine):
    """A fitted curve decides from which cosine an entity is meant; without one, the embedder's floor."""
    asked = "any project"

    def close():
        return [a.entity.name for a in engine.memory.recall(asked).anchors if a.how.startswith("close in meaning")]

    assert close() == ["JACQ Project"]
    strict = replace(shipped_calibration(engine.embedder.card), cosine=Curve(middle=0.95, slope=30.0), origin="fitted")
    engine.store.write_calibration(strict)
    assert close() == []
    engine.store.write_calibration(None)
    assert close() == ["JACQ Project"]


def test_entities_of_the_graph_go_by_it_too(engine):
    """The question names none of them."""
    engine.add_text("# Auth Service\n\nAuth Service is the login system for members.", source="auth.md")
    asked = {"text": "login system for members", "method": "mix"}
    before = engine.query(**asked).graph
    strict = replace(shipped_calibration(engine.embedder.card), cosine=Curve(middle=1.01, slope=30.0), origin="fitted")
    engine.store.write_calibration(strict)
    after = engine.query(**asked).graph

    assert (before.recognised, before.found_by) == (("Auth Service",), "meaning")
    assert after.recognised == ()
