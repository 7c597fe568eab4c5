"""Values damaged by hand: `check` names them, `repair` resets or derives them, other namespaces stay unchanged."""

from dataclasses import replace
from datetime import datetime, timezone

import apsw
import psycopg
import pytest
from contract import CALIBRATION, MODEL, make_batch, unit
from logical import content
from opening import open_empty, where

from weft.errors import StoreCorrupt
from weft.records import ApiKey, Filter, Job, LlmRun, Usage
from weft.text.analyzer import query_terms
from weft.text.ids import document_id
from weft.text.searchable_metadata import searched_terms

PLUM = document_id("default", "plum")


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request):
    return request.param


@pytest.fixture
def database(kind, request):
    database = open_empty(kind, request)
    fill(database.store("default"))
    fill(database.store("other"))
    made = datetime(2026, 1, 2, tzinfo=timezone.utc)
    for id in ("a1", "b2"):
        key = ApiKey(id=id, name="server", digest=id, namespaces=("default",), access="read", created=made)
        database.keys.write(key)
    yield database
    database.close()


def fill(store):
    """Write two documents, a calibration, jobs, and what a language model cost."""
    store.write_model(MODEL)
    metadata = {"tags": ["fruit", "tree"], "rank": "3"}
    plum = make_batch("plum", ["plum pie", "plum jam"], namespace=store.namespace, metadata=metadata)
    terms = searched_terms(["plum\nplum pie", "plum\nplum jam"], metadata=metadata)
    chunks = [replace(item, terms=found) for item, found in zip(plum.chunks, terms, strict=True)]
    store.write(replace(plum, chunks=tuple(chunks)))
    store.write(make_batch("rye", ["rye bread"], namespace=store.namespace))
    store.write_calibration(CALIBRATION)
    store.spending.write(LlmRun(id="r1", at=1.0, model="m", usage=Usage(calls=2)))
    job = Job(id="j1", run="r", source="new.md", content_hash="h", recipe="x", payload="{}")
    store.jobs.enqueue([job])


@pytest.fixture
def damage(kind, request):
    """Return a function that changes tables without the store, in the namespace `default` where they have one."""
    at = where(kind, request)

    def change(statement):
        if kind == "postgres":
            statement = statement.replace("namespace = 1", "namespace = 'default'")
            with psycopg.connect(at, autocommit=True) as db:
                db.execute("SET search_path = weft, public")
                assert db.execute(statement).rowcount
        else:
            with apsw.Connection(str(at)) as db:
                db.execute(statement)
                assert db.changes()

    return change


MENDED = {
    "headings": (
        "UPDATE chunk SET heading = '[\"a' WHERE namespace = 1 AND text <> 'rye bread'",
        "headings of 2 chunks of 'plum' cannot be read",
    ),
    "labels gone": ("DELETE FROM label WHERE namespace = 1", "1 document has labels that do not match the metadata"),
    "other labels": (
        "UPDATE label SET value = '4' WHERE key = 'rank' AND namespace = 1",
        "1 document has labels that do not match the metadata",
    ),
}


@pytest.mark.parametrize("statement, said", MENDED.values(), ids=MENDED)
def test_what_can_be_derived_is_as_it_was(database, damage, kind, request, statement, said):
    """Empty headings and labels come back exactly; all tables are as before."""
    before = content(where(kind, request))
    damage(statement)

    assert [(problem.what, problem.repairable) for problem in database.check()] == [(said, True)]
    assert database.repair()
    assert database.check() == []
    assert content(where(kind, request)) == before


TERMS = {
    "terms that are no object": "UPDATE chunk SET terms = '[]' WHERE text = 'plum jam' AND namespace = 1",
    "frequencies that are none": (
        "UPDATE chunk SET terms = '{\"jam\": \"x\"}' WHERE text = 'plum jam' AND namespace = 1"
    ),
}


@pytest.mark.parametrize("statement", TERMS.values(), ids=TERMS)
def test_unreadable_terms_are_reset_and_the_document_is_indexed_again(database, damage, statement):
    """The chunk has no terms until then; the keyword index matches, and the other chunk is found."""
    damage(statement)
    store = database.store("default")

    assert [problem.what for problem in database.check()] == ["terms of 1 chunk of 'plum' cannot be read"]
    assert (
        "default: terms of 1 chunk of 'plum' could not be read; they are empty, `weft index` reads the document again"
        in database.repair()
    )
    assert database.check() == []
    assert store.documents([PLUM])[0].content_hash == ""
    assert len(store.search_keyword(query_terms("plum"), limit=9, where=Filter()).hits) == 1
    store.write(make_batch("plum", ["plum pie", "plum jam"]))
    assert len(store.search_keyword(query_terms("plum"), limit=9, where=Filter()).hits) == 2
    assert database.check() == []


