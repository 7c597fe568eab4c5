"""Writers of different parts do not wait for each other, and the graph follows the text from an outbox."""

from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread

import psycopg
import pytest
from contract import EVERYTHING, MODEL, make_batch
from graph_making import batch_of, view
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_graph import STEPS, play, settle
from test_parts import rankings, texts

from weft.errors import InputError
from weft.records import Done, Extraction, Filter, Job, JobResult, Nomination
from weft.store.memory.store import MemoryDatabase
from weft.store.postgres import store as postgres_store
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.outbox_entries import accepts
from weft.store.postgres.part_names import part_of
from weft.store.postgres.store import PostgresStore
from weft.text.analyzer import query_terms
from weft.text.ids import document_id

PATIENCE_S = 60


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


@contextmanager
def settling_elsewhere(dsn):
    """Hold the lock of the home in the block, as a settler does."""
    with psycopg.connect(dsn) as db:
        db.execute("SELECT set_config('weft.namespace', 'default', TRUE)")
        db.execute("SELECT 1 FROM weft.namespace WHERE namespace = 'default' FOR UPDATE")
        yield
        db.rollback()


def everything(store):
    return {**texts(store), **view(store), "rankings": rankings(store)}


def in_other_parts(count):
    """Return sources of documents, each in another part."""
    found = {}
    for number in range(100):
        found.setdefault(part_of("default", document_id("default", f"Doc {number}"), 4), f"Doc {number}")
    return list(found.values())[:count]


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(steps=STEPS, kept=st.lists(st.booleans(), min_size=9, max_size=9))
def test_any_history_with_a_lagging_graph_ends_like_its_outcome(postgres_dsn, steps, kept):
    """Some writes leave their entries to whoever comes next; in the end all is as in the store in memory."""
    database, memory = PostgresDatabase(postgres_dsn), MemoryDatabase()
    database.drop("default")
    database.create("default", parts=4)
    stores = [opened.store("default") for opened in (database, memory)]
    long, short = settle(steps)
    for store in stores:
        store.write_model(MODEL)
    with pytest.MonkeyPatch.context() as patch:
        busy = iter(kept * 9)

        def settle_unless_busy(self, *, wait):
            if wait or not next(busy):
                original(self, wait=wait)

        original = PostgresStore._settle
        patch.setattr(PostgresStore, "_settle", settle_unless_busy)
        play(stores[0], long)
    play(stores[1], short)

    divided, whole = map(everything, stores)
    for what in divided:
        assert divided[what] == whole[what], what
    assert stores[0].stats().waiting_documents == 0
    assert database.check() == []
    database.close()


def test_a_writer_waits_neither_for_another_part_nor_for_a_settler(database, store, postgres_dsn):
    """One writer is in the middle of its transaction, another one settles, and a third one commits its text."""
    first, second = in_other_parts(2)
    began, end = Event(), Event()

    def write_slowly():
        with database._connections.write_documents("default", [document_id("default", first)]) as db:
            store._write_text(db, [make_batch(first, ["alpha"])], done=None)
            began.set()
            assert end.wait(PATIENCE_S)

    thread = Thread(target=write_slowly)
    thread.start()
    assert began.wait(PATIENCE_S)
    with settling_elsewhere(postgres_dsn):
        store.write(batch_of(second, ["Paris is near Lyon."]))
        found = store.search_keyword(query_terms("paris"), limit=9, where=EVERYTHING).hits
        assert store.stats().waiting_documents == 1
    end.set()
    thread.join()
    assert len(found) == 1
    assert {document.source for document in store.find_documents(Filter())} == {first, second}
    assert store.stats().waiting_documents == 2
    store.settle_graph()
    assert store.stats().waiting_documents == 0
    assert database.check() == []


def test_writers_at_once_lose_nothing(database, postgres_dsn, store):
    """Four threads with databases of their own write, rewrite and delete documents of all parts."""
    failed = []

    def run(writer):
        mine = PostgresDatabase(postgres_dsn)
        try:
            own = mine.store("default")
            for turn in range(3):
                own.write(*(batch_of(f"W{writer} D{n}", [f"Paris {turn} {n}.", f"Lyon {writer}."]) for n in range(4)))
            own.delete([document_id("default", f"W{writer} D0")])
        except Exception as error:  # noqa: BLE001  of any kind; the test fails in its own thread
            failed.append(error)
        finally:
            mine.close()

    threads = [Thread(target=run, args=[writer]) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.settle_graph()
    memory = MemoryDatabase().store("default")
    memory.write_model(MODEL)
    for writer in range(4):
        memory.write(*(batch_of(f"W{writer} D{n}", [f"Paris 2 {n}.", f"Lyon {writer}."]) for n in range(1, 4)))

    assert failed == []
    divided, whole = everything(store), everything(memory)
    for what in divided:
        assert divided[what] == whole[what], what
    assert database.check() == []


@pytest.mark.parametrize("then", ["write", "settle", "edit", "annotate", "facts", "model", "check", "repair"])
def test_entries_of_a_killed_writer_are_settled_by_whatever_comes_next(postgres_dsn, store, then, monkeypatch):
    """A process is killed between the commit of its text and the graph."""

    def kill(self, *, wait):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PostgresStore, "_settle", kill)
        with pytest.raises(KeyboardInterrupt):
            store.write(batch_of("Paris", ["Paris is near Lyon."]))
    database = PostgresDatabase(postgres_dsn)
    later = database.store("default")
    assert len(later.search_keyword(["lyon"], limit=9, where=EVERYTHING).hits) == 1
    assert later.graph.find_entities(["paris"]) == {}
    assert later.stats().waiting_documents == later.stats().waiting_chunks == 1
    match then:
        case "write":
            later.write(batch_of("Nice", ["Far."]))
        case "settle":
            later.settle_graph()
        case "edit":
            later.graph.write_edit("alias", "paris", "capital")
        case "annotate":
            later.annotate("import", {})
        case "facts":
            later.facts.forget(["unknown"])
        case "model":
            later.write_model(MODEL)
        case "check":
            assert database.check() == []
        case "repair":
            database.repair()

    assert later.graph.find_entities(["paris"])["paris"].chunks == 1
    assert later.stats().waiting_documents == 0
    assert database.check() == []
    database.close()


