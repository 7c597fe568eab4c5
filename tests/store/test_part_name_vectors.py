"""Vectors of names of a namespace in several parts are in the part of the document that describes the name."""

from base64 import b64encode
from dataclasses import replace
from json import dumps, loads

import psycopg
import pytest
from contract import MODEL, unit
from graph_making import batch_of, view
from test_buckets import BUCKETS, places
from test_graph_soundness import fill
from test_outbox import settling_elsewhere

from weft.records import Extraction, Nomination
from weft.store.memory.store import MemoryDatabase
from weft.store.postgres import schema
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.part_names import part_of
from weft.store.postgres.session import PostgresSession
from weft.text.ids import document_id


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    database.create("default", parts=4)
    yield database
    database.close()


@pytest.fixture
def store(database):
    store = database.store("default")
    store.write_model(MODEL)
    return store


@pytest.fixture
def server(postgres_dsn):
    """Give a connection that sees the rows of all namespaces."""
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        yield db


def vectors(server):
    """Return the part, chunk and key of each vector."""
    return set(server.execute("SELECT namespace, chunk, key FROM weft.entity_vector").fetchall())


def test_vectors_are_in_the_part_of_their_document(database, server):
    """Those that an import describes too; the home has none."""
    fill(database)
    asked = (
        "SELECT v.namespace, d.id FROM weft.entity_vector AS v JOIN weft.chunk AS c ON c.namespace = v.namespace"
        " AND c.number = v.chunk JOIN weft.document AS d ON d.namespace = v.namespace AND d.number = c.document"
    )
    rows = server.execute(asked).fetchall()

    assert len(rows) == sum(places(server, "entity_vector").values()) > 5
    assert len({part for part, _ in rows}) > 1
    assert all(part == part_of("default", document, 4) for part, document in rows)
    assert ("rome",) in server.execute("SELECT key FROM weft.entity_vector").fetchall()
    assert database.check() == []


def test_vectors_follow_the_text_before_the_graph_does(store, server, postgres_dsn):
    """The entry of the outbox has no vectors, and the settler writes none."""
    with settling_elsewhere(postgres_dsn):
        store.write(batch_of("Doc 1", ["Paris is here.", "AS"]), batch_of("Doc 2", ["Ledgers"]))
        written = vectors(server)
        assert len(written) == 3
        assert max(len(text) for (text,) in server.execute("SELECT statements FROM weft.outbox")) < 2000
        store.delete([document_id("default", "Doc 2")])
        assert len(vectors(server)) == 2
    store.settle_graph()

    assert vectors(server) < written
    store.delete([document_id("default", "Doc 1")])
    assert vectors(server) == set()


@pytest.mark.parametrize("count", [1, 4])
def test_a_rewritten_document_keeps_the_vectors_that_an_import_describes(postgres_dsn, server, count):
    """Names that nothing describes any more lose theirs, in the store in memory too."""
    database = PostgresDatabase(postgres_dsn)
    database.create("default", parts=count)
    stores = [database.store("default"), MemoryDatabase().store("default")]
    given = Nomination(key="rome", name="Rome", kind="given", description="A city.")
    own = [Nomination(key=key, name=key, kind="title", description="A city.") for key in ("lyon", "metz")]
    first = batch_of("Doc 1", ["Paris is here."])
    (item,) = first.chunks
    found = {}
    for store in stores:
        store.write_model(MODEL)
        for names in (own, own[:1]):
            described = {name.key: unit(1, 2, 3) for name in names}
            extraction = Extraction(nominations=tuple(names))
            store.write(replace(first, chunks=(replace(item, extraction=extraction, entity_vectors=described),)))
            if names == own:
                store.annotate(
                    "cities",
                    {item.chunk.id: Extraction(nominations=(given, own[1]))},
                    vectors={(item.chunk.id, key): unit(3, 1, 2) for key in ("rome", "metz")},
                )
        found[store] = [set(store.graph.vectors([item.chunk.id]))]
        store.annotate("cities", {item.chunk.id: Extraction(nominations=(given,))})
        found[store].append(set(store.graph.vectors([item.chunk.id])))
        store.graph.write_vectors(
            MODEL.fingerprint, {(item.chunk.id, "rome"): unit(1, 1, 1), ("none", "rome"): unit(1)}
        )
        store.annotate("cities", {})
        found[store].append(set(store.graph.vectors([item.chunk.id])))

    keys = [{key for _, key in some} for some in found[stores[0]]]
    assert keys == [{"lyon", "metz", "rome"}, {"lyon"}, {"lyon"}]
    assert found[stores[0]] == found[stores[1]]
    assert database.check() == []
    database.close()