def test_unreadable_metadata_is_reset_and_the_document_is_indexed_again(database, damage):
    """Its hash is deleted, so that indexing does not skip it."""
    damage("UPDATE document SET metadata = '{' WHERE source = 'plum' AND namespace = 1")
    store = database.store("default")

    with pytest.raises(StoreCorrupt, match="cannot read the metadata of 'plum'") as caught:
        store.documents([PLUM])
    assert "weft repair" in caught.value.hint
    assert [problem.what for problem in database.check()] == ["the metadata of 'plum' cannot be read"]
    assert "the metadata of 'plum' could not be read" in "\n".join(database.repair())
    assert database.check() == []
    (plum,) = store.documents([PLUM])
    assert (plum.metadata, plum.content_hash) == ({}, "")
    assert store.find_documents(Filter(metadata=(("tags", "tree"),))) == []
    (other,) = database.store("other").documents([document_id("other", "plum")])
    assert other.content_hash


LOST = {
    "calibration": ("UPDATE calibration SET value = '{}' WHERE namespace = 1", "the fitted calibration"),
    "what was spent": ("UPDATE llm_run SET usage = 'x' WHERE namespace = 1", "the cost of the run 'r1' of 'm'"),
    "a job of no state": ("UPDATE job SET state = 'odd' WHERE namespace = 1", "the job of 'new.md'"),
    "a result": (
        "UPDATE job SET state = 'done', result = '[]' WHERE namespace = 1",
        "the result of the job of 'new.md'",
    ),
}


@pytest.mark.parametrize("statement, what", LOST.values(), ids=LOST)
def test_what_cannot_be_derived_is_reset_and_named(database, damage, statement, what):
    """Reading it raises `StoreCorrupt` or skips it; the repair resets it and leaves documents unchanged."""
    damage(statement)
    store = database.store("default")

    for read in (store.calibration, store.spending.runs, store.jobs.counts):
        try:
            read()
        except StoreCorrupt as error:
            assert "weft repair" in error.hint
    assert [problem.what for problem in database.check()] == [f"{what} cannot be read"]
    assert [line for line in database.repair() if line.startswith(f"default: {what} could not be read; ")]
    assert database.check() == []
    assert len(store.spending.runs()) == 1
    store.calibration()
    assert store.jobs.collect("r", limit=9) == []
    assert store.documents([PLUM])[0].content_hash
    assert database.store("other").calibration() == CALIBRATION
    assert database.store("other").jobs.counts().waiting == 1


def test_the_result_of_a_job_that_cannot_be_read_stays_until_it_is_repaired(database, damage):
    """Collecting it raises an error and does not delete it."""
    damage("UPDATE job SET state = 'done', result = '' WHERE namespace = 1")
    store = database.store("default")

    with pytest.raises(StoreCorrupt):
        store.jobs.collect("r", limit=9)
    assert store.jobs.counts().done == 1


@pytest.mark.parametrize("column", ["namespaces", "created", "revoked"])
def test_a_key_that_cannot_be_read_is_revoked(database, damage, column):
    """Its rights are unknown. It is not deleted, because an interface without any key is open."""
    damage(f"UPDATE api_key SET {column} = 'x' WHERE id = 'a1'")

    with pytest.raises(StoreCorrupt, match="cannot read the key 'a1'"):
        database.keys.all()
    assert [problem.what for problem in database.check()] == ["the key 'a1' ('server') cannot be read"]
    assert database.repair()
    assert database.check() == []
    keys = database.keys.find(["a1", "b2"])
    assert keys["a1"].revoked
    assert (keys["b2"].revoked, keys["b2"].namespaces) == (None, ("default",))


def test_headings_that_were_there_are_left_out_until_the_document_is_read_again(database, damage):
    """Without its headings a chunk does not match its id, so the document counts as damaged."""
    damage("UPDATE document SET title = 'prune' WHERE source = 'plum' AND namespace = 1")
    damage("UPDATE chunk SET heading = 'x', terms = '1' WHERE text = 'plum pie' AND namespace = 1")

    assert len(database.check()) == 2
    database.repair()
    assert [problem.what for problem in database.check()] == [
        f"document {PLUM} does not match the text it was indexed from"
    ]
    assert database.store("default").documents([PLUM])[0].content_hash == ""


