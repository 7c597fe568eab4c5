"""Contract of facts for every store."""

import threading
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from memory_store.store import MemoryDatabase
from opening import KINDS, contradictions, open_empty

import weft.store.postgres.vectors as postgres_vectors
from weft.errors import SchemaMismatch
from weft.records import Fact, FactEntity, FactEvent, StoredModel
from weft.store.shared.fact_rules import content_of
from weft.store.sqlite.database import SqliteDatabase

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
MODEL = StoredModel(name="fake/three", fingerprint="f1", dimension=3, active=True)


@pytest.fixture(params=KINDS)
def database(request):
    database = open_empty(request.param, request)
    yield database
    # These tests write bare facts, without the history that remembering gives them.
    expected = ("`added` event", "in its history", "in their history", "referred to")
    assert [problem for problem in contradictions(database) if not problem.what.endswith(expected)] == []
    database.close()


@pytest.fixture
def store(database):
    return database.store("default")


def make(id, value="dark mode", **fields):
    made = Fact(id=id, subject="user", subject_name="User", predicate="prefers", value=value, created=NOW)
    return replace(made, **fields)


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def ids(facts):
    return [fact.id for fact in facts]


# ── contract ────────────────────────────────────────────────────────────────────────────────────


def test_a_fact_is_read_as_it_was_written(store):
    """Every field, times to the microsecond."""
    fact = make(
        "f1",
        "JACQ Project",
        object="jacq project",
        predicate="works_on",
        confidence=0.8,
        source="file",
        status="confirmed",
        created=NOW + timedelta(microseconds=7),
        valid_from=NOW - DAY,
        valid_to=NOW + DAY,
        last_accessed=NOW,
        access_count=3,
        supersedes="f0",
        note="said at lunch",
    )
    store.facts.write([fact], events=[FactEvent(fact_id="f1", at=NOW, action="added", detail="x", other="f0")])

    assert store.facts.facts(["f9", "f1"]) == [fact]
    assert store.facts.history("f1") == [FactEvent(fact_id="f1", at=NOW, action="added", detail="x", other="f0")]
    assert store.facts.count() == (1, 2)
    assert store.facts.same([content_of(fact)]) == store.facts.stated("user", "works_on") == [fact]


def test_entities_are_read_in_the_order_asked_for(store):
    """However they came in and whatever happened to them since: pages go by it."""
    keys = [f"thing {number}" for number in range(30)]
    given = [FactEntity(key=key, name=key.title(), declared=True) for key in keys]
    store.facts.write([], entities=given[::-1])
    store.facts.write([], entities=[replace(entity, type="thing") for entity in given[3:9]])

    assert list(store.facts.find_entities([*keys[15:], "nobody", *keys[:15]])) == [*keys[15:], *keys[:15]]


def test_an_entity_keeps_its_name_and_takes_a_new_description(store):
    """The first spelling stays; objects are resolved to it."""
    store.facts.write([make("f1", "JACQ Project", object="jacq project")])
    store.facts.write([make("f2", "jacq  projects", object="jacq project", predicate="likes")])
    store.facts.write([], entities=[FactEntity(key="jacq project", name="JACQ", description="a database")])

    assert [fact.value for fact in store.facts.facts(["f1", "f2"])] == ["JACQ Project"] * 2
    assert store.facts.find_entities(["jacq project", "nobody"]) == {
        "jacq project": FactEntity(key="jacq project", name="JACQ Project", description="a database")
    }


def test_the_surest_facts_of_each_subject_come_first(store):
    """At equal confidence the newest, then the smaller id; each subject has its own limit."""
    store.facts.write(
        [
            make("f1", "a", confidence=0.5),
            make("f2", "b", confidence=0.9),
            make("f3", "c", confidence=0.5, created=NOW - DAY),
            make("f0", "d", confidence=0.5),
            make("f4", "e", subject="tea", subject_name="Tea"),
        ]
    )

    assert ids(store.facts.about(["tea", "user", "none"], at=NOW, limit=3)) == ["f4", "f2", "f0", "f1"]
    assert store.facts.about([], at=NOW, limit=3) == store.facts.about([""], at=NOW, limit=3) == []


def test_only_what_holds_at_the_time_is_read(store):
    """Staged and confirmed in their time, superseded until they were, rejected never."""
    store.facts.write(
        [
            make("f1", "a", created=NOW - 9 * DAY, status="superseded", valid_to=NOW),
            make("f2", "b", valid_from=NOW, status="confirmed"),
            make("f3", "c", created=NOW - 9 * DAY, status="rejected"),
            make("f4", "d", created=NOW - 9 * DAY, valid_to=NOW + DAY),
        ]
    )

    def at(time):
        return sorted(ids(store.facts.about(["user"], at=time, limit=9)))

    assert at(NOW - 10 * DAY) == []
    assert at(NOW - DAY) == ["f1", "f4"]
    assert at(NOW) == ["f2", "f4"]
    assert at(NOW + DAY) == ["f2"]


