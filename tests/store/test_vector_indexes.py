"""Vector indexes of a server: who creates them, and what happens to readers and writers meanwhile."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import postgres
import psycopg
import pytest
from contract import MODEL, make_batch, unit
from postgres import IS_CITUS

from weft.records import StoredModel
from weft.store.postgres import vector_indexes
from weft.store.postgres.database import PostgresDatabase

LONG = StoredModel(name="fake/long", fingerprint="f", dimension=600, active=True)
"""200 of its vectors take more than a megabyte."""
NAME = "weft.chunk_vector_hnsw_600"


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    yield database
    database.close()


@pytest.fixture
def large(database, postgres_dsn):
    """Give the database with vectors that are not indexed yet."""
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        db.execute(f"DROP INDEX IF EXISTS {NAME}")
    rows = np.random.default_rng(5).standard_normal((600, LONG.dimension))
    texts = {f"text {n}": unit(*row) for n, row in enumerate(rows)}
    store = database.store("default")
    store.write_model(LONG)
    store.write(make_batch("a", list(texts), vectors=texts, model="f"))
    return database


def connect_with(kind, dsn):
    """Return what opens connections of a kind."""

    @contextmanager
    def connect():
        with kind.connect(dsn, autocommit=True) as db:
            yield db

    return connect


def create(dsn, kind=psycopg.Connection):
    """Create the index of the long vectors, and return its state."""
    (found,) = vector_indexes.create_vector_indexes(connect_with(kind, dsn), 600, tables=("chunk_vector",))
    return found.state


class Noting(psycopg.Connection):
    """A connection that notes which changes of indexes are sent."""

    def execute(self, query, *arguments, **named):
        if isinstance(query, str) and query.startswith(("CREATE INDEX", "DROP INDEX")):
            type(self).sent = (*type(self).sent, query)
        return super().execute(query, *arguments, **named)


def test_an_application_role_does_not_try_to_create_an_index(large, postgres_dsn, caplog):
    """A statement that it may not run would wait for locks first, for example during a move of a shard."""
    Noting.sent = ()
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        assert create(role, Noting) == "refused"
        database = PostgresDatabase(role)
        database.store("mine").write_model(replace(MODEL, dimension=19))
        database.close()
    assert Noting.sent == ()
    assert "no vector index of dimension 19" in caplog.text and "weft db index" in caplog.text


def test_others_write_while_an_index_is_created(large, postgres_dsn, monkeypatch):
    """The creation waits for a transaction that began before; a writer does not wait for the creation."""

    class Writing(psycopg.Connection):
        def execute(self, query, *arguments, **named):
            if isinstance(query, str) and query.startswith("CREATE INDEX") and "ON ONLY" not in query:
                assert "CONCURRENTLY" in query
                other = PostgresDatabase(postgres_dsn)
                other.store("other").write_model(MODEL)
                other.store("other").write(make_batch("b", ["beta"], namespace="other"))
                other.close()
            return super().execute(query, *arguments, **named)

    assert create(postgres_dsn, Writing) == "created"
    assert create(postgres_dsn) == "exists"
    with psycopg.connect(postgres_dsn) as db:
        assert vector_indexes.is_valid(db, "chunk_vector_hnsw_600")


@pytest.mark.skipif(IS_CITUS, reason="interrupts the creation on one server")
def test_an_unfinished_index_is_created_again(large, postgres_dsn):
    """A creation that fails leaves an index that is updated by every write and used by no query."""
    part = "chunk_vector_0" if postgres.PARTITIONS else "chunk_vector"

    class Interrupted(psycopg.Connection):
        def execute(self, query, *arguments, **named):
            if isinstance(query, str) and query.startswith(f"CREATE INDEX CONCURRENTLY {part}_hnsw"):
                super().execute(query, *arguments, **named)
                super().execute(
                    f"UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'weft.{part}_hnsw_600'::regclass"
                )
                raise psycopg.errors.AdminShutdown("terminating connection")
            return super().execute(query, *arguments, **named)

    with pytest.raises(psycopg.errors.AdminShutdown):
        create(postgres_dsn, Interrupted)
    with psycopg.connect(postgres_dsn) as db:
        assert not vector_indexes.is_valid(db, f"{part}_hnsw_600")
    assert create(postgres_dsn) == "created"
    with psycopg.connect(postgres_dsn) as db:
        assert vector_indexes.is_valid(db, f"{part}_hnsw_600") and vector_indexes.is_valid(db, "chunk_vector_hnsw_600")


def test_one_process_creates_an_index(large, postgres_dsn):
    """Another one does not delete an index that is not finished yet."""
    with psycopg.connect(postgres_dsn) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s, hashtext('chunk_vector_hnsw_600'))", [vector_indexes.LOCK_KEY])
        assert create(postgres_dsn) == "busy"
    assert create(postgres_dsn) == "created"


def test_a_small_table_in_use_is_left_for_later(database, postgres_dsn, monkeypatch):
    """It would have to be locked; the next write tries again."""
    monkeypatch.setattr(vector_indexes, "MAX_LOCK_SECONDS", 0.2)
    with psycopg.connect(postgres_dsn) as writer:
        writer.execute("LOCK TABLE weft.fact_vector IN ROW EXCLUSIVE MODE")
        connect = connect_with(psycopg.Connection, postgres_dsn)
        (found,) = vector_indexes.create_vector_indexes(connect, 23, tables=("fact_vector",))
        assert found.state == "locked" and "in use" in found.reason


@pytest.mark.skipif(IS_CITUS, reason="the nodes build the index")
def test_an_index_is_built_by_one_process_if_shared_memory_is_short(large, postgres_dsn):
    """A container often has 64 MB of it. The memory of the build is raised for the build alone."""
    asked = "SELECT current_setting('maintenance_work_mem'), current_setting('max_parallel_maintenance_workers')"
    during, after = [], []

    class Short(psycopg.Connection):
        def execute(self, query, *arguments, **named):
            if str(query).startswith("CREATE INDEX CONCURRENTLY"):
                during.append(super().execute(asked).fetchone())
                if during[-1][1] != "0":
                    raise psycopg.errors.DiskFull("could not resize shared memory segment")
            return super().execute(query, *arguments, **named)

        def close(self):
            after.append(super().execute("SHOW maintenance_work_mem").fetchone())
            super().close()

    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        name = db.info.dbname
        db.execute(f"ALTER DATABASE \"{name}\" SET maintenance_work_mem = '1MB'")
    try:
        assert create(postgres_dsn, Short) == "created"
    finally:
        with psycopg.connect(postgres_dsn, autocommit=True) as db:
            db.execute(f'ALTER DATABASE "{name}" RESET maintenance_work_mem')
    assert {workers for _, workers in during} == {"2", "0"}
    assert max(int(memory.removesuffix("kB")) for memory, _ in during if memory.endswith("kB")) > 1024
    assert set(after) == {("1MB",)}
