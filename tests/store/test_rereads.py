"""Names that many chunks contain: what their change leaves to later transactions, and who finishes it."""

import apsw
import pytest
from contract import MODEL
from graph_making import batch_of
from logical import content

from weft.errors import StoreUnavailable
from weft.store.relational import graph_mentions, graph_read
from weft.store.relational import store as relational_store
from weft.store.relational.rereads import reread_steps
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id

TEAM = "Auth Service Team"
TEXTS = [f"Auth Service or Team Paris: Zed{n}. Then {TEAM} Paris met Ledgers." for n in range(5)]
"""With the name of the team `Paris` is a name of its own, without it `Team Paris` is one."""
NAMED = [(name, ["It is named."]) for name in ("Paris", "Team Paris", "Auth Service", "Ledgers")]
DOCUMENTS = [*NAMED, ("Doc One", TEXTS)]
STARTS = {
    "a name comes": (DOCUMENTS, lambda store: store.write(batch_of(TEAM, ["They meet."]))),
    "a name goes": ([*DOCUMENTS, (TEAM, ["They meet."])], lambda store: store.delete([document_id("default", TEAM)])),
    "a name goes and comes": (
        [*DOCUMENTS, (TEAM, ["They meet."])],
        lambda store: (
            store.delete([document_id("default", TEAM)]),
            store.write(batch_of(TEAM, ["They meet again."])),
        ),
    ),
    "a name goes and another comes": (
        [*DOCUMENTS, (TEAM, ["They meet."])],
        lambda store: (
            store.delete([document_id("default", TEAM)]),
            store.write(batch_of("Zed3", ["It is named."])),
        ),
    ),
    "a name comes and goes": (
        DOCUMENTS,
        lambda store: (store.write(batch_of(TEAM, ["They meet."])), store.delete([document_id("default", TEAM)])),
    ),
}
ENDS = {
    "settle": lambda database: database.store("default").settle_graph(),
    "write": lambda database: database.store("default").write(batch_of("Nice", ["Far from here."])),
    "edit": lambda database: database.store("default").graph.write_edit("rename", "paris", "Paris, France"),
    "delete the chunks": lambda database: database.store("default").delete([document_id("default", "Doc One")]),
    "write the chunks": lambda database: database.store("default").write(batch_of("Doc One", TEXTS[:3])),
    "check": lambda database: database.check(),
    "repair": lambda database: database.repair(),
}


def open_store(path, documents=()):
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    for source, texts in documents:
        store.write(batch_of(source, texts))
    return database, store


@pytest.fixture
def two_at_a_time(monkeypatch):
    monkeypatch.setattr(graph_mentions, "MAX_REREAD_CHUNKS", 2)


@pytest.mark.usefixtures("two_at_a_time")
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("end", ENDS)
def test_whatever_comes_next_finishes_a_write_that_was_killed(tmp_path, monkeypatch, start, end):
    """The graph is the same as without the limit, and until then the number of waiting chunks is shown."""
    documents, change = STARTS[start]
    database, store = open_store(tmp_path / "killed.db", documents)
    with monkeypatch.context() as patch:
        patch.setattr(relational_store, "try_read_waiting", lambda *_: None)  # killed after its commit
        change(store)
    waiting = store.stats()
    ENDS[end](database)
    after, problems = store.stats(), database.check()
    database.close()
    monkeypatch.setattr(graph_mentions, "MAX_REREAD_CHUNKS", 1000)
    expected, other = open_store(tmp_path / "whole.db", documents)
    change(other)
    ENDS[end](expected)
    expected.close()

    assert (waiting.waiting_chunks, waiting.waiting_documents) == (5, 1)
    assert (after.waiting_chunks, after.waiting_documents) == (0, 0)
    assert problems == []
    tables, whole = content(tmp_path / "killed.db"), content(tmp_path / "whole.db")
    assert [table for table in whole if tables[table] != whole[table]] == []


@pytest.mark.usefixtures("two_at_a_time")
def test_a_popular_name_takes_several_transactions(tmp_path):
    """Each commits, so others can write and read between them."""
    database, store = open_store(tmp_path / "weft.db", DOCUMENTS)
    before = store.stats().generation
    store.write(batch_of(TEAM, ["They meet."]))
    generation = store.stats().generation
    mentions = store.graph.find_entities(["auth service team"])["auth service team"].chunks
    database.close()

    assert generation == before + 1 + 3  # the document, then five chunks
    assert mentions == 6


