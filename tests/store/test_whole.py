"""Contract for copying a namespace: all content can be read as it was written."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from contract import EVERYTHING, MODEL, make_batch, unit
from memory_store.store import MemoryDatabase
from opening import contradictions

from weft.records import Candidate, Extraction, Fact, FactEntity, FactEvent, StatedRelation
from weft.store.shared.merging import same_statements
from weft.store.shared.twelve_bits import round_to_twelve
from weft.store.sqlite.database import SqliteDatabase

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request, tmp_path):
    if request.param == "postgres":
        from weft.store.postgres.database import PostgresDatabase

        database = PostgresDatabase(request.getfixturevalue("postgres_dsn"))
    else:
        database = MemoryDatabase() if request.param == "memory" else SqliteDatabase(str(tmp_path / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    yield store
    assert contradictions(database) == []
    database.close()


def extraction(key, other, *, kind="title"):
    """Return an extraction that describes a name and relates it to another."""
    return Extraction(
        candidates=(
            Candidate(key=key, name=key.title(), kind=kind, type="service", description=f"what {key} is", about=True),
            Candidate(key=other, name=other.title(), kind="link", alias_of=key, reason="said so"),
        ),
        stated_relations=(
            StatedRelation(source=key, target=other, type="depends_on", weight=7.5, description="it does"),
        ),
    )


def enriched(source, text):
    """Return a batch whose chunk puts forward a name, with the vector of that name."""
    batch = make_batch(source, [text, f"more of {source}"], metadata={"tags": ["a", "b"], "tier": 1})
    vectors = {source: round_to_twelve(unit(1, 2, 3))}
    first = replace(batch.chunks[0], extraction=extraction(source, "other"), entity_vectors=vectors)
    return replace(batch, chunks=(first, batch.chunks[1]))


def same(first, second):
    """Tell whether two batches say the same; vectors are compared bit by bit."""

    def plain(batch):
        return replace(
            batch,
            document=replace(batch.document, chunk_count=0),
            chunks=tuple(replace(item, vector=None, entity_vectors={}) for item in batch.chunks),
        )

    return plain(first) == plain(second) and all(
        np.array_equal(a.vector, b.vector)
        and a.entity_vectors.keys() == b.entity_vectors.keys()
        and all(np.array_equal(a.entity_vectors[key], b.entity_vectors[key]) for key in a.entity_vectors)
        for a, b in zip(first.chunks, second.chunks, strict=True)
    )


def test_documents_are_read_as_they_were_written(store):
    """In the order asked for, with terms, vectors and what their chunks put forward."""
    first, second = enriched("auth", "the auth service"), enriched("login", "the login flow")
    store.write(first, second)

    read = store.batches([second.document.id, "nope", first.document.id])
    assert len(read) == 2
    assert same(read[0], second)
    assert same(read[1], first)
    assert [batch.document.chunk_count for batch in read] == [2, 2]


def test_what_was_read_can_be_written_again(store):
    """The write changes nothing."""
    batch = enriched("auth", "the auth service")
    store.write(batch)
    store.write(*store.batches([batch.document.id]))

    assert same(store.batches([batch.document.id])[0], batch)


def test_without_an_embedder_there_are_no_vectors(tmp_path):
    """The batch says so too."""
    database = SqliteDatabase(str(tmp_path / "plain.db"))
    store = database.store("default")
    store.write(make_batch("a", ["alpha"], model=""))
    (read,) = store.batches([store.find_documents(EVERYTHING)[0].id])
    database.close()

    assert read.model == ""
    assert [item.vector for item in read.chunks] == [None]


def test_what_imports_say_is_read_beside_the_documents(store):
    """By the import's name and the chunk's id; it is no part of the document."""
    batch = enriched("auth", "the auth service")
    store.write(batch)
    first, second = (item.chunk.id for item in batch.chunks)
    assert store.annotations.origins() == []
    said = {second: extraction("gateway", "auth", kind="given")}
    store.annotations.write("b.json", said)
    store.annotations.write("a.json", {first: extraction("token", "auth", kind="given")})
    store.graph.write_vectors(MODEL.fingerprint, {(second, "gateway"): unit(3, 2, 1)})

    assert store.annotations.origins() == ["a.json", "b.json"]
    assert store.annotations.read("b.json").keys() == {second}
    assert same_statements(store.annotations.read("b.json")[second], said[second])
    assert store.annotations.read("none") == {}
    assert same(store.batches([batch.document.id])[0], batch)
    vectors = store.graph.vectors([first, second, "nope"])
    assert vectors.keys() == {(first, "auth"), (second, "gateway")}
    assert np.array_equal(vectors[second, "gateway"], round_to_twelve(unit(3, 2, 1)))
    assert store.graph.vectors([first]).keys() == {(first, "auth")}
    store.annotations.write("a.json", {})
    store.annotations.write("b.json", {})
    assert store.annotations.origins() == []


def make_fact(id, **fields):
    made = Fact(id=id, subject="user", subject_name="User", predicate="prefers", value="tea", created=NOW)
    return replace(made, **fields)


def added(id):
    return FactEvent(fact_id=id, at=NOW, action="added")


def test_a_fact_is_restored_with_its_whole_life(store):
    """Accesses, history and the documents that state it are exactly as given, whatever was there before."""
    batch = make_batch("a", ["alpha"])
    store.write(batch)
    store.facts.write([make_fact("f1", value="coffee")], events=[added("f1")])
    store.facts.touch(["f1"], at=NOW + timedelta(days=9))
    fact = make_fact("f1", confidence=0.5, last_accessed=NOW, access_count=3, status="confirmed")
    life = [added("f1"), FactEvent(fact_id="f1", at=NOW, action="confirmed", detail="by hand")]
    for _ in range(2):
        store.facts.restore([fact], events=life, origins={"f1": [batch.document.id, ""]})

    assert store.facts.facts(["f1"]) == [fact]
    assert store.facts.history("f1") == life
    assert store.facts.origins(["f1"]) == {"f1": ("", batch.document.id)}
    store.delete([batch.document.id])
    assert store.facts.facts(["f1"]) == [fact]
    store.facts.restore([fact], events=life)
    assert store.facts.origins(["f1"]) == {}


def test_an_entity_is_restored_as_it_is_elsewhere(store):
    """Its name and description give way; a vector of what it was goes with them."""
    store.facts.write([make_fact("f1")], events=[added("f1")], entities=[FactEntity(key="user", name="User")])
    store.facts.write_vectors(MODEL.fingerprint, {"user": unit(1, 1, 1)})
    assert np.array_equal(store.facts.vectors(["user", "nope"])["user"], unit(1, 1, 1))
    generation = store.facts.generation()
    given = FactEntity(key="user", name="The User", description="who asks", type="person", declared=True)
    store.facts.restore([], entities=[given])

    assert store.facts.find_entities(["user"]) == {"user": given}
    assert store.facts.facts(["f1"])[0].subject_name == "The User"
    assert store.facts.vectors(["user"]) == {}
    assert store.facts.search_names(["user"], limit=5) == [(given, 1)]
    assert store.facts.generation() > generation
