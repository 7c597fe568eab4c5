"""Behaviour of the SQLite adapter beyond the contract."""

import gc
import os
import re
import signal
import threading
import time
from contextlib import closing, nullcontext
from pathlib import Path

import apsw
import pytest
from contract import EVERYTHING, MODEL, StoreContract, keyword, make_batch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logical import content
from memory_store.store import MemoryDatabase

from weft import open_engine
from weft.errors import InputError, SchemaMismatch, StoreCorrupt, StoreError, StoreUnavailable, WeftError
from weft.store.sqlite import connect
from weft.store.sqlite.database import SqliteDatabase
from weft.text.analyzer import query_terms
from weft.text.ids import document_id


class TestSqliteStore(StoreContract):
    kind = "sqlite"


class TestSqliteInMemory(StoreContract):
    kind = "sqlite in memory"


class TestSqliteWithoutVectorExtension(StoreContract):
    kind = "sqlite without sqlite-vec"

    def test_a_note_names_the_reason(self, database):
        """It answers more slowly, and says why."""
        assert "numpy" in database.notes[0]


TEXTS = st.lists(st.sampled_from(["alpha", "beta beta", "gamma 密钥", "alpha beta", "delta"]), max_size=4)
STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), TEXTS)), max_size=8)


def play(store, steps):
    """Write (texts) or delete (None) documents in turn."""
    for source, texts in steps:
        if texts is None:
            store.delete([document_id("default", source)])
        else:
            store.write(make_batch(source, texts, metadata={"n": len(texts), "tags": texts}))


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=STEPS, texts=TEXTS)
def test_delete_after_add_restores_every_table(tmp_path_factory, before, texts):
    """`delete(add(x))` is the identity on the logical content of the whole file."""
    path = tmp_path_factory.mktemp("identity") / "weft.db"
    add_and_delete(SqliteDatabase(str(path)), path, before, texts)


def add_and_delete(database, where, before, texts):
    """Add a document to what some steps left, and delete it: every table is as it was."""
    store = database.store("default")
    store.write_model(MODEL)
    play(store, before)
    old, stats = content(where), store.stats()
    play(store, [("new", texts), ("new", None)])

    assert content(where) == old
    assert store.stats().chunks == stats.chunks
    assert database.check() == []
    database.close()


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_the_file_holds_what_the_last_words_say_in_any_order(tmp_path_factory, steps):
    """Any history gives the content of writing only the final state, and ranks as the memory store does."""
    folder = tmp_path_factory.mktemp("history")
    compare(SqliteDatabase(str(folder / "long.db")), folder / "long.db", folder / "short.db", steps)


def compare(database, where, short_path, steps):
    """Play all steps in an empty database, and the last words in SQLite and in memory: rows and rankings agree."""
    final = dict(steps)
    databases = [database, SqliteDatabase(str(short_path))]
    stores = [opened.store("default") for opened in (*databases, MemoryDatabase())]
    for store in stores:
        store.write_model(MODEL)
    play(stores[0], steps)
    for store in stores[1:]:
        play(store, sorted(final.items()))

    assert content(where) == content(short_path)
    for text in ("alpha beta", "密钥", "delta gamma"):
        rankings = [store.search_keyword(query_terms(text), limit=9, where=EVERYTHING) for store in stores]
        assert [[h.chunk_id for h in r.hits] for r in rankings[1:]] == [[h.chunk_id for h in rankings[0].hits]] * 2
        assert [h.score for h in rankings[2].hits] == pytest.approx([h.score for h in rankings[0].hits])
    for database in databases:
        database.close()


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    """Databases of other programs and text files are unchanged."""
    other = tmp_path / "other.db"
    apsw.Connection(str(other)).execute("CREATE TABLE t (x)")
    text = tmp_path / "notes.txt"
    text.write_text("not a database " * 100)
    before = text.read_bytes()

    for path in (other, text):
        with pytest.raises(InputError, match="not a"):
            SqliteDatabase(str(path))
    assert text.read_bytes() == before
    assert [row[0] for row in apsw.Connection(str(other)).execute("SELECT name FROM sqlite_schema")] == ["t"]


