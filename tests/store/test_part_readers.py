"""The parts of a namespace are read at once, in one snapshot, over a bounded number of connections."""

import threading

import postgres
import psycopg
import pytest
from contract import EVERYTHING, MODEL, make_batch

from weft.errors import StoreUnavailable
from weft.store.postgres import part_readers
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.part_names import part_names

WAIT_SECONDS = 60


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    database.create("default", parts=4)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(*(make_batch(f"d{number}", ["alpha", "beta"]) for number in range(8)))
    yield database
    database.close()


def count(db, part):
    """Return the number of chunks of a part."""
    ((number,),) = db.run("count_vectors", {"namespace": part, "model": db.one("list_models", {"namespace": part})})
    return number


def test_all_parts_are_read_at_the_same_time(database):
    """Each reader waits until the others have begun."""
    barrier, parts = threading.Barrier(4), part_names("default", 4)

    def read(db, part):
        barrier.wait(WAIT_SECONDS)
        return part, threading.get_ident()

    with database._connections.read("default") as db:
        found = db.each(parts, read)

    assert [part for part, _ in found] == parts
    assert len({thread for _, thread in found}) == 4


def test_readers_see_the_snapshot_of_their_transaction(database):
    """A write between two statements is not seen, in any part."""
    parts, store = part_names("default", 4), database.store("default")
    with database._connections.read("default") as db:
        before = db.run("count_documents", {"namespace": "default"})
        writer = threading.Thread(target=lambda: store.write(*(make_batch(f"e{n}", ["gamma"]) for n in range(8))))
        writer.start()
        writer.join(WAIT_SECONDS)
        counts = db.each(parts, count)
        assert db.run("count_documents", {"namespace": "default"}) == before == [(8,)]
    with database._connections.read("default") as db:
        after = db.each(parts, count)

    assert sum(counts) == 16
    assert sum(after) == 24


def test_without_a_free_reader_one_connection_reads_all_parts(database):
    """The answers are the same, nothing waits, and readers are given back."""
    store, threads = database.store("default"), database._connections._reader_threads
    expected = store.search_keyword(["alpha"], limit=99, where=EVERYTHING)
    taken = threads.take(99)
    found = store.search_keyword(["alpha"], limit=99, where=EVERYTHING)
    with database._connections.read("default") as db:
        idents = db.each(part_names("default", 4), lambda db, part: threading.get_ident())
    threads.release(taken)

    assert taken == part_readers.MAX_PART_READERS
    assert found == expected
    assert set(idents) == {threading.get_ident()}
    assert threads.take(99) == taken
    threads.release(taken)


def test_a_part_has_one_connection_in_a_transaction(database, monkeypatch):
    """With fewer readers than parts, so that several parts share one."""
    taken = database._connections._reader_threads.take(part_readers.MAX_PART_READERS - 2)
    parts = part_names("default", 4)
    with database._connections.read("default") as db:
        first, second = (db.each(parts, lambda db, part: db._db.info.backend_pid) for _ in range(2))
        some = db.each(parts[1:3], lambda db, part: db._db.info.backend_pid)
    database._connections._reader_threads.release(taken)

    assert first == second
    assert some == first[1:3]
    assert len(set(first)) == 3


def test_a_lost_connection_of_a_reader_is_retried_once(database, postgres_dsn):
    """A question whose readers the server ends is asked again over new connections."""
    store = database.store("default")
    expected = store.search_keyword(["alpha"], limit=99, where=EVERYTHING)
    postgres.end_others(postgres_dsn)

    assert store.search_keyword(["alpha"], limit=99, where=EVERYTHING) == expected
    with pytest.raises(StoreUnavailable, match="lost"), database._connections.read("default") as db:
        (pid,) = set(db.each(part_names("default", 4)[1:2] * 2, lambda db, part: db._db.info.backend_pid))
        with psycopg.connect(postgres_dsn, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s::int, 5000::bigint)", [pid])
        db.each(part_names("default", 4), count)


def test_a_transaction_that_writes_reads_parts_itself(database):
    """Its own changes are visible to its own connection only."""
    with database._connections.write("default") as db:
        idents = db.each(part_names("default", 4), lambda db, part: db)

    assert set(idents) == {db}


def test_readers_are_bound_to_the_namespace_of_each_statement(database, postgres_dsn):
    """A transaction that reads a second namespace sees its parts too, with row security in force."""
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        mine = PostgresDatabase(role)
        mine.create("other", parts=4)
        other = mine.store("other")
        other.write_model(MODEL)
        other.write(*(make_batch(f"o{number}", ["delta"]) for number in range(8)))
        with mine.store("default").reading():
            found = [
                len(mine.store(name).search_keyword([term], limit=99, where=EVERYTHING).hits)
                for name, term in [("default", "alpha"), ("other", "delta"), ("default", "delta"), ("default", "beta")]
            ]
        mine.close()

    assert found == [8, 8, 0, 8]