def test_a_document_with_terms_that_cannot_be_read_can_be_deleted_after_the_repair(database, damage):
    """Before it, deleting and writing raise an error that names the command, and change nothing."""
    damage("UPDATE chunk SET terms = '1' WHERE text = 'plum pie' AND namespace = 1")
    store = database.store("default")

    for change in (lambda: store.delete([PLUM]), lambda: store.write(make_batch("plum", ["new"]))):
        with pytest.raises(StoreCorrupt, match="the terms of chunk"):
            change()
    assert [chunk.text for chunk in store.find_chunks(PLUM)] == ["plum pie", "plum jam"]
    database.repair()
    assert store.delete([PLUM]) == 1
    assert database.check() == []


@pytest.mark.parametrize("kind", ["sqlite"])
def test_labels_of_no_document_are_dropped(database, damage):
    """A server never has any: it enforces what they refer to."""
    damage("INSERT INTO label VALUES (1, 999, 'a', 'b')")

    assert ("table label", "1 row refers to a missing row") in [(p.where, p.what) for p in database.check()]
    assert all(problem.repairable for problem in database.check())
    assert "deleted 1 row that referred to a missing row" in database.repair()
    assert database.check() == []


@pytest.mark.parametrize("kind", ["sqlite"])
def test_terms_that_are_no_json_are_reset(database, damage):
    """PostgreSQL cannot store them."""
    damage("UPDATE chunk SET terms = '{\"plum\":' WHERE namespace = 1")

    assert len(database.check()) == 2
    database.repair()
    assert database.check() == []
    assert database.store("default").search_keyword(query_terms("plum"), limit=9, where=Filter()).hits == ()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_vector_of_the_wrong_length_is_dropped(database, damage, kind):
    """The chunk is found by its words until it is embedded again; the other chunks are found by their vectors."""
    short = "x'0102'" if kind == "sqlite" else "'[1]'"
    chosen = "(SELECT number FROM chunk WHERE text = 'plum pie' AND namespace = 1)"
    damage(f"UPDATE chunk_vector SET vector = {short} WHERE chunk = {chosen}")
    store = database.store("default")

    assert ("1 vector has the wrong length", True) in [(p.what, p.repairable) for p in database.check()]
    assert "default: deleted 1 vector of the wrong length" in database.repair()
    assert [(p.what, p.command) for p in database.check()] == [
        ("1 chunk has no vector of 'fake/three'", "weft reembed")
    ]
    assert len(store.search_vector(unit(1, 1, 1), limit=9, where=Filter()).hits) == 2


BLOBS = {
    "a vector": ("UPDATE chunk_vector SET vector = x'0102'", "cannot read a vector of a chunk"),
    "all vectors too long": (
        "UPDATE chunk_vector SET vector = zeroblob(24)",
        "cannot read a vector of a chunk",
    ),
    "a posting": ("UPDATE posting SET entries = x'010203'", "cannot read the keyword index"),
    "bytes that are no text": ("UPDATE chunk SET text = CAST(x'ff41' AS TEXT)", "contains text that is not UTF-8"),
}


@pytest.mark.parametrize("kind", ["sqlite"])
@pytest.mark.parametrize("statement, said", BLOBS.values(), ids=BLOBS)
def test_numbers_and_text_that_cannot_be_read_are_an_error_of_ours(database, damage, statement, said):
    """A search that reads them raises an error that names the repair."""
    damage(statement)
    store = database.store("default")

    with pytest.raises(StoreCorrupt, match=said) as caught:
        store.search_vector(unit(1, 1, 1), limit=9, where=Filter())
        store.search_keyword(query_terms("plum"), limit=9, where=Filter())
        store.find_chunks(PLUM)
    assert "weft repair" in caught.value.hint


@pytest.mark.parametrize("kind", ["sqlite"])
def test_vectors_of_no_chunk_are_dropped(database, damage):
    """They mean nothing on their own."""
    damage("INSERT INTO chunk_vector (chunk, model, vector) VALUES (999, 1, x'000000000000')")

    assert [(p.where, p.repairable) for p in database.check()] == [("table chunk_vector", True)]
    assert database.repair() == ["deleted 1 row that referred to a missing row"]
    assert database.check() == []
