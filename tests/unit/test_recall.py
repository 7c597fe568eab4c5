"""Facts recalled for a question; recall changes only the access counters."""

from datetime import datetime, timedelta, timezone

import pytest
from memory_store.store import MemoryDatabase

from weft.config import MemoryOptions, Settings
from weft.engine.engine import Engine
from weft.errors import InputError, NotFound
from weft.records import GivenFact
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
JACQ = [
    GivenFact(subject="user", predicate="prefers", value="dark mode"),
    GivenFact(subject="user", predicate="prefers", value="TypeScript over JavaScript"),
    GivenFact(subject="user", predicate="works_on", object="JACQ Project"),
    GivenFact(subject="JACQ Project", predicate="uses", object="DuckDB"),
    GivenFact(subject="JACQ Project", predicate="uses", object="Next.js 16"),
    GivenFact(subject="JACQ Project", predicate="status", value="active development"),
    GivenFact(subject="DuckDB", predicate="type", value="embedded OLAP database"),
    GivenFact(subject="DuckDB", predicate="supports", value="vector search via VSS extension"),
]
NARRATIVE = """\
### 💡 CONTEXT: JACQ Project
- uses: DuckDB
- uses: Next.js 16
- status: active development

### 💡 CONTEXT: DuckDB
- type: embedded OLAP database
- supports: vector search via VSS extension

### 👤 USER CONTEXT
- works_on: JACQ Project
- prefers: dark mode
- prefers: TypeScript over JavaScript
"""


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make_engine(database, clock):
    def make(embedder, **options):
        return Engine(Settings(memory=MemoryOptions(**options)), database=database, embedder=embedder, clock=clock)

    return make


@pytest.fixture
def engine(make_engine, embedder):
    engine = make_engine(embedder)
    engine.memory.add_many(JACQ)
    return engine


def without_embedder(engine):
    engine.embedder_slot.replace(None)
    return engine


def values(found):
    return [piece.fact.value for piece in found.facts]


def test_what_is_jacq_gives_three_sections_two_hops_deep(make_engine, embedder):
    """The example of the design, with names resolved and in its order."""
    engine = make_engine(embedder, rank="score")
    engine.memory.add_many(JACQ)
    found = engine.memory.recall("What is JACQ?")

    assert found.status == "ok"
    assert engine.memory.context(found).text == NARRATIVE
    assert [(a.entity.name, a.how.split(" (")[0]) for a in found.anchors] == [
        ("JACQ Project", "close in meaning"),
        ("user", "always"),
    ]
    assert {piece.fact.subject: piece.hop for piece in found.facts} == {"user": 1, "jacq project": 1, "duckdb": 2}


def test_the_same_comes_without_an_embedder_and_says_so(make_engine):
    """Entities are found by words of their names."""
    engine = without_embedder(make_engine(None))
    engine.memory.add_many(JACQ)
    found = engine.memory.recall("What is JACQ?")

    assert found.status == "degraded"
    assert "no embedder" in found.degraded
    assert engine.memory.context(found, budget=1000).text == NARRATIVE


def test_an_embedder_that_fails_is_a_reason_not_an_error(make_engine):
    """Adding and recalling facts work without it."""
    embedder = FakeEmbedder()
    engine = make_engine(embedder)
    engine.memory.add_many(JACQ)
    embedder.failing = "out of memory"
    engine.memory.add("JACQ Project", "licence", "MIT")
    found = engine.memory.recall("What is JACQ?")

    assert found.status == "degraded" and "out of memory" in found.degraded
    assert "MIT" in values(found)
    embedder.failing = ""
    engine.memory.add("JACQ Project", "language", "TypeScript")
    assert engine.memory.recall("What is JACQ?").status == "ok"


@pytest.mark.parametrize("question", ["how do volcanoes erupt?", "Who won the match?", "", "???"])
def test_a_question_about_nothing_known_gives_no_match(engine, question):
    """The nearest facts are not returned, and no access is counted."""
    found = engine.memory.recall(question)

    assert (found.status, found.facts) == ("no_match", ())
    assert all(fact.access_count == 0 for fact in engine.memory.list())


@pytest.mark.parametrize("question", ["what do I prefer?", "what do you know about me?", "dark or light?", "user"])
def test_a_question_about_the_user_gives_what_is_known_of_the_user(engine, question):
    """By the words of these facts, or by asking for oneself."""
    found = engine.memory.recall(question)

    assert found.status == "ok"
    assert "dark mode" in values(found)


def test_nothing_is_recalled_from_an_empty_memory(make_engine, embedder):
    """No error is raised."""
    assert make_engine(embedder).memory.recall("what do you know about me?").status == "no_match"


def test_another_name_the_graph_knows_leads_to_the_facts(engine):
    """Aliases of entities in documents are names here too."""
    engine.add_text("# JACQ Project\n\nA database project.", source="jacq.md")
    engine.entities.alias("JACQ Project", "Quetzal")
    found = engine.memory.recall("what about Quetzal?")

    assert found.anchors[0].how == "named"
    assert "DuckDB" in values(found)