def test_incoming_facts_are_read_on_request(store):
    """By their object; literals lead nowhere."""
    store.facts.write([make("f1", "DuckDB", object="duckdb"), make("f2", "duckdb"), make("f3", "x", subject="duckdb")])

    assert ids(store.facts.about(["duckdb", ""], at=NOW, limit=9, incoming=True)) == ["f1"]
    assert ids(store.facts.about(["duckdb"], at=NOW, limit=9)) == ["f3"]


def test_accesses_are_counted_without_changing_the_generation(store):
    """Each fact counts once, the latest time is kept, and rewriting a fact does not reset it."""
    store.facts.write([make("f1"), make("f2", "tea")])
    before = store.facts.generation()
    assert store.facts.touch(["f1", "f1", "f9"], at=NOW + DAY)
    assert store.facts.touch(["f1"], at=NOW)

    assert store.facts.generation() == before
    store.facts.write([make("f1", status="confirmed")])
    (first, second) = store.facts.facts(["f1", "f2"])
    assert (first.access_count, first.last_accessed, first.status) == (2, NOW + DAY, "confirmed")
    assert (second.access_count, second.last_accessed) == (0, None)
    assert store.facts.generation() > before


def test_an_access_of_a_wrong_clock_ends_with_the_next_one(store):
    """The year 9999 does not stay the latest time for ever."""
    store.facts.write([make("f1")])
    store.facts.touch(["f1"], at=datetime(9999, 12, 31, tzinfo=timezone.utc))
    store.facts.touch(["f1"], at=NOW)

    (fact,) = store.facts.facts(["f1"])
    assert (fact.access_count, fact.last_accessed) == (2, NOW)


def test_a_forgotten_fact_is_gone_with_all_that_only_it_needs(store):
    """Its history, its entities, their vectors and words; what refers to it no longer does."""
    store.write_model(MODEL)
    store.facts.write(
        [
            make("f1", "DuckDB", object="duckdb", predicate="uses"),
            make("f2", "tea", supersedes="f1"),
        ],
        events=[
            FactEvent(fact_id="f1", at=NOW, action="added"),
            FactEvent(fact_id="f2", at=NOW, action="added", other="f1"),
        ],
    )
    store.facts.write_vectors("f1", {"duckdb": unit(1, 0, 0), "user": unit(0, 1, 0)})

    assert store.facts.forget(["f1", "f9"]) == 1
    assert store.facts.forget(["f1"]) == 0
    assert store.facts.facts(["f1"]) == [] == store.facts.history("f1")
    assert store.facts.facts(["f2"])[0].supersedes == "" == store.facts.history("f2")[0].other
    assert store.facts.find_entities(["duckdb", "user"]).keys() == {"user"}
    assert store.facts.search_names(["duckdb"], limit=3) == []
    assert [entity.key for entity, _ in store.facts.search_vector(unit(1, 1, 0), limit=3)] == ["user"]


