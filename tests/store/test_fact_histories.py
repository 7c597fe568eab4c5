"""Invariants of facts under random histories."""

from datetime import datetime, timedelta, timezone

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase

from weft.config import MemoryOptions
from weft.errors import InputError, NotFound
from weft.facts import lifecycle
from weft.index import remember as write_path
from weft.records import GivenFact
from weft.store.postgres.database import PostgresDatabase
from weft.store.sqlite.database import SqliteDatabase

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
OPTIONS = MemoryOptions(single_valued=("lives in",), confirm_sources=("system",))
STATE = st.tuples(
    st.just("add"),
    st.sampled_from(["user", "JACQ"]),
    st.sampled_from(["lives_in", "prefers", "not prefers"]),
    st.sampled_from(["Berlin", "Lisbon", "tea"]),
    st.sampled_from(["conversation", "file", "system", "user_edit"]),
    st.sampled_from([None, -3, 0, 2]),
)
LATER = st.tuples(
    st.sampled_from(["confirm", "reject", "expire", "forget", "supersede", "wait"]),
    st.integers(0, 12),
    st.integers(-2, 6),
)
STEPS = st.lists(st.one_of(STATE, LATER), max_size=16)


def ids(facts):
    return [fact.id for fact in facts]


def play(store, steps):
    """Do the steps in turn; return the ids that were made, those that are forgotten, and the time at the end."""
    known, forgotten, now = [], set(), NOW
    for step in steps:
        now += DAY
        try:
            match step:
                case ("add", subject, predicate, value, source, begins):
                    since = None if begins is None else now + begins * DAY
                    item = GivenFact(
                        subject=subject,
                        predicate=predicate,
                        object=value,
                        source=source,
                        confidence=0.5,
                        valid_from=since,
                    )
                    (done,) = write_path.remember([item], store=store, options=OPTIONS, now=now)
                    known += [done.fact.id] if done.outcome == "added" else []
                    forgotten -= set(known[-1:]) if done.outcome == "added" else set()
                case ("wait", _, days):
                    now += abs(days) * DAY
                case (verb, place, days) if known:
                    id = known[place % len(known)]
                    if verb == "confirm":
                        write_path.confirm(id, store=store, options=OPTIONS, now=now)
                    elif verb == "reject":
                        write_path.reject(id, store=store, options=OPTIONS, now=now)
                    elif verb == "expire":
                        write_path.expire(id, store=store, at=now + days * DAY, now=now)
                    elif verb == "forget":
                        forgotten |= {id} if store.facts.forget([id]) else set()
                    else:
                        old = write_path.get_fact(id, store=store)
                        item = GivenFact(
                            subject=old.subject_name, predicate=old.predicate, object="Oslo", supersedes=id
                        )
                        (done,) = write_path.remember([item], store=store, options=OPTIONS, now=now)
                        known += [done.fact.id] if done.outcome == "added" else []
                        forgotten -= set(known[-1:]) if done.outcome == "added" else set()
        except (InputError, NotFound):
            continue
    return known, forgotten, now


def check_invariants(store, known, forgotten, now):
    facts = store.facts.facts_after("", limit=1000)
    assert {fact.id for fact in facts} == set(known) - forgotten
    times = {now} | {time for fact in facts for time in (lifecycle.valid_since(fact), fact.valid_to) if time}
    for first in facts:
        assert first.supersedes not in forgotten
        actions = [event.action for event in store.facts.history(first.id)]
        assert actions[0] == "added"
        assert (first.status == "confirmed") <= ("confirmed" in actions)
        assert (first.status == "rejected") <= (actions[-1] == "rejected")
        assert (first.status == "superseded") <= ("superseded" in actions)
        assert not {event.other for event in store.facts.history(first.id)} & forgotten
    for time in times:
        for subject in ("user", "jacq"):
            holding = store.facts.about([subject], at=time, limit=100)
            assert not set(ids(holding)) & forgotten
            assert {fact.id for fact in holding} == {
                fact.id for fact in facts if fact.subject == subject and lifecycle.holds(fact, at=time)
            }
            settled = [f for f in holding if f.predicate == "lives_in" and "confirmed" in actions_of(store, f)]
            assert len(settled) <= 1, settled
    for id in forgotten:
        assert store.facts.facts([id]) == [] == store.facts.history(id)


def actions_of(store, fact):
    return {event.action for event in store.facts.history(fact.id)}


@settings(max_examples=settings.default.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_no_history_breaks_what_facts_promise(steps):
    """
    Single-valued predicates have one confirmed value, histories are complete, forgotten facts are absent, stores agree.
    """
    compare((MemoryDatabase(), SqliteDatabase(":memory:")), steps)


@settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_no_history_breaks_what_facts_promise_on_a_server(postgres_dsn, steps):
    """The same against PostgreSQL."""
    database = PostgresDatabase(postgres_dsn)
    database.drop("default")
    compare((MemoryDatabase(), database), steps)


def compare(databases, steps):
    """Play the steps in each database; see that nothing is broken and that all look alike."""
    read = []
    for database in databases:
        store = database.store("default")
        known, forgotten, now = play(store, steps)
        check_invariants(store, known, forgotten, now)
        facts = store.facts.facts_after("", limit=1000)
        entities = store.facts.find_entities([key for fact in facts for key in (fact.subject, fact.object)])
        read.append((facts, [store.facts.history(fact.id) for fact in facts], entities, store.facts.count()))
        database.close()

    assert read[0] == read[1]


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(mine=STEPS, yours=STEPS)
def test_namespaces_never_see_each_others_facts(mine, yours):
    """The same names in two namespaces: each is exactly what it would be alone, counters included."""
    for database in (MemoryDatabase(), SqliteDatabase(":memory:")):
        keep_apart(database, mine, yours)


@settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
@given(mine=STEPS, yours=STEPS)
def test_namespaces_of_a_server_never_see_each_others_facts(postgres_dsn, mine, yours):
    """The same against PostgreSQL."""
    database = PostgresDatabase(postgres_dsn)
    for name in ("mine", "yours"):
        database.drop(name)
    keep_apart(database, mine, yours)


def keep_apart(together, mine, yours):
    """Play steps in two namespaces of a database; the first is what it is where it is alone."""
    first, second, only = together.store("mine"), together.store("yours"), MemoryDatabase().store("mine")
    play(first, mine)
    generation = first.facts.generation()
    play(second, yours)
    found = ids(second.facts.facts_after("", limit=1000))
    second.facts.touch(found, at=NOW)
    first.facts.touch(found, at=NOW)
    first.facts.forget(found)
    assert first.facts.generation() == generation
    play(only, mine)

    assert first.facts.facts_after("", limit=1000) == only.facts.facts_after("", limit=1000)
    assert first.facts.count() == only.facts.count()
    together.close()