def test_each_recall_counts_every_fact_once_also_from_the_cache(engine, clock):
    """Two hops are one recall; the count does not make the answer stale."""
    first = engine.memory.recall("What is JACQ?")
    clock.now += timedelta(seconds=59)
    second = engine.memory.recall("what  is JACQ? ")

    assert not first.cached and second.cached
    assert first.facts == second.facts
    assert {fact.access_count for fact in engine.memory.list()} == {2}
    assert {fact.last_accessed for fact in engine.memory.list()} == {clock.now}
    assert engine.memory.stats()["hits"] == 1


def test_a_minute_or_a_write_ends_the_cache(engine, clock):
    """A forgotten fact is in no answer."""
    engine.memory.recall("What is JACQ?")
    clock.now += timedelta(seconds=60)
    assert not engine.memory.recall("What is JACQ?").cached
    assert engine.memory.recall("What is JACQ?").cached
    (gone,) = [fact for fact in engine.memory.list() if fact.value == "dark mode"]
    assert engine.memory.forget(gone.id) == 1
    found = engine.memory.recall("What is JACQ?")
    assert not found.cached and "dark mode" not in values(found)
    engine.add_text("Something else.", source="note")
    assert not engine.memory.recall("What is JACQ?").cached
    with pytest.raises(NotFound):
        engine.memory.forget(gone.id)


def test_the_cache_is_bounded(engine):
    """The oldest answers make room."""
    for number in range(300):
        engine.memory.recall(f"question {number} about JACQ")

    assert engine.memory.stats()["cached"] == 256


def test_a_recall_as_of_a_date_gives_what_held_then(make_engine, embedder, clock):
    """To the microsecond; what was superseded held until it was."""
    engine = make_engine(embedder, single_valued=("lives in",))
    berlin = engine.memory.add("user", "lives in", object="Berlin").fact
    engine.memory.confirm(berlin.id)
    clock.now += 10 * DAY
    moved = engine.memory.add("user", "lives_in", object="Lisbon")
    assert moved.fact.supersedes == berlin.id
    assert [fact.id for fact in moved.contradicts] == [berlin.id]
    clock.now += DAY
    engine.memory.confirm(moved.fact.id)

    def at(time):
        return values(engine.memory.recall("where do I live?", as_of=time))

    assert values(engine.memory.recall("where do I live?")) == ["Lisbon"]
    assert at(NOW - DAY) == []
    assert at(NOW + 5 * DAY) == ["Berlin"]
    assert at(clock.now - timedelta(microseconds=1)) == ["Lisbon", "Berlin"][1:]
    assert at(clock.now) == ["Lisbon"]
    assert [event.action for event in engine.memory.history(berlin.id)] == ["added", "confirmed", "superseded"]


def test_limits_keep_the_nearest_and_best(make_engine, embedder):
    """Ten of an entity, thirty in all."""
    engine = make_engine(embedder, rank="score")
    engine.memory.add_many(
        [GivenFact(subject="Hub", predicate="holds", object=f"Thing {n}", confidence=n / 100) for n in range(50)]
    )
    engine.memory.add_many(
        [
            GivenFact(subject=f"Thing {n}", predicate="has", value=f"part {m} of {n}")
            for n in range(50)
            for m in range(9)
        ]
    )
    found = engine.memory.recall("Hub")

    assert len(found.facts) == 30
    near = make_engine(embedder, rank="score", max_hops=1).memory.recall("Hub").facts
    hub = [piece.fact.confidence for piece in near if piece.fact.subject == "hub"]
    assert sorted(hub, reverse=True) == [n / 100 for n in range(49, 39, -1)]


def test_incoming_facts_are_followed_where_the_settings_say_so(make_engine, embedder):
    """From DuckDB back to what uses it."""
    engine = make_engine(embedder, incoming=True)
    engine.memory.add_many(JACQ)

    assert "active development" in values(engine.memory.recall("DuckDB"))


def test_stating_again_strengthens_and_an_echo_does_not(make_engine, embedder):
    """A second source makes it surer; what was just recalled is no news."""
    engine = make_engine(embedder)
    first = engine.memory.add("user", "prefers", "tea", source="conversation", confidence=0.5)
    again = engine.memory.add("User", "Prefers", " TEA", source="file", confidence=0.5)

    assert (first.outcome, again.outcome) == ("added", "strengthened")
    assert again.fact.confidence == pytest.approx(0.75)
    assert engine.memory.add("user", "prefers", "tea", source="file", confidence=0.5).outcome == "known"
    engine.memory.recall("what do I prefer?")
    echo = engine.memory.add("user", "prefers", "tea", source="conversation", confidence=0.9)
    assert echo.outcome == "refused" and "recalled" in echo.reason
    assert len(list(engine.memory.list("user"))) == 1


def test_what_was_rejected_is_taken_on_only_from_the_user(make_engine, embedder):
    """Proposals do not come back."""
    engine = make_engine(embedder)
    fact = engine.memory.add("user", "likes", "liver", source="conversation").fact
    engine.memory.reject(fact.id, reason="a joke")

    assert engine.memory.add("user", "likes", "liver", source="conversation").outcome == "refused"
    assert engine.memory.add("user", "likes", "liver").outcome == "added"
    assert engine.memory.history(fact.id)[-1].detail == "a joke"