def test_a_forgotten_fact_is_gone_from_the_file_after_compact(tmp_path):
    """No page of the file holds its words."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.facts.write([make("f1", "xylophone-concerto", note="zeppelin"), make("f2")])
    store.facts.forget(["f1"])
    database.compact()
    database.close()

    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"dark mode" in held
    assert b"xylophone" not in held and b"zeppelin" not in held


def test_entities_are_found_by_words_of_their_names(store):
    """Most shared words first, then the shorter name, then the key."""
    for place, name in enumerate(["JACQ Project", "JACQ", "Project Lantern Works", "Tea"]):
        store.facts.write([make(f"f{place}", subject=name.lower(), subject_name=name)])
    found = store.facts.search_names(["jacq", "project"], limit=3)

    assert [(entity.name, shared) for entity, shared in found] == [
        ("JACQ Project", 2),
        ("JACQ", 1),
        ("Project Lantern Works", 1),
    ]


def test_facts_are_found_by_vectors_if_they_are_valid(store):
    """The closest first; a forgotten or restored fact loses its vector."""
    ended = make("f3", "tea", valid_to=NOW + DAY)
    store.facts.write([make("f1"), make("f2", "DuckDB", object="duckdb"), ended, make("f4", "x", status="rejected")])
    assert store.facts.search_texts(unit(1, 0, 0), at=NOW, limit=9) == []
    store.write_model(replace(MODEL, active=False))
    assert store.facts.find_unembedded_texts("f1", limit=2) == {
        "f1": "User prefers dark mode",
        "f2": "User prefers DuckDB",
    }
    vectors = {"f1": unit(1, 0, 0), "f2": unit(1, 1, 0), "f3": unit(2, 1, 0), "f4": unit(1, 0, 0), "f9": unit(1, 0, 0)}
    store.facts.write_vectors("f1", {"user": unit(1, 0, 0), "duckdb": unit(1, 0, 0)})
    store.facts.write_text_vectors("f1", vectors)
    store.write_model(MODEL)

    def found(at=NOW, **options):
        return [fact.id for fact, _ in store.facts.search_texts(unit(1, 0, 0), at=at, limit=9, **options)]

    assert found() == ["f1", "f3", "f2"]
    assert found(NOW + DAY) == ["f1", "f2"]
    assert [round(score, 3) for _, score in store.facts.search_texts(unit(1, 0, 0), at=NOW, limit=1)] == [1.0]
    assert {id: v.round(2).tolist() for id, v in store.facts.text_vectors(["f1", "f9"]).items()} == {"f1": [1, 0, 0]}
    assert store.facts.find_unembedded_texts("f1", limit=9) == {}
    store.facts.forget(["f1"])
    store.facts.restore([make("f2", "DuckDB", object="duckdb")])
    assert found() == ["f3"]
    with pytest.raises(SchemaMismatch):
        store.facts.write_text_vectors("f2", {})


def test_entities_are_found_by_vectors_of_the_active_embedder(store):
    """Entities without a vector are listed with their text; a new description needs a new vector."""
    store.write_model(MODEL)
    store.facts.write(
        [make("f1", "DuckDB", object="duckdb")],
        entities=[FactEntity(key="user", name="User", description="the one who asks")],
    )

    assert store.facts.find_unembedded("f1", limit=9) == {"duckdb": "DuckDB", "user": "User: the one who asks"}
    store.facts.write_vectors("f1", {"duckdb": unit(1, 0, 0), "user": unit(0, 1, 0), "nobody": unit(0, 0, 1)})
    assert store.facts.find_unembedded("f1", limit=9) == {}
    found = store.facts.search_vector(unit(3, 1, 0), limit=9)
    assert [entity.key for entity, _ in found] == ["duckdb", "user"]
    assert found[0][1] == pytest.approx(3 / 10**0.5, abs=1e-5)
    store.facts.write([], entities=[FactEntity(key="duckdb", name="DuckDB", description="a database")])
    assert store.facts.find_unembedded("f1", limit=9) == {"duckdb": "DuckDB: a database"}
    with pytest.raises(SchemaMismatch):
        store.facts.write_vectors("f2", {})


def test_facts_are_listed_in_pages(store):
    """By id, of one subject or all."""
    store.facts.write([make(f"f{n}", f"{n}", subject="user" if n % 2 else "tea") for n in range(6)])

    assert ids(store.facts.facts_after("", limit=4)) == ["f0", "f1", "f2", "f3"]
    assert ids(store.facts.facts_after("f3", limit=4)) == ["f4", "f5"]
    assert ids(store.facts.facts_after("f1", limit=4, subject="user")) == ["f3", "f5"]


def test_a_namespace_with_facts_alone_is_listed_and_dropped(database):
    """Facts are something a namespace can hold."""
    database.store("mine").facts.write([make("f1")])

    assert database.namespaces() == ["mine"]
    assert database.drop("mine")
    assert database.store("mine").facts.count() == (0, 0)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_counting_an_access_does_not_wait_for_a_writer(kind, request):
    """It is left out, and the answer is there at once."""
    database = open_empty(kind, request)
    facts = database.store("default").facts
    facts.write([make("f1")])
    inside, done = threading.Event(), threading.Event()

    def hold():
        with facts.writing():
            inside.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert inside.wait(60)
    assert facts.touch(["f1"], at=NOW) is False
    done.set()
    holder.join()
    assert facts.touch(["f1"], at=NOW) is True
    assert facts.facts(["f1"])[0].access_count == 1
    database.close()


@pytest.mark.parametrize("kind, count", [("sqlite", 3000), ("postgres", 300)])
def test_the_closest_of_many_entities_are_found(kind, count, request, monkeypatch):
    """More than are compared by their vectors: sketches, or an index, leave the right ones in."""
    monkeypatch.setattr(postgres_vectors, "MAX_EXACT_ROWS", 100)
    database, memory = open_empty(kind, request), MemoryDatabase()
    directions = np.random.default_rng(5).standard_normal((count, 64)).astype(np.float32)
    vectors = {f"thing {n}": unit(*row) for n, row in enumerate(directions)}
    found = []
    for opened in (database, memory):
        store = opened.store("default")
        store.write_model(StoredModel(name="fake/many", fingerprint="f1", dimension=64, active=True))
        facts = [make(f"f{n}", subject=key, subject_name=key) for n, key in enumerate(vectors)]
        store.facts.write(facts)
        store.facts.write_vectors("f1", vectors)
        asked = [unit(*(directions[n] + directions[n + 1])) for n in range(20)]
        found.append([[entity.key for entity, _ in store.facts.search_vector(vector, limit=2)] for vector in asked])
    database.close()

    assert found[0] == found[1]
    assert all(set(pair) == {f"thing {n}", f"thing {n + 1}"} for n, pair in enumerate(found[0]))
