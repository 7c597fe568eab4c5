"""Concurrent writers and readers of one namespace, and a writer that dies."""

import os
import random
import subprocess
import sys
import threading

import pytest
from contract import EVERYTHING, MODEL, make_batch, unit
from graph_making import batch_of
from logical import content
from opening import open_empty, where
from postgres import IS_CITUS

from weft.errors import WeftError
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.session import PostgresSession
from weft.store.sqlite.database import SqliteDatabase

SOURCES = ["Paris", "Auth Service", "Ledger", "Doc One", "SR-052", "密钥", "Database", "OAuth Provider"]
TEXTS = {
    source: [f"The {source} of Paris asks the Auth Service (AS).", f"{SOURCES[place - 1]} and 密钥 in the Ledger."]
    for place, source in enumerate(SOURCES)
}


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request):
    return request.param


@pytest.fixture
def database(kind, request):
    database = open_empty(kind, request)
    yield database
    assert database.check() == []
    database.close()


@pytest.fixture
def expected(tmp_path):
    """Give the content of a file into which one after another was written."""
    database = SqliteDatabase(str(tmp_path / "expected.db"))
    store = database.store("default")
    store.write_model(MODEL)
    for source, texts in TEXTS.items():
        store.write(batch_of(source, texts))
    database.close()
    return content(tmp_path / "expected.db")


def run_all(*acts):
    """Run all at once, each in a thread of its own; raise what one of them raises."""
    failures = []

    def run(act):
        try:
            act()
        except WeftError as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_read_while_one_writes(database):
    """Readers neither fail nor see half a document."""
    store = database.store("default")
    store.write_model(MODEL)
    done = threading.Event()
    seen = set()

    def read():
        while not done.is_set():
            seen.add(len(store.search_vector(unit(1, 1, 1), limit=99, where=EVERYTHING).hits))

    def write():
        try:
            for number in range(30):
                store.write(make_batch(f"d{number}", [f"first {number}", f"second {number}"]))
        finally:
            done.set()

    run_all(read, read, read, write)
    assert {count % 2 for count in seen} == {0}


def test_the_first_writers_of_a_namespace_take_turns(database, kind, request, expected):
    """Four begin at once where nothing is yet; what follows from all documents together is as if one had written."""

    def write(place):
        store = database.store("default")
        store.write_model(MODEL)
        for source in SOURCES[place::4]:
            store.write(batch_of(source, TEXTS[source]))

    run_all(*(lambda place=place: write(place) for place in range(4)))
    assert content(where(kind, request)) == expected


def test_two_namespaces_are_written_at_once(database):
    """Uncommitted writes of one are invisible to the other, and on a server they do not block it."""
    mine, theirs = (database.store(name) for name in ("mine", "theirs"))

    def write(store):
        for number in range(10):
            store.write(make_batch(f"d{number}", ["alpha"], namespace=store.namespace, model=""))

    run_all(lambda: write(mine), lambda: write(theirs))
    assert mine.stats().chunks == theirs.stats().chunks == 10


# ── processes ───────────────────────────────────────────────────────────────────────────────────

BEGIN = """
import sys
from contract import MODEL
from graph_making import batch_of
from test_writers import SOURCES, TEXTS
from weft.store.postgres.database import PostgresDatabase

store = PostgresDatabase(sys.argv[1]).store("default")
store.write_model(MODEL)
"""
WRITE = """
for source in SOURCES[int(sys.argv[2])::2]:
    store.write(batch_of(source, TEXTS[source]))
"""
HANG = """
import time
from weft.store.relational.document_write import DocumentWriter

def wait(self, **options):
    print("inside", flush=True)
    time.sleep(600)

DocumentWriter.finish = wait
store.write(batch_of("Paris", TEXTS["Paris"]))
"""


def start(script, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", BEGIN + script, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_write_one_namespace(postgres_dsn, expected):
    """The second goes on where the first lets it; nothing is lost and nothing is there twice."""
    for process in [start(WRITE, postgres_dsn, part) for part in (0, 1)]:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert content(postgres_dsn) == expected


def test_two_writers_of_the_same_documents_agree(postgres_dsn, expected):
    """All write the same documents in other orders, several at once; another document comes and goes."""

    def write(seed):
        database = PostgresDatabase(postgres_dsn)
        store, chance = database.store("default"), random.Random(seed)
        for _ in range(3):
            order = chance.sample(SOURCES, len(SOURCES))
            for first, second in zip(order[::2], order[1::2], strict=True):
                passing = batch_of(f"passing {seed}", TEXTS[first])
                store.write(batch_of(first, TEXTS[first]), passing, batch_of(second, TEXTS[second]))
                store.delete([passing.document.id])
        database.close()

    database = PostgresDatabase(postgres_dsn)
    database.store("default").write_model(MODEL)
    run_all(lambda: write(1), lambda: write(2), lambda: write(3))
    assert database.check() == []
    database.close()
    assert content(postgres_dsn) == expected


@pytest.mark.skipif(IS_CITUS, reason="writers of a cluster take turns from the beginning")
def test_a_writer_of_new_documents_waits_for_no_other(postgres_dsn, expected, monkeypatch):
    """Rows of new documents are written beside another writer; only what they share is written in turn."""
    lock, paused, resume = PostgresSession.lock, threading.Event(), threading.Event()

    def pause(self, name, turn="next", **options):
        if turn == "next" and threading.current_thread() is slow:
            paused.set()
            assert resume.wait(60)
        lock(self, name, turn, **options)

    database = PostgresDatabase(postgres_dsn)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(batch_of("Paris", TEXTS["Paris"]))
    monkeypatch.setattr(PostgresSession, "lock", pause)
    half = len(SOURCES) // 2
    slow = threading.Thread(
        target=lambda: store.write(*[batch_of(source, TEXTS[source]) for source in SOURCES[1:half]])
    )
    slow.start()
    assert paused.wait(60)
    store.write(*[batch_of(source, TEXTS[source]) for source in SOURCES[half:]])
    store.write(batch_of("Paris", ["Another text."]))
    store.write(batch_of("Paris", TEXTS["Paris"]))
    assert store.stats().documents == 1 + len(SOURCES) - half
    resume.set()
    slow.join()
    assert database.check() == []
    database.close()
    assert content(postgres_dsn) == expected


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_a_writer_that_is_killed_leaves_nothing_and_nobody_waits_for_it(database, kind, request):
    """`kill -9` after everything was written and before it was committed."""
    place = where(kind, request)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(batch_of("Ledger", TEXTS["Ledger"]))
    before = content(place)
    process = start(HANG, place)
    assert process.stdout.readline() == "inside\n", process.communicate()[1]
    assert content(place) == before
    process.kill()
    process.communicate()

    assert content(place) == before
    assert database.check() == []
    store.write(batch_of("Paris", TEXTS["Paris"]))
    assert store.stats().documents == 2