@pytest.mark.parametrize(
    ("version", "message", "hint"),
    [
        (999, "created by a newer Weft (schema 999", "pip install --upgrade"),
        (30, "made by Weft 0.2 or older (schema 30", "docs/upgrading.md"),
        (1030, "made by Weft 0.2 or older (schema 30", "docs/upgrading.md"),
    ],
    ids=["newer", "older", "interrupted migration"],
)
def test_a_file_of_another_version_is_refused(tmp_path, version, message, hint):
    """It stays as it is."""
    path = tmp_path / "weft.db"
    SqliteDatabase(str(path)).close()
    apsw.Connection(str(path)).execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()

    with pytest.raises(SchemaMismatch, match=re.escape(message)) as caught:
        SqliteDatabase(str(path))
    assert hint in caught.value.hint
    assert path.read_bytes() == before


def test_a_missing_folder_is_named(tmp_path):
    """The hint names the missing folder."""
    with pytest.raises(StoreUnavailable) as caught:
        SqliteDatabase(str(tmp_path / "no" / "weft.db"))
    assert "create the folder" in caught.value.hint


def test_check_finds_what_repair_mends(tmp_path):
    """Lost postings, wrong counts and altered text are found; what can be derived is derived again."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["apple pie", "plum pie"]))
    store.write(make_batch("b", ["rye bread"]))
    sound = content(path)
    with apsw.Connection(str(path)) as db:
        db.execute("DELETE FROM posting WHERE term = 'pie'")
        db.execute("UPDATE namespace SET chunks = 17")
        db.execute("UPDATE chunk SET text = 'poison' WHERE text = 'rye bread'")

    assert len(database.check()) == 3
    done = database.repair()
    assert any("keyword index" in line for line in done)
    assert [p.what for p in database.check()] == [
        f"document {document_id('default', 'b')} does not match the text it was indexed from"
    ]
    assert content(path)["posting"] == sound["posting"]
    assert store.documents([document_id("default", "b")])[0].content_hash == ""
    store.write(make_batch("b", ["rye bread"]))
    assert database.check() == []
    database.close()


def test_a_damaged_file_is_reported_as_such(tmp_path):
    """Overwritten pages give a clear error or a list of problems, never a wrong answer in silence."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    for number in range(50):
        store.write(make_batch(f"d{number}", [f"text {number} " * 50]))
    database.compact()
    database.close()
    data = bytearray(path.read_bytes())
    data[8192:40960] = b"\xff" * (40960 - 8192)
    path.write_bytes(data)

    try:
        problems = SqliteDatabase(str(path)).check()
    except StoreCorrupt:
        return
    assert problems


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_a_backup_that_has_no_folder_says_so(tmp_path, folder):
    """It names the copy, not the store."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    (tmp_path / "file").write_text("no folder")
    target = tmp_path / folder / "copy.db"

    with pytest.raises(InputError) as error:
        database.backup(target)
    assert str(target) in str(error.value) and "weft.db" not in str(error.value)
    assert str(target.parent) in error.value.hint


@pytest.mark.parametrize("failure", [apsw.FullError, apsw.IOError, apsw.CantOpenError, PermissionError])
def test_a_backup_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch, failure):
    """No partial copy remains, and the error names the copy."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))

    class Failing:
        def execute(self, statement, values):
            Path(values["target"]).write_text("a piece")
            raise failure("it failed")

    monkeypatch.setattr(database._connections, "_turn", lambda: nullcontext(Failing()))
    with pytest.raises(StoreError, match=r"copy\.db"):
        database.backup(tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy.db*"))


def test_a_backup_of_a_damaged_file_says_which_is_damaged(tmp_path, monkeypatch):
    """The store, not the copy."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))

    class Failing:
        def execute(self, statement, values):
            raise apsw.CorruptError("malformed")

    monkeypatch.setattr(database._connections, "_turn", lambda: nullcontext(Failing()))
    with pytest.raises(StoreCorrupt, match=r"weft\.db"):
        database.backup(tmp_path / "copy.db")


def test_backup_is_a_store_of_its_own(tmp_path):
    """The copy opens, answers and passes the check; an existing target is refused."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["kept safe"]))
    database.backup(tmp_path / "copy.db")

    copy = SqliteDatabase(str(tmp_path / "copy.db"))
    assert keyword(copy.store("default"), "safe") == ["kept safe"]
    assert copy.check() == []
    with pytest.raises(InputError, match="exists"):
        database.backup(tmp_path / "copy.db")
    copy.close()
    database.close()


def test_a_file_with_smaller_pages_is_a_store_like_any_other(tmp_path):
    """New files have pages that vectors fill well; older ones keep theirs, and their backups have the new ones."""
    with apsw.Connection(str(tmp_path / "old.db")) as db:
        db.execute("PRAGMA page_size = 4096; PRAGMA application_id = 1; PRAGMA application_id = 0")
    old, new = (SqliteDatabase(str(tmp_path / name)) for name in ("old.db", "new.db"))
    old.store("default").write_model(MODEL)
    old.store("default").write(make_batch("a", ["kept safe"]))
    old.backup(tmp_path / "copy.db")

    copy = SqliteDatabase(str(tmp_path / "copy.db"))
    sizes = []
    for database in (old, new, copy):
        with database._connections.bare() as db:
            sizes.append(db.execute("PRAGMA page_size").get)
        assert database.check() == []
    assert sizes == [4096, 8192, 8192]
    assert keyword(copy.store("default"), "safe") == ["kept safe"]
    for database in (old, new, copy):
        database.close()


def test_a_file_that_has_doubled_is_rewritten_without_gaps(tmp_path, monkeypatch):
    """The end of a run rewrites a file that has grown much, once; every document is still found."""
    monkeypatch.setattr(connect, "MIN_PACKED_PAGES", 1)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    for number in range(40):
        words = " ".join(f"w{number * n * n % 7919}" for n in range(1, 300))
        store.write(make_batch(f"{number}", [f"{words} only{number}"]), defer_indexes=True)

    def pages():
        with closing(apsw.Connection(str(tmp_path / "weft.db"))) as db:
            return db.execute("PRAGMA page_count").get

    grown = pages()
    store.finish_load()
    packed = pages()
    store.write(make_batch("another", ["added"]))
    store.finish_load()

    assert packed < grown
    assert pages() >= packed, "the second run adds too little"
    assert database.check() == []
    assert len(keyword(store, "only7")) == 1
    database.close()


def test_compact_leaves_no_trace_of_deleted_text(tmp_path):
    """After delete and compact the file no longer contains the words."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["xyzzysecret " * 30]))
    store.delete([document_id("default", "a")])
    database.compact()
    database.close()

    assert b"xyzzysecret" not in b"".join(p.read_bytes() for p in tmp_path.iterdir())


def test_compact_says_that_a_reader_keeps_deleted_text_in_the_file(tmp_path, monkeypatch):
    """A transaction that began before sees the text, so it is still there; afterwards it can be done again."""
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 1)
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["xyzzysecret " * 30]))
    reader = SqliteDatabase(str(path))
    with reader.store("default").reading():
        assert reader.store("default").stats().documents == 1
        store.delete([document_id("default", "a")])
        with pytest.raises(StoreUnavailable, match="deleted text remains"):
            database.compact()
    database.compact()

    assert b"xyzzysecret" not in b"".join(p.read_bytes() for p in tmp_path.iterdir())
    reader.close()
    database.close()


def test_a_closed_store_says_so(tmp_path):
    """Using a store after closing it is a clear error."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    database.close()
    database.close()

    with pytest.raises(WeftError, match="closed"):
        database.namespaces()


def test_statements_are_planned_once_for_all_values(tmp_path):
    with SqliteDatabase(str(tmp_path / "a.db"))._connections.bare() as db:
        assert db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1


def test_only_queries_map_the_file(tmp_path):
    """Mapped pages count as memory of the process; writers and scans would map the whole file."""
    connections = SqliteDatabase(str(tmp_path / "weft.db"))._connections

    def mapped(session):
        return session._db.execute("PRAGMA mmap_size").get

    for _ in range(2):
        with connections.read() as session:
            assert mapped(session) > 0
        with connections.write() as session:
            assert mapped(session) == 0
        with connections.scan() as session:
            assert mapped(session) == 0


def test_an_interrupt_while_it_waits_to_write_leaves_nothing_open(tmp_path):
    """Ctrl-C comes when the wait for another writer is over: the transaction that then begins is taken back."""
    path = str(tmp_path / "weft.db")
    database, other = SqliteDatabase(path), apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = [
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)),
        threading.Timer(0.5, other.execute, ("ROLLBACK",)),
    ]
    try:
        for timer in timers:
            timer.start()
        with pytest.raises(KeyboardInterrupt):
            database.store("default").write_model(MODEL)
    finally:
        signal.signal(signal.SIGINT, before)
        for timer in timers:
            timer.join()
    database.store("default").write_model(MODEL)

    assert database.store("default").models() == [MODEL]
    other.close()
    database.close()