def test_few_chunks_are_read_in_the_transaction_of_the_write(tmp_path):
    """Nothing waits, and readers never see a name in some of its chunks only."""
    database, store = open_store(tmp_path / "weft.db", DOCUMENTS)
    before = store.stats().generation
    store.write(batch_of(TEAM, ["They meet."]))

    assert store.stats().generation == before + 1
    database.close()


@pytest.mark.usefixtures("two_at_a_time")
def test_an_error_afterwards_does_not_make_a_committed_write_fail(tmp_path, monkeypatch, caplog):
    """It is logged, and the next write reads the chunks. Who asks for the graph gets the error."""
    database, store = open_store(tmp_path / "weft.db", DOCUMENTS)

    def refuse(connections, name):
        raise StoreUnavailable("busy", hint="wait")

    with monkeypatch.context() as patch:
        patch.setattr(reread_steps, "_read_some", refuse)
        store.write(batch_of(TEAM, ["They meet."]))
        with pytest.raises(StoreUnavailable):
            store.settle_graph()
    assert "not up to date: busy" in caplog.text
    assert store.stats().waiting_chunks == 5
    store.write(batch_of("Nice", ["Far from here."]))
    assert store.stats().waiting_chunks == 0
    database.close()


@pytest.mark.usefixtures("two_at_a_time")
def test_an_edit_and_an_import_read_their_chunks_too(tmp_path, monkeypatch):
    """Every change of names ends with its chunks read."""
    database, store = open_store(tmp_path / "weft.db", DOCUMENTS)
    calls = []
    for module in (graph_read, relational_store):
        monkeypatch.setattr(module, "try_read_waiting", lambda connections, name: calls.append(name))
    store.graph.write_edit("alias", "paris", "city")
    store.annotate("import", {})
    database.close()

    assert calls == ["default", "default"]


@pytest.mark.usefixtures("two_at_a_time")
def test_namespaces_wait_apart(tmp_path, monkeypatch):
    """A write in one namespace reads no chunk of another, and dropping one leaves no row."""
    database, store = open_store(tmp_path / "weft.db", DOCUMENTS)
    monkeypatch.setattr(relational_store, "try_read_waiting", lambda *_: None)
    store.write(batch_of(TEAM, ["They meet."]))
    monkeypatch.undo()
    other = database.store("other")
    other.write_model(MODEL)
    other.write(batch_of("Paris", ["Paris is far."], namespace="other"))
    waiting = [store.stats().waiting_chunks, other.stats().waiting_chunks]
    database.drop("default")
    rows = apsw.Connection(str(tmp_path / "weft.db")).execute("SELECT count(*) FROM reread").get
    database.close()

    assert waiting == [5, 0]
    assert rows == 0


def test_chunks_with_the_words_of_a_name_alone_need_no_transactions(tmp_path, monkeypatch):
    """They are examined many at a time, and the namespace does not change."""
    monkeypatch.setattr(graph_mentions, "MAX_REREAD_CHUNKS", 2)
    texts = [f"A team in Paris, number {n}." for n in range(20)]
    database, store = open_store(tmp_path / "weft.db", [("Doc One", texts), ("Doc Two", ["See Team Paris."])])
    before = store.stats().generation
    store.write(batch_of("Team Paris", ["They meet."]))
    after = store.stats()
    problems = database.check()
    database.close()

    assert after.generation == before + 2  # the document, and the chunk that names it
    assert after.waiting_chunks == 0
    assert problems == []


def test_a_name_is_searched_in_older_chunks_after_a_deferred_write(tmp_path):
    """The chunks of the write itself are not taken for deferred ones."""
    database, store = open_store(tmp_path / "weft.db", [("Doc One", ["We met Team Paris there."])])
    store.write(batch_of("Ledger", ["Nothing here."]), defer_graph=True)
    store.write(batch_of("Team Paris", ["They meet.", "They meet again."]))
    problems = database.check()
    database.close()

    assert problems == []


def test_a_row_of_a_missing_chunk_is_found_and_deleted(tmp_path):
    open_store(tmp_path / "weft.db", DOCUMENTS)[0].close()
    db = apsw.Connection(str(tmp_path / "weft.db"))
    db.execute("INSERT INTO reread (namespace, chunk, key) VALUES (99, 99, 'paris')")
    db.close()
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    found = [problem.where for problem in database.check()]
    database.repair()
    after = database.check()
    database.close()

    assert found == ["table reread"]
    assert after == []