def test_secrets_are_refused_and_audited(make_engine, embedder):
    """Allowed ones are stored, and listed as suspicious."""
    strict, lax = make_engine(embedder), make_engine(embedder, allow_secrets=True)

    assert strict.memory.add("user", "card", "4111 1111 1111 1111").outcome == "refused"
    assert lax.memory.add("user", "card", "4111 1111 1111 1111").outcome == "added"
    (found,) = strict.memory.audit()
    assert "card number" in found.reason


def test_the_audit_lists_contradictions_and_what_nobody_wants(make_engine, embedder, clock):
    """With the ids of what they contradict."""
    engine = make_engine(embedder, single_valued=("lives in",))
    for predicate, value in [("likes", "tea"), ("not likes", "tea"), ("lives in", "Berlin"), ("lives in", "Lisbon")]:
        engine.memory.add("user", predicate, value)

    assert [s.reason.split(" f")[0] for s in engine.memory.audit() if "denied" in s.reason] == ["denied by"] * 2
    assert sum("one value at a time" in s.reason for s in engine.memory.audit()) == 2
    clock.now += 91 * DAY
    assert sum("90 days" in s.reason for s in engine.memory.audit()) == 4


def test_a_rule_in_the_settings_confirms_at_once(make_engine, embedder):
    """By source; a later value of one kind supersedes the earlier."""
    engine = make_engine(embedder, confirm_sources=("user_edit",), single_valued=("editor",))
    old = engine.memory.add("user", "editor", "Vim").fact
    new = engine.memory.supersede(old.id, "Helix").fact

    assert new.status == "confirmed"
    assert [fact.status for fact in engine.memory.list() if fact.id == old.id] == ["superseded"]


def test_what_contradicts_itself_is_an_error(make_engine, embedder):
    """No fact of the batch is written."""
    memory = make_engine(embedder).memory
    for wrong in ({"object": "x", "value": "y"}, {"value": "x", "confidence": 2}, {"object": "!!"}):
        with pytest.raises(InputError):
            memory.add_many([JACQ[0], GivenFact(subject="user", predicate="p", **wrong)])
    with pytest.raises(InputError):
        memory.add("user", "p", "x", valid_from=NOW, valid_to=NOW - DAY)
    assert list(memory.list()) == []


def test_namespaces_share_neither_answers_nor_counters(database, embedder, clock):
    """The same names, the same question, one after the other."""
    engines = [
        Engine(Settings(store=store), database=database, embedder=embedder, clock=clock)
        for store in (Settings().store, type(Settings().store)(namespace="other"))
    ]
    engines[0].memory.add_many(JACQ)
    engines[1].memory.add("JACQ Project", "colour", "red")
    engines[1]._recalls = engines[0]._recalls

    assert len(engines[0].memory.recall("What is JACQ?").facts) == 8
    assert values(engines[1].memory.recall("What is JACQ?")) == ["red"]
    assert engines[0].memory.recall("What is JACQ?").cached
    assert {fact.access_count for fact in engines[1].memory.list()} == {1}


def test_reembedding_covers_the_entities_of_facts(engine, database, clock):
    """After switching, entities are found by meaning again."""
    other = FakeEmbedder(name="fake/other", dimension=128)
    switched = Engine(Settings(), database=database, embedder=other, clock=clock)
    assert switched.memory.recall("What is JACQ?").status == "degraded"
    switched.reembed()

    found = switched.memory.recall("What is JACQ?")
    assert found.status == "ok"
    assert found.anchors[0].how.startswith("close in meaning")


def test_facts_stated_without_an_embedder_are_embedded_later(make_engine):
    """By the next statement, or by `weft reembed`."""
    engine = without_embedder(make_engine(None))
    engine.memory.add_many(JACQ)
    later = make_engine(FakeEmbedder())
    later.memory.add("user", "prefers", "tea")

    assert later.memory.recall("What is JACQ?").status == "ok"


def test_a_question_in_a_script_the_embedder_does_not_know_goes_by_names(make_engine):
    """Its cosines would say nothing; a name that stands there is found all the same."""
    engine = make_engine(FakeEmbedder(scripts=frozenset({"latin"})))
    engine.memory.add("密钥库", "location", "Berlin")
    found = engine.memory.recall("密钥库在哪里")

    assert found.status == "degraded" and found.degraded
    assert values(found) == ["Berlin"]


def test_asking_inside_one_state_of_the_store_counts_nothing(engine):
    """It does not fail either."""
    with engine.store.reading():
        assert engine.memory.recall("What is JACQ?").status == "ok"


def test_memory_needs_no_documents():
    """A store in memory is enough."""
    engine = Engine(Settings(), database=MemoryDatabase(), embedder=FakeEmbedder())

    assert engine.memory.add("user", "prefers", "tea").fact.created.tzinfo is timezone.utc
