"""Large read indexes are built in a process of their own, which ends with the process that asked for it."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import indexed
import pytest
from indexed import MIN_ROWS, SqliteDatabase, populate, same, search_methods

from weft.store.sqlite.index import builder, builder_process
from weft.store.sqlite.index.builder_process import CannotStart, extend_indexes

SMALL = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from weft.store.sqlite.index import builder, builder_main, reader
reader.MIN_INDEXED_ROWS = {MIN_ROWS}
"""
WAITING = """
import time
from weft.store.index_files import hnsw

def wait_before_each_batch(*arguments):
    for size in hnsw.add_vectors(*arguments):
        print("batch", file=open(MARK, "a"), flush=True)
        time.sleep(PAUSE)
        yield size

builder.add_vectors = wait_before_each_batch
builder_main.main()
"""


def command(code):
    return (sys.executable, "-c", SMALL + code)


@pytest.fixture
def database(tmp_path, monkeypatch):
    """A file with rows enough for a process, without indexes."""
    indexed.small(monkeypatch)
    monkeypatch.setattr(builder_process, "MIN_PROCESS_ROWS", MIN_ROWS)
    opened = SqliteDatabase(str(tmp_path / "weft.db"))
    populate(opened)
    yield opened
    assert indexed.unsound(opened) == []
    opened.close()


def start(database, code, *, cancelled=None):
    path = Path(database._connections.path)
    return extend_indexes(path, min_rows=1, cancelled=cancelled or threading.Event(), command=command(code))


def test_a_process_builds_the_indexes_that_this_one_reads(database):
    """The answers are those of a scan."""
    assert search_methods(database) == ["exact; index not built yet"] * 3
    assert start(database, "builder_main.main()") == 3
    assert [method.split(",")[0] for method in search_methods(database)] == [
        "index of 200 vectors in 1 segment",
        "index of 200 chunks in 1 segment",
        "index of 200 vectors in 1 segment",
    ]
    same(database)
    assert start(database, "builder_main.main()") == 0


def test_the_thread_starts_a_process_for_many_rows_only(database, monkeypatch):
    """Few rows are indexed in the thread: starting a process would take longer."""
    asked = []
    monkeypatch.setattr(builder, "extend_indexes", lambda path, **options: asked.append((path, options["min_rows"])))
    index_builder = database._connections.index_builder
    path = Path(database._connections.path)

    index_builder._catch_up_anywhere(min_rows=10)
    assert asked == [(path, 10)]
    assert search_methods(database) == ["exact; index not built yet"] * 3
    monkeypatch.setattr(builder_process, "MIN_PROCESS_ROWS", 100_000)
    index_builder._catch_up_anywhere(min_rows=10)
    assert len(asked) == 1
    same(database)
    assert not any("not built" in method for method in search_methods(database))


def test_no_process_is_started_while_another_one_builds(database, monkeypatch):
    """Each commit asks again, and a start takes half a second."""
    monkeypatch.setattr(builder, "extend_indexes", lambda *_, **__: pytest.fail("a process was started"))
    with database._connections.indexes.folder.build_lock() as is_locked:
        assert is_locked
        database._connections.index_builder._catch_up_anywhere(min_rows=10)
    assert search_methods(database) == ["exact; index not built yet"] * 3


@pytest.mark.parametrize(
    "broken",
    [
        ("/nonexistent/python",),
        ("",),
        (sys.executable, "-c", "raise SystemExit(3)"),
    ],
    ids=["missing", "unknown", "failing"],
)
def test_without_a_process_the_thread_builds(database, monkeypatch, broken):
    """An application without an interpreter of its own, or a system that forbids processes, still gets indexes."""
    monkeypatch.setattr(builder_process, "MAX_START_SECONDS", 1.0)
    path = Path(database._connections.path)
    with pytest.raises(CannotStart):
        extend_indexes(path, min_rows=1, cancelled=threading.Event(), command=broken)

    def fail(path, **options):
        return extend_indexes(path, **options, command=broken)

    monkeypatch.setattr(builder, "extend_indexes", fail)
    database._connections.index_builder._catch_up_anywhere(min_rows=10)
    same(database)
    assert not any("not built" in method for method in search_methods(database))


def test_errors_of_the_process_are_raised_with_their_reason(database):
    """The thread logs them once and tries again with the next request."""
    failing = "builder_main.build = lambda *_, **__: {}\nbuilder_main.main()"
    with pytest.raises(OSError, match="nonexistent"):
        start(database, failing.format("open('/nonexistent/file')"))
    with pytest.raises(OSError, match="MemoryError"):
        start(database, failing.format("(_ for _ in ()).throw(MemoryError)"))
    with pytest.raises(OSError, match="was killed"):
        start(database, failing.format(f"__import__('os').kill(__import__('os').getpid(), {signal.SIGKILL:d})"))


def test_a_process_of_another_version_opens_no_file(database, tmp_path):
    """Weft may be upgraded while a server runs; the process would migrate or create the file."""
    newer = "builder_main.read_versions = lambda: [999, 4, 1]\nbuilder_main.main()"
    with pytest.raises(CannotStart):
        start(database, newer)
    gone = tmp_path / "gone.db"
    with pytest.raises(OSError, match="cannot open"):
        extend_indexes(gone, min_rows=1, cancelled=threading.Event(), command=command("builder_main.main()"))
    assert not gone.exists()


def test_a_cancelled_process_ends_without_an_index(database, tmp_path):
    """Ctrl-C at exit cancels; nothing is left in the folder."""
    mark, cancelled = tmp_path / "mark", threading.Event()
    code = f"MARK, PAUSE = {str(mark)!r}, 2\n{WAITING}"
    threading.Thread(target=lambda: (wait_for(mark), cancelled.set())).start()

    assert start(database, code, cancelled=cancelled) == 0
    assert indexed.files(database, "vectors") == []
    assert not database._connections.indexes.folder.has_leftovers()


def test_the_process_ends_with_a_killed_parent(database, tmp_path):
    """It releases the lock, so that the next process can build."""
    mark = tmp_path / "mark"
    code = f"MARK, PAUSE = {str(mark)!r}, 1\n{WAITING}"
    parent = textwrap.dedent(
        f"""
        import threading
        from pathlib import Path
        from weft.store.sqlite.index.builder_process import extend_indexes
        path = Path({database._connections.path!r})
        extend_indexes(path, min_rows=1, cancelled=threading.Event(), command={command(code)!r})
        """
    )
    process = subprocess.Popen([sys.executable, "-c", parent])
    wait_for(mark)
    process.kill()
    process.wait()

    deadline = time.monotonic() + 300
    while not indexed.catch_up(database):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(mark.read_text().splitlines()) < 10  # of 25
    same(database)


def test_the_file_is_found_after_a_change_of_the_working_folder(tmp_path, monkeypatch):
    """The path of the store may be relative."""
    monkeypatch.chdir(tmp_path)
    database = SqliteDatabase("weft.db")
    monkeypatch.chdir("/")
    assert database._connections.file == tmp_path / "weft.db"
    database.close()


def wait_for(path, seconds=180.0):
    """Wait until a file exists."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
