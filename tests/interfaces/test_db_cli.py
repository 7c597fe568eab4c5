"""`weft db`: creating and checking tables."""

import os

import postgres
import psycopg
import pytest


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
    for verb in ("init", "check"):
        assert "pip install --upgrade weft-search" in weft_here("db", verb, *db, expect=1)
    with psycopg.connect(bare, autocommit=True) as server:
        server.execute("UPDATE weft.schema_version SET version = %s", [version])


def test_a_file_is_created_once(weft_here):
    """It has no partitions."""
    db = ("--db", "weft.db")
    assert "server" in weft_here("db", "init", *db, "--partitions", 2, expect=1)
    assert weft_here("db", "init", *db, "--json")["created"]
    assert not weft_here("db", "init", *db, "--json")["created"]
    assert weft_here("db", "check", *db) == "no problems found\n"
    assert "lost when the process ends" in weft_here("db", "init", "--db", ":memory:", expect=1)
