"""Facts stated by documents are deleted with them, unless they were also stated manually."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase
from opening import EACH, open_empty

from weft.config import MemoryOptions, SplitOptions
from weft.index import remember as write_path
from weft.index.note_facts import make_fact_reader
from weft.index.plan import make_batch, make_plan
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, GivenFact
from weft.store.postgres.database import PostgresDatabase
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
OPTIONS = MemoryOptions()


@pytest.fixture(params=EACH)
def store(request):
    database = open_empty(request.param, request)
    yield database.store("default")
    assert database.check() == []
    database.close()


def index(store, name, *lines, now=NOW, options=OPTIONS):
    """Write the note `name.md` called Auth Service, which states these lines."""
    text = "# Auth Service\n\n" + "".join(f"- {line}\n" for line in lines) + "\nIssues tokens.\n"
    document = Document(source=f"{name}.md", title="Auth Service", text=text, form="markdown")
    fact_reader = make_fact_reader(namespace=store.namespace, options=options, now=now)
    plan = make_plan(document, store=store, options=SplitOptions(), fact_reader=fact_reader)
    if plan is not None:
        store.write(make_batch(plan, vectors={}, model=""))
    return plan


def converse(store, name, day, *texts):
    """Write the conversation `name.md` of a day, in which the user writes these texts."""
    time = int((NOW + day * DAY).timestamp() * 1_000_000)
    messages = [Message(role="user", text=text, time=time + place) for place, text in enumerate(texts)]
    document = to_document(messages, Conversation(source=f"{name}.md", host="test", id=name))
    fact_reader = make_fact_reader(namespace=store.namespace, options=OPTIONS, now=NOW + 99 * DAY)
    plan = make_plan(document, store=store, options=SplitOptions(), fact_reader=fact_reader)
    store.write(make_batch(plan, vectors={}, model=""))


def homes(store):
    """Return the values of `lives_in` with the days of their validity."""
    facts = sorted(store.facts.stated("user", "lives_in"), key=lambda fact: fact.valid_from or fact.created)
    return [
        (fact.value, (fact.valid_from - NOW).days, fact.valid_to and (fact.valid_to - NOW).days)
        for fact in facts
        if fact.status != "rejected"
    ]


def delete(store, name):
    return store.delete([document_id(store.namespace, f"{name}.md")])


def say(store, predicate, value, *, source="user_edit", now=NOW):
    given = GivenFact(subject="Auth Service", predicate=predicate, value=value, source=source)
    return write_path.remember([given], store=store, options=OPTIONS, now=now)[0]


def stated(store):
    return {(fact.predicate, fact.value): fact for fact in store.facts.facts_after("", limit=99)}


def snapshot(store):
    """Return all that can be read of facts."""
    facts = store.facts.facts_after("", limit=999)
    ids = [fact.id for fact in facts]
    entities = store.facts.entities_after("", limit=999)
    words = {word for entity in entities for word in entity.key.split()}
    return (
        facts,
        [store.facts.history(id) for id in ids],
        entities,
        store.facts.origins(ids),
        sorted((entity.key, both) for entity, both in store.facts.search_names(sorted(words), limit=999)),
    )


def test_a_document_states_facts(store):
    """Staged, from a file, about its title, with the document as their origin."""
    index(store, "a", "Status: live", "Owner: [[Identity Team]]")
    found = stated(store)

    assert found.keys() == {("status", "live"), ("owner", "Identity Team")}
    assert {(fact.source, fact.status, fact.subject_name) for fact in found.values()} == {
        ("file", "staged", "Auth Service")
    }
    assert found["owner", "Identity Team"].object == "identity team"
    id = found["status", "live"].id
    assert store.facts.origins([id, "f9"]) == {id: (document_id("default", "a.md"),)}
    assert [event.action for event in store.facts.history(id)] == ["added"]


def test_a_changed_document_states_what_it_now_says(store):
    """Removed facts are deleted, unchanged facts keep their age, and a repeated write changes nothing."""
    index(store, "a", "Status: live", "Tier: 1")
    first = stated(store)["tier", "1"]
    assert index(store, "a", "Status: live", "Tier: 1", now=NOW + DAY) is None
    index(store, "a", "Status: retired", "Tier: 1", now=NOW + DAY)

    assert stated(store).keys() == {("status", "retired"), ("tier", "1")}
    assert stated(store)["tier", "1"] == first
    index(store, "a", now=NOW + DAY)
    assert stated(store) == {} and store.facts.count() == (0, 0)


def test_a_fact_goes_with_the_last_document_that_states_it(store):
    """In whatever order they go."""
    for order in ("ab", "ba"):
        index(store, "a", "Status: live")
        index(store, "b", "Status: live")
        delete(store, order[0])
        assert stated(store).keys() == {("status", "live")}
        delete(store, order[1])
        assert store.facts.count() == (0, 0)


@pytest.mark.parametrize("source", ["user_edit", "conversation", "file"])
@pytest.mark.parametrize("first", ["document", "user"])
def test_what_somebody_stated_too_stays(store, source, first):
    """Before or after the document, also where the statement adds nothing to how sure it is."""
    if first == "user":
        say(store, "status", "live", source=source)
    index(store, "a", "Status: live")
    if first == "document":
        say(store, "status", "live", source=source, now=NOW + DAY)
    (fact,) = stated(store).values()
    delete(store, "a")

    assert store.facts.facts([fact.id]) == [fact]
    assert store.facts.origins([fact.id]) == {}


@pytest.mark.parametrize("verb", ["confirm", "reject", "expire"])
def test_what_the_user_decided_about_stays(store, verb):
    """With the decision: a rejected fact is not brought back by another document."""
    index(store, "a", "Status: live")
    (fact,) = stated(store).values()
    match verb:
        case "confirm":
            write_path.confirm(fact.id, store=store, options=OPTIONS, now=NOW + DAY)
        case "reject":
            write_path.reject(fact.id, store=store, options=OPTIONS, now=NOW + DAY)
        case _:
            write_path.expire(fact.id, store=store, at=NOW + DAY, now=NOW + DAY)
    decided = stated(store)
    delete(store, "a")
    assert stated(store) == decided
    index(store, "b", "Status: live", now=NOW + 2 * DAY)
    assert stated(store) == decided
    delete(store, "b")
    assert stated(store) == decided


def test_a_rule_in_the_settings_confirms_files_but_not_single_values(store):
    """Documents may disagree about what has one value at a time."""
    options = MemoryOptions(confirm_sources=("file",), single_valued=("status",))
    index(store, "a", "Status: live", "Tier: 1", options=options)
    index(store, "b", "Status: retired", options=options)
    found = stated(store)

    assert {name: fact.status for name, fact in found.items()} == {
        ("status", "live"): "staged",
        ("status", "retired"): "staged",
        ("tier", "1"): "confirmed",
    }
    assert [e.action for e in store.facts.history(found["tier", "1"].id)] == ["added", "confirmed"]
    delete(store, "a")
    delete(store, "b")
    assert store.facts.count() == (0, 0)


def test_switched_off_documents_state_nothing(store):
    """Switching it off takes back what they stated when they are indexed again; on again it is as before."""
    off = MemoryOptions(from_files=False)
    index(store, "a", "Status: live")
    index(store, "a", "Status: live", options=off)
    assert store.facts.count() == (0, 0)
    assert index(store, "a", "Status: live", options=off) is None
    index(store, "a", "Status: live")
    assert stated(store).keys() == {("status", "live")}


def test_a_forgotten_fact_has_no_origin(store):
    """The document that stated it says so again only when it is written again."""
    index(store, "a", "Status: live")
    (fact,) = stated(store).values()
    store.facts.forget([fact.id])
    assert store.facts.origins([fact.id]) == {} and store.facts.count() == (0, 0)
    delete(store, "a")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_facts_and_document_are_one_transaction(kind, request, monkeypatch):
    """If the write fails at the end, neither the document nor its facts exist."""
    import weft.store.relational.document_write as document_write

    database = open_empty(kind, request)
    store = database.store("default")
    index(store, "a", "Status: live")
    before = snapshot(store)

    def fail(self, **options):
        raise RuntimeError("the power is gone")

    monkeypatch.setattr(document_write.DocumentWriter, "finish", fail)
    with pytest.raises(RuntimeError):
        index(store, "a", "Status: retired")
    with pytest.raises(RuntimeError):
        index(store, "b", "Tier: 1")
    with pytest.raises(RuntimeError):
        delete(store, "a")
    assert snapshot(store) == before
    assert database.check() == []
    database.close()


LINES = st.lists(st.sampled_from(["Status: live", "Status: retired", "Tier: 1", "Owner: [[Tea]]"]), max_size=3)
DOCUMENT = st.tuples(st.just("index"), st.sampled_from("abc"), LINES)
DELETE = st.tuples(st.just("delete"), st.sampled_from("abc"), st.just(()))
STATE = st.tuples(st.just("say"), st.sampled_from(["live", "new"]), st.sampled_from(["user_edit", "conversation"]))
DECIDE = st.tuples(st.sampled_from(["confirm", "reject", "forget"]), st.integers(0, 9), st.just(()))
STEPS = st.lists(st.one_of(DOCUMENT, DELETE, STATE, DECIDE), max_size=10)


def play(store, steps):
    """Do the steps in turn, a day apart; return the time at the end."""
    now = NOW
    for kind, first, second in steps:
        now += DAY
        facts = store.facts.facts_after("", limit=99)
        match kind:
            case "index":
                index(store, first, *second, now=now)
            case "delete":
                delete(store, first)
            case "say":
                say(store, "status", first, source=second, now=now)
            case "forget" if facts:
                store.facts.forget([facts[first % len(facts)].id])
            case "reject" if facts and facts[first % len(facts)].status != "rejected":
                write_path.reject(facts[first % len(facts)].id, store=store, options=OPTIONS, now=now)
            case "confirm" if facts and facts[first % len(facts)].status == "staged":
                write_path.confirm(facts[first % len(facts)].id, store=store, options=OPTIONS, now=now)
    return now


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, lines=LINES)
def test_deleting_what_was_added_leaves_everything_as_it_was(steps, lines):
    """This is true for any history, and the stores agree at every step."""
    compare((MemoryDatabase(), SqliteDatabase(":memory:")), steps, lines)


@settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, lines=LINES)
def test_deleting_what_was_added_leaves_a_server_as_it_was(postgres_dsn, steps, lines):
    """The same against PostgreSQL."""
    database = PostgresDatabase(postgres_dsn)
    database.drop("default")
    compare((MemoryDatabase(), database), steps, lines)


def compare(databases, steps, lines):
    """Add and delete a document after some steps in each database; all look alike before, during and after."""
    read = []
    for database in databases:
        store = database.store("default")
        now = play(store, steps)
        before = snapshot(store)
        index(store, "new", *lines, now=now + DAY)
        during = snapshot(store)
        delete(store, "new")

        assert snapshot(store) == before
        assert database.check() == []
        read.append((before, during))
        database.close()
    assert read[0] == read[1]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_later_conversation_ends_what_an_earlier_one_stated(store, order):
    """Whatever the order of imports is; deleting the later conversation restores the earlier statement."""
    said = [("a", 1, "I live in Bergen."), ("b", 5, "I just moved to Oslo."), ("c", 9, "I moved to Tromsø.")]
    for place in order:
        converse(store, *said[place])
    assert homes(store) == [("Bergen", 1, 5), ("Oslo", 5, 9), ("Tromsø", 9, None)]

    delete(store, "b")
    assert homes(store) == [("Bergen", 1, 9), ("Tromsø", 9, None)]
    delete(store, "c")
    assert homes(store) == [("Bergen", 1, None)]


def test_a_grown_conversation_ends_its_own_earlier_statement(store):
    """The first export had nothing else to say; other predicates keep all values."""
    converse(store, "a", 1, "I live in Bergen.", "I love smoked herring!")
    converse(store, "a", 1, "I live in Bergen.", "I love smoked herring!", "I moved to Oslo.", "I love black tea!")

    assert [value for value, _, end in homes(store) if end is None] == ["Oslo"]
    assert [fact.valid_to for fact in store.facts.stated("user", "likes")] == [None, None]


def test_rejecting_or_forgetting_the_later_statement_restores_the_earlier(store):
    """A fact that was confirmed by hand keeps its end, and ends others."""
    converse(store, "a", 1, "I live in Bergen.")
    converse(store, "b", 5, "I moved to Oslo.")
    oslo = stated(store)["lives_in", "Oslo"]
    write_path.confirm(oslo.id, store=store, options=OPTIONS, now=NOW + 6 * DAY)
    assert homes(store) == [("Bergen", 1, 5), ("Oslo", 5, None)]
    converse(store, "c", 9, "I moved to Tromsø.")
    assert homes(store) == [("Bergen", 1, 5), ("Oslo", 5, None), ("Tromsø", 9, None)]

    write_path.reject(oslo.id, store=store, options=OPTIONS, now=NOW + 10 * DAY)
    assert homes(store) == [("Bergen", 1, 9), ("Tromsø", 9, None)]
    store.facts.forget([stated(store)["lives_in", "Tromsø"].id])
    assert homes(store) == [("Bergen", 1, None)]
