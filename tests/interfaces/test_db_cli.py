"""`weft db`: creating and checking tables."""

import os

import postgres
import psycopg
import pytest

from weft.store.postgres import vectors


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
    assert ("Citus: distributed" if postgres.IS_CITUS else "no Citus") in again
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


def test_the_owner_creates_the_vector_indexes_that_large_namespaces_need(weft_here, bare, tmp_path, monkeypatch):
    """An application role may not, and is told who may; a file has none."""
    (tmp_path / "a.md").write_text("# Alpha\n\nBeta.\n")
    db = ("--db", postgres.address(bare))
    weft_here("db", "init", *db)
    assert "no namespace has an embedder" in weft_here("db", "index", *db)
    weft_here("index", tmp_path / "a.md", *db)
    said = weft_here("db", "index", *db)
    assert "weft.chunk_vector, dimension 256: not created: all namespaces are small" in said
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 0)
    states = {one["table"]: one["state"] for one in weft_here("db", "index", *db, "--json")}
    assert states == {"chunk_vector": "created", "fact_vector": "exists", "fact_text_vector": "exists"}
    assert "weft.chunk_vector, dimension 256: exists" in weft_here("db", "index", *db)
    assert "is a file" in weft_here("db", "index", "--db", "weft.db", expect=1)
    with postgres.new_role(bare, grants=postgres.ORDINARY) as role:
        assert "may not create vector indexes" in weft_here("db", "index", "--db", postgres.address(role), expect=1)
