"""Two namespaces with the same names never see each other's facts, counters or cached answers."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase

from weft.config import Settings, StoreOptions
from weft.context.serialise import facts_to_dict
from weft.engine.engine import Engine
from weft.records import GivenFact
from weft.search.facts.recall_cache import RecallCache
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
NAMES = ["user", "JACQ Project", "DuckDB"]
QUESTIONS = ["What is the JACQ Project?", "Is the JACQ Project what?", "DuckDB?", "what do I use", "volcano"]
WHOSE = st.sampled_from(["mine", "theirs"])
FACTS = st.builds(
    GivenFact,
    subject=st.sampled_from(NAMES),
    predicate=st.sampled_from(["uses", "likes"]),
    object=st.sampled_from(["", *NAMES[1:]]),
    confidence=st.sampled_from([0.4, 0.9]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), WHOSE, FACTS, st.integers(0, 3)),
        st.tuples(st.just("recall"), WHOSE, st.sampled_from(QUESTIONS)),
        st.tuples(st.just("search"), WHOSE, st.sampled_from(QUESTIONS)),
        st.tuples(st.just("forget"), WHOSE, st.integers(0, 5)),
        st.tuples(st.just("warm"), WHOSE),
        st.tuples(st.just("wait"), WHOSE, st.sampled_from([1, 59, 61])),
    ),
    min_size=4,
    max_size=25,
)


class World:
    """Engines of both namespaces on one database with one cache, or of one namespace alone."""

    def __init__(self, database, whose):
        self.database = database
        self.now = NOW
        cache = RecallCache()
        self.engines = {}
        for name in whose:
            options = Settings(store=StoreOptions(namespace=name))
            self.engines[name] = Engine(options, database=database, embedder=FakeEmbedder(), clock=lambda: self.now)
            self.engines[name]._recalls = cache

    def do(self, step):
        """Take one step; return what the one who took it sees, ids left out, for they hold the namespace's name."""
        kind, whose, *rest = step
        if kind == "wait":
            self.now += timedelta(seconds=rest[0])
        if whose not in self.engines:
            return None
        engine = self.engines[whose]
        memory = engine.memory
        match kind:
            case "add":
                given, number = rest
                literal = "" if given.object else f"{whose} {number}"
                fields = {name: getattr(given, name) for name in ("subject", "predicate", "object", "confidence")}
                seen = memory.add_many([GivenFact(**fields, value=literal)])[0].outcome
            case "recall":
                seen = _without_ids(facts_to_dict(memory.recall(rest[0])))
            case "search":
                seen = engine.memory_search(rest[0])["context"]
            case "forget":
                facts = sorted(memory.list(), key=lambda fact: (fact.subject, fact.predicate, fact.value))
                seen = memory.forget(facts[rest[0]].id) if rest[0] < len(facts) else None
            case "warm":
                seen = engine.warm()
            case _:
                seen = None
        return seen, memory.stats(), self.counters(whose)

    def counters(self, whose):
        facts = self.engines[whose].memory.list()
        return sorted((f.subject, f.predicate, f.value, f.access_count, f.last_accessed or NOW) for f in facts)


def _without_ids(values):
    return {**values, "facts": sorted(str({**fact, "id": ""}) for fact in values["facts"])}


@pytest.mark.parametrize("make", [MemoryDatabase, lambda: SqliteDatabase(":memory:")], ids=["memory", "sqlite"])
@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_what_one_namespace_sees_does_not_depend_on_the_other(make, steps):
    """Each sees exactly what it would see if it were alone: answers, whether they were cached, counts, statistics."""
    together = World(make(), ["mine", "theirs"])
    alone = {name: World(make(), [name]) for name in ("mine", "theirs")}
    for step in steps:
        seen = together.do(step)
        expected = {name: world.do(step) for name, world in alone.items()}
        assert seen == expected[step[1]]
    other = {"mine": "theirs", "theirs": "mine"}
    for whose, engine in together.engines.items():
        found = engine.memory.recall("JACQ Project DuckDB user")
        assert not any(other[whose] in piece.fact.value for piece in found.facts)
    for world in (together, *alone.values()):
        world.database.close()
