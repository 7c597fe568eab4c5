"""Damaged facts are reported by `check` and fixed by `repair`."""

from dataclasses import replace
from datetime import datetime, timezone

import apsw
import numpy as np
import pytest
from logical import content

from weft.config import MemoryOptions, SplitOptions
from weft.index.note_facts import make_fact_reader
from weft.index.plan import make_batch, make_plan
from weft.records import Document, Fact, FactEntity, FactEvent, StoredModel
from weft.store.sqlite.database import SqliteDatabase

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
FACT = Fact(id="f1", subject="user", subject_name="User", predicate="prefers", value="tea", created=NOW)


@pytest.fixture
def path(tmp_path):
    """Give a file with facts."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    fill_facts(database)
    assert database.check() == []
    database.close()
    return path


def fill_facts(database):
    """Write facts by hand, one of a document, a thing of its own, and vectors."""
    store = database.store("default")
    facts = [FACT, replace(FACT, id="f2", value="JACQ", object="jacq", predicate="works_on", supersedes="f1")]
    events = [FactEvent(fact_id=fact.id, at=NOW, action="added") for fact in facts]
    events.append(FactEvent(fact_id="f2", at=NOW, action="strengthened", other="f1"))
    store.facts.write(facts, events=events, entities=[FactEntity(key="atlas", name="Atlas", declared=True)])
    fact_reader = make_fact_reader(namespace="default", options=MemoryOptions(), now=NOW)
    document = Document(source="a.md", title="Auth Service", text="- Status: live\n", form="markdown")
    plan = make_plan(document, store=store, options=SplitOptions(), fact_reader=fact_reader)
    store.write(make_batch(plan, vectors={}, model=""))
    store.write_model(StoredModel(name="fake/eight", fingerprint="f1", dimension=8, active=False))
    store.facts.write_vectors("f1", {"user": np.eye(8, dtype=np.float32)[0]})
    store.facts.write_text_vectors("f1", {"f1": np.eye(8, dtype=np.float32)[1]})


BREAKS = {
    "an entity is lost": ("DELETE FROM fact_entity WHERE key = 'user'", "1 entity used by facts is missing"),
    "an object is lost": ("DELETE FROM fact_entity WHERE key = 'jacq'", "1 entity used by facts is missing"),
    "an entity nobody needs": (
        "INSERT INTO fact_entity (namespace, key, name, description) VALUES (1, 'x', 'X', '')",
        "1 entity is used by no fact",
    ),
    "words are lost": ("DELETE FROM fact_word WHERE key = 'user'", "the words of the fact entities are wrong"),
    "a wrong word": (
        "INSERT INTO fact_word (namespace, word, key, size) VALUES (1, 'tea', 'user', 1)",
        "the words of the fact entities are wrong",
    ),
    "a wrong content": ("UPDATE fact SET content = 'x' WHERE id = 'f1'", "1 fact has a wrong content hash"),
    "a counter below zero": ("UPDATE fact SET accesses = -3 WHERE id = 'f1'", "1 fact has a wrong access count"),
    "accesses without a time": ("UPDATE fact SET accesses = 3 WHERE id = 'f1'", "1 fact has a wrong access count"),
    "a time without accesses": ("UPDATE fact SET accessed = 3 WHERE id = 'f1'", "1 fact has a wrong access count"),
    "an access in the year 9999": (
        "UPDATE fact SET accesses = 1, accessed = 253402300799000000 WHERE id = 'f1'",
        "1 fact has its last access in the future",
    ),
    "a history of nothing": (
        "INSERT INTO fact_event VALUES (1, 'f9', 1, 0, 'added', '', '')",
        "1 history belongs to a missing fact",
    ),
    "no history": ("DELETE FROM fact_event WHERE fact = 'f1'", "1 fact has no `added` event"),
    "a history without a beginning": (
        "DELETE FROM fact_event WHERE fact = 'f2' AND place = 1",
        "1 fact has no `added` event",
    ),
    "it supersedes nothing": (
        "UPDATE fact SET supersedes = 'f9' WHERE id = 'f1'",
        "1 missing fact is referred to",
    ),
    "an event refers to nothing": (
        "UPDATE fact_event SET other = 'f9' WHERE fact = 'f1'",
        "1 missing fact is referred to",
    ),
    "an origin of nothing": ("INSERT INTO fact_origin VALUES (1, 'f9', '')", "1 origin of a fact is invalid"),
    "an origin without document": ("INSERT INTO fact_origin VALUES (1, 'f1', '')", "1 origin of a fact is invalid"),
    "an origin in no document": ("INSERT INTO fact_origin VALUES (1, 'f1', 'd9'), (1, 'f1', '')", "1 origin of a fact"),
    "the document is gone": ("UPDATE fact_origin SET document = 'd9'", "1 origin of a fact is invalid"),
    "a fact vector too short": ("UPDATE fact_text_vector SET vector = x'00'", "1 vector of a fact is invalid"),
    "a vector of nobody": ("UPDATE fact_vector SET key = 'x'", "1 vector of a fact entity is invalid"),
    "a vector too short": ("UPDATE fact_vector SET vector = x'00'", "1 vector of a fact entity is invalid"),
    "a wrong sketch": ("UPDATE fact_vector SET sketch = x'00'", "1 vector of a fact entity is invalid"),
    "a vector of no embedder": ("UPDATE fact_vector SET model = 99", "1 row refers to a missing row"),
    "events of no namespace": (
        "UPDATE fact_event SET namespace = 9 WHERE fact = 'f2'",
        "2 rows refer to a missing row",
    ),
    "a fact of no namespace": ("UPDATE fact SET namespace = 9 WHERE id = 'f2'", "1 row refers to a missing row"),
}


def break_it(path, statement):
    db = apsw.Connection(str(path))
    db.execute(statement)
    db.close()


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_broken_is_reported_and_mended(path, name):
    """Each fault is named, can be repaired, and is gone afterwards."""
    statement, said = BREAKS[name]
    break_it(path, statement)
    database = SqliteDatabase(str(path))
    problems = database.check()

    assert any(said in problem.what for problem in problems), problems
    assert all(problem.repairable for problem in problems)
    assert any("facts" in line or "deleted" in line for line in database.repair())
    assert database.check() == []
    assert database.repair() == []
    database.close()


@pytest.mark.parametrize(
    "change", ["status = 'gone'", "confidence = 1.5", "valid_to = created - 1"], ids=lambda change: change
)
def test_impossible_values_are_reported_and_left_to_the_user(path, change):
    """The correct values are unknown."""
    break_it(path, f"UPDATE fact SET {change} WHERE id = 'f1'")
    database = SqliteDatabase(str(path))
    (problem,) = database.check()

    assert (problem.what, problem.repairable) == ("impossible values in facts: f1", False)
    database.close()


def test_a_fact_of_a_document_that_is_gone_goes_with_it(path):
    """`repair` deletes it like the deletion of the document; manual facts and declared entities stay."""
    break_it(path, "UPDATE fact_origin SET document = 'd9'")
    database = SqliteDatabase(str(path))
    database.repair()
    facts = database.store("default").facts

    assert [fact.id for fact in facts.facts_after("", limit=9)] == ["f1", "f2"]
    assert facts.find_entities(["auth service", "atlas"]).keys() == {"atlas"}
    database.close()


def test_a_sound_file_is_left_as_it_is(path):
    """Repairing changes no row."""
    before = content(path)
    database = SqliteDatabase(str(path))
    assert database.repair() == []
    database.close()

    assert content(path) == before