def test_an_unexpected_error_in_a_damaged_file_is_reported_as_damage(tmp_path):
    """Without damage the error stays what it is."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    database.store("default").write_model(MODEL)
    database.store("default").write(make_batch("a", ["text"]))
    with pytest.raises(TypeError), database.store("default").reading():
        raise TypeError("a fault of our own")
    database.close()
    with closing(apsw.Connection(str(path))) as db:
        size = db.pragma("page_size")
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunk'").get
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = bytes(size)
    path.write_bytes(data)

    with closing(SqliteDatabase(str(path))) as database:
        reading = database.store("default").reading()
        with pytest.raises(StoreCorrupt, match="is damaged"), reading:
            raise TypeError("a value of a damaged page")


@pytest.mark.parametrize("tables", [("fact_entity", "fact_vector_sketch"), ("fact_vector", "fact")])
def test_swapped_pages_are_reported_by_repair(tmp_path, tables):
    """Their rows have values of the wrong type, so nothing is derived from them."""
    path = tmp_path / "weft.db"
    with open_engine(path, embedder="hash") as engine:
        engine.memory.add("Harbour Crane", "colour", value="blue")
    with closing(apsw.Connection(str(path))) as db:
        size = db.pragma("page_size")
        roots = [db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get for name in tables]
    data = path.read_bytes()
    first, second = (data[(root - 1) * size : root * size] for root in roots)
    swapped = bytearray(data)
    for root, page in zip(roots, (second, first), strict=True):
        swapped[(root - 1) * size : root * size] = page
    path.write_bytes(swapped)

    with closing(SqliteDatabase(str(path))) as database, pytest.raises(StoreCorrupt, match="damaged beyond repair"):
        database.repair()


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_session_that_ctrl_c_left_open_ends_silently(tmp_path, kind):
    """Ctrl-C may come before the block of a `with` begins; its session is then collected after the file is closed."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    left_open = getattr(database._connections, kind)()
    left_open.__enter__()
    database.close()
    del left_open
    gc.collect()  # an error here would be an unraisable one, with a traceback on stderr


def test_ctrl_c_ends_the_wait_for_another_writer(tmp_path):
    """SQLite itself would handle it after the whole wait."""
    path = str(tmp_path / "weft.db")
    database, other = SqliteDatabase(path), apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer, start = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)), time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            database.store("default").write_model(MODEL)
        assert time.monotonic() - start < connect.WRITER_TIMEOUT_MS / 2000
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    other.execute("ROLLBACK")
    database.store("default").write_model(MODEL)

    assert database.store("default").models() == [MODEL]
    database.close()