def test_a_write_sends_as_many_statements_about_vectors_with_eight_parts_as_with_four(database, monkeypatch):
    """They concern the part of the document only."""
    sent, real = [], {name: getattr(PostgresSession, name) for name in ("_execute", "run_many")}
    for method, original in real.items():
        monkeypatch.setattr(
            PostgresSession,
            method,
            lambda self, name, *a, original=original, **o: sent.append(name) or original(self, name, *a, **o),
        )
    counts = {}
    for parts in (4, 8):
        database.create(f"with {parts}", parts=parts)
        store = database.store(f"with {parts}")
        store.write_model(MODEL)
        sent.clear()
        for texts in (["Paris.", "Rome."], ["Paris.", "Lyon."]):
            store.write(batch_of("Doc", texts, namespace=f"with {parts}"))
        store.delete([document_id(f"with {parts}", "Doc")])
        counts[parts] = [name for name in sent if "name_vector" in name or "entity_vector" in name]

    assert counts[4] == counts[8]
    assert set(counts[4]) == {"write_entity_vector", "name_vector_keys"}


def test_missing_vectors_are_found_in_the_order_of_chunks(database, store):
    """Pages of names are looked up in all parts; a limit returns the first."""
    whole = database.store("whole")
    whole.write_model(MODEL)
    for own in (store, whole):
        for number in range(8):
            batch = batch_of(f"Doc {number}", ["Paris.", "Rome."])
            items = tuple(replace(item, entity_vectors={}) for item in batch.chunks[number % 2 :])
            own.write(replace(batch, chunks=(*batch.chunks[: number % 2], *items)))

    for limit in (1, 5, 99):
        found = [own.graph.find_unembedded(MODEL.fingerprint, limit=limit) for own in (store, whole)]
        assert found[0] == found[1] != {}
    store.graph.write_vectors(MODEL.fingerprint, {at: unit(1, 2, 3) for at in found[0]})
    assert store.graph.find_unembedded(MODEL.fingerprint, limit=1) == {}


def test_names_of_documents_that_wait_for_the_graph_need_no_vector(store, postgres_dsn):
    """The home still has the names of the old text; they neither get vectors nor take the places of others."""
    first, deleted = (batch_of(source, ["Paris is here.", "Rome."]) for source in ("Doc 1", "Doc 2"))
    item = first.chunks[0]
    names = [Nomination(key=key, name=key, kind="title", description="A city.") for key in ("lyon", "metz")]

    def described(*keys):
        extraction = Extraction(nominations=tuple(name for name in names if name.key in keys))
        vectors = {key: unit(1, 2, 3) for key in keys}
        return replace(first, chunks=(replace(item, extraction=extraction, entity_vectors=vectors),))

    bare = batch_of("Doc 3", ["Paris is there."])
    bare = replace(bare, chunks=tuple(replace(item, entity_vectors={}) for item in bare.chunks))
    store.write(described("lyon", "metz"), deleted, bare)
    missing = store.graph.find_unembedded(MODEL.fingerprint, limit=99)
    assert missing and {id for id, _ in missing} == {item.chunk.id for item in bare.chunks}
    with settling_elsewhere(postgres_dsn):
        store.write(described("lyon"))
        store.delete([document_id("default", "Doc 2")])
        for limit in (len(missing), 99):
            assert store.graph.find_unembedded(MODEL.fingerprint, limit=limit) == missing
    store.settle_graph()
    assert store.graph.find_unembedded(MODEL.fingerprint, limit=99) == missing


# ── check and repair ────────────────────────────────────────────────────────────────────────────


def test_vectors_in_the_home_are_found_and_moved(database, server):
    store = fill(database)
    before, rows = view(store), vectors(server)
    server.execute("UPDATE weft.entity_vector SET namespace = 'default'")
    found = [problem.what for problem in database.check()]
    database.repair()

    assert f"{len(rows)} vectors of names are in the home" in found
    assert vectors(server) == rows
    assert view(store) == before
    assert database.check() == []