def test_a_deleted_document_is_gone_at_once_though_the_graph_still_has_it(database, store, postgres_dsn):
    """Readers skip mentions and sources in chunks whose text is deleted."""
    store.write(batch_of("Paris", ["Paris is near [Lyon](Lyon)."]), batch_of("Lyon", ["Lyon is near Paris."]))
    paris = store.graph.find_entities(["paris"])["paris"]
    (gone,) = (chunk.id for chunk in store.find_chunks(document_id("default", "Paris")))
    relations = store.graph.relations_of([paris.id], limit=9)
    assert gone in {mention.chunk_id for mention in store.graph.mentions_of([paris.id], limit=9)}
    with settling_elsewhere(postgres_dsn):
        assert store.delete([document_id("default", "Paris")]) == 1
        mentions = store.graph.mentions_of([paris.id], limit=9)
        described = store.graph.describe(relations)
        seen = store.search_keyword(["near"], limit=9, where=EVERYTHING).hits
        assert store.stats().documents == store.stats().waiting_documents == 1
        assert store.graph.mentions_in([gone]) == []
        assert store.graph.broken_links() == []
    assert mentions
    assert gone not in {mention.chunk_id for mention in mentions}
    assert relations
    assert all(gone not in relation.chunks for relation in described)
    assert gone not in {hit.chunk_id for hit in seen}
    store.settle_graph()
    assert store.stats().waiting_documents == 0
    assert database.check() == []


LONG = "".join(map(chr, range(300, 3300)))


@pytest.mark.parametrize(
    ("name", "message"), [("a\x00b", "NUL"), ("\ud800", "surrogates"), (LONG, "too long for PostgreSQL")]
)
def test_what_the_graph_refuses_is_refused_with_the_text(database, store, name, message):
    """Such an entry could never be settled. Nothing of the document is written."""
    batch = make_batch("Doc", ["alpha"])
    extraction = Extraction(nominations=(Nomination(key=name, name=name, kind="title"),))
    (item,) = batch.chunks
    with pytest.raises(InputError, match=message):
        store.write(type(batch)(document=batch.document, chunks=(_with(item, extraction),), model=batch.model))

    assert store.stats().documents == store.stats().waiting_documents == 0
    assert database.check() == []


def _with(item, extraction):
    return type(item)(chunk=item.chunk, terms=item.terms, vector=item.vector, extraction=extraction)


def test_jobs_are_finished_with_the_text(store, postgres_dsn):
    """A job is done as soon as its document is found, though another process settles."""
    id = document_id("default", "Paris")
    job = Job(id=id, run="r", source="Paris", content_hash="h", recipe="x", payload="{}")
    store.jobs.enqueue([job])
    assert store.jobs.claim("w", recipe="x", limit=1, lease=60, attempts=3)
    with settling_elsewhere(postgres_dsn):
        done = Done(worker="w", results={id: JobResult(outcome="added")})
        store.write(batch_of("Paris", ["Paris is far."]), done=done)
        assert store.jobs.counts("r").done == 1
    assert store.stats().waiting_documents == 1


def test_documents_are_divided_by_part(store):
    sources = in_other_parts(3)
    ids = [document_id("default", source) for source in sources]

    assert sorted(store.divide(ids)) == sorted([id] for id in ids)
    assert MemoryDatabase().store("default").divide(ids) == [ids]


@pytest.mark.parametrize("error", [RuntimeError("no graph"), psycopg.OperationalError("connection lost")])
def test_an_error_of_the_graph_does_not_repeat_what_is_committed(store, monkeypatch, caplog, error):
    """The text is committed; the next settler adds it to the graph."""

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(postgres_store, "settle_some", fail)
        store.write(batch_of("Paris", ["A city."]), batch_of("Lyon", ["Near Paris."]))
        assert store.delete([document_id("default", "Lyon")]) == 1
    assert "was not updated" in caplog.text
    store.settle_graph()
    assert store.graph.find_entities(["paris"])["paris"].chunks == 1


def test_a_settler_adds_what_was_written_meanwhile(database, store, monkeypatch):
    """The other writer found the home locked and has returned."""
    other, has_written = database.store("default"), []
    settle_some = postgres_store.settle_some

    def write_too(db, namespace, *, last):
        found = settle_some(db, namespace, last=last)
        if not found and not has_written:
            has_written.append(True)
            thread = Thread(target=other.write, args=(batch_of("Lyon", ["A city."]),))
            thread.start()
            thread.join(PATIENCE_S)
        return found

    monkeypatch.setattr(postgres_store, "settle_some", write_too)
    store.write(batch_of("Paris", ["A city."]))
    assert has_written
    assert store.stats().waiting_documents == 0
    assert "lyon" in store.graph.find_entities(["lyon"])


def test_two_long_keys_are_too_long_for_a_relation():
    key = "k" * 1100
    batch = make_batch("Paris", texts=["A city."])
    item = batch.chunks[0]
    long = replace(item, extraction=Extraction(nominations=(Nomination(key=key, name="K", kind="name"),)))
    assert accepts(batch, namespace="default")
    assert not accepts(replace(batch, chunks=(long,)), namespace="default")
