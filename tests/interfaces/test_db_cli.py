"""`weft db`: creating and migrating tables."""

import os

import apsw
import postgres
import psycopg
import pytest

from weft.store.sql_files import load_migrations


@pytest.fixture
def bare(postgres_server, worker_id):
    """Give the DSN of a database without tables."""
    with postgres.new_database(postgres_server, f"weft_bare_{worker_id}_{os.getpid()}", tables=False) as dsn:
        yield dsn


def test_the_tables_of_a_server_are_made_once(weft_here, bare):
    """With the requested partitions; a second call describes them, and another number is refused."""
    db = ("--db", postgres.address(bare))
    parts = ("--partitions", 2) if postgres.PARTITIONS else ()
    made = weft_here("db", "init", *db, *parts, "--json")

    assert made["created"]
    assert made["partitions"] == (2 if parts else 0)
    assert made["is_spread"] is made["has_citus"] is postgres.IS_CITUS
    assert made["pgvector"]
    assert made["where"].startswith("postgresql://")
    again = weft_here("db", "init", *db)
    assert "found the tables" in again
    assert ("Citus: spread" if postgres.IS_CITUS else "no Citus") in again
    assert "weft copy" in weft_here("db", "init", *db, "--partitions", 3, expect=1) or postgres.IS_CITUS
    assert weft_here("db", "check", *db) == "no problems found\n"
    assert weft_here("db", "vacuum", *db) == ""


def test_tables_of_a_newer_version_are_left_alone(weft_here, bare):
    """The hint of every verb is to upgrade."""
    db = ("--db", postgres.address(bare))
    weft_here("db", "init", *db)
    with psycopg.connect(bare, autocommit=True) as server:
        (version,) = server.execute("SELECT version FROM weft.schema_version").fetchone()
        server.execute("UPDATE weft.schema_version SET version = 99")
    for verb in ("init", "migrate", "check"):
        assert "pip install --upgrade weft-search" in weft_here("db", verb, *db, expect=1)
    with psycopg.connect(bare, autocommit=True) as server:
        server.execute("UPDATE weft.schema_version SET version = %s", [version])


def test_a_file_is_created_and_migrated(weft_here, tmp_path):
    """Each step is named; a file has no partitions."""
    db = ("--db", "weft.db")
    assert "weft db init" in weft_here("db", "migrate", *db, expect=1)
    assert "server" in weft_here("db", "init", *db, "--partitions", 2, expect=1)
    assert weft_here("db", "init", *db, "--json")["created"]
    assert not weft_here("db", "init", *db, "--json")["created"]
    old = apsw.Connection(str(tmp_path / "old.db"))
    migrations = load_migrations("sqlite")
    for number in range(1, 4):
        old.execute(migrations[number])
    old.execute("PRAGMA application_id = 0x57454654")
    old.execute("PRAGMA user_version = 3")
    old.close()

    done = weft_here("db", "migrate", "--db", "old.db", "--json")["done"]
    assert done == [f"schema {number}" for number in range(4, max(migrations) + 1)]
    assert weft_here("db", "migrate", "--db", "old.db") == "old.db: up to date\n"
    assert weft_here("db", "check", "--db", "old.db") == "no problems found\n"
    assert "lost when the process ends" in weft_here("db", "init", "--db", ":memory:", expect=1)