def test_strays_in_parts_are_found_and_deleted(database, server):
    """A name that the chunk does not describe, and a vector of another length."""
    fill(database)
    rows = vectors(server)
    copied = "SELECT namespace, model, chunk, 'no such name', vector FROM weft.entity_vector LIMIT 1"
    server.execute(f"INSERT INTO weft.entity_vector {copied}")
    server.execute("UPDATE weft.entity_vector SET vector = '[1, 0]' WHERE key = 'rome'")
    found = [problem.what for problem in database.check()]
    database.repair()

    assert any("vectors of names match no description" in what for what in found)
    assert vectors(server) == {row for row in rows if row[2] != "rome"}


def test_vectors_of_chunks_that_the_home_has_lost_are_kept(database, server):
    """Their descriptions are unknown, and only a model could compute the vectors again."""
    fill(database)
    rows = vectors(server)
    server.execute("DELETE FROM weft.chunk WHERE namespace = 'default'")
    server.execute("DELETE FROM weft.nomination WHERE namespace = 'default'")
    found = [problem.what for problem in database.check()]
    database.repair()

    assert not any("vectors of names match no description" in what for what in found)
    assert vectors(server) == rows


# ── migration ───────────────────────────────────────────────────────────────────────────────────


class InterruptedAtSecondNamespace(psycopg.Connection):
    """A connection whose user gives up after the vectors of one namespace were moved."""

    def execute(self, query, params=None, **options):
        if isinstance(query, str) and "DELETE FROM weft.entity_vector" in query and params["namespace"] == "second":
            raise KeyboardInterrupt
        return super().execute(query, params, **options)


def put_into_entries(server):
    """Move the vectors of documents that wait for the graph into their entries, as versions before schema 17 do."""
    for part, number, text in server.execute("SELECT namespace, number, statements FROM weft.outbox").fetchall():
        values = loads(text) if text else {"chunks": []}
        for chunk in values["chunks"]:
            keys = {nomination[0] for nomination in chunk[5] if nomination[4]}
            vector = b64encode(unit(1, 2, 3).astype("<f4").tobytes()).decode()
            chunk.append(dict.fromkeys(sorted(keys), vector))
            server.execute("DELETE FROM weft.entity_vector WHERE namespace = %s AND chunk = %s", [part, chunk[0]])
        if text:
            server.execute("UPDATE weft.outbox SET statements = %s WHERE number = %s", [dumps(values), number])


def test_vectors_move_from_the_home_and_from_entries_to_the_parts(postgres_dsn, server):
    """Two namespaces of schema 16 with four parts, one with one part, waiting documents, and an interruption."""
    database = PostgresDatabase(postgres_dsn)
    for name in ("default", "second"):
        database.create(name, parts=4)
    stores = [fill(database, name) for name in ("default", "second", "whole")]
    with settling_elsewhere(postgres_dsn):
        stores[0].write(batch_of("Paris", ["Paris is elsewhere."]), batch_of("Waiting", ["Rome.", "Lyon."]))
        stores[0].write(batch_of("Waiting", ["Rome.", "Metz."]))
        stores[0].delete([document_id("default", "Ledger")])
        before, rows = [view(store) for store in stores], vectors(server)
        put_into_entries(server)
        assert vectors(server) < rows
        for name in ("default", "second"):
            server.execute(
                "UPDATE weft.entity_vector AS v SET namespace = %(name)s FROM weft.chunk AS c"
                " WHERE v.namespace LIKE %(parts)s AND c.namespace = %(name)s AND c.number = v.chunk",
                {"name": name, "parts": f"{name}\x1f%"},
            )
        assert places(server, "entity_vector").keys() >= {"default", "second", "whole"}
        server.execute("UPDATE weft.schema_version SET version = 16")
    with InterruptedAtSecondNamespace.connect(postgres_dsn, autocommit=True) as db, pytest.raises(KeyboardInterrupt):
        schema.migrate(db, where="here")
    assert places(server, "entity_vector").keys() <= {*BUCKETS, "second", "whole"}
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        assert schema.migrate(db, where="here") == ["schema 17", "schema 18"]

    assert vectors(server) == rows
    assert [view(store) for store in stores][1:] == before[1:]
    stores[0].settle_graph()
    assert database.check() == []
    database.close()
