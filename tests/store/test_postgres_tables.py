"""Tables of a server: schema versions and migrations."""

import uuid

import postgres
import psycopg
import pytest
from contract import MODEL, keyword, make_batch
from logical import content

from weft.errors import SchemaMismatch
from weft.store.postgres import schema
from weft.store.postgres.database import PostgresDatabase
from weft.store.sql_files import load_migrations, load_schema

CATALOGUE = (
    "SELECT table_name, column_name, data_type, collation_name, column_default, is_nullable"
    " FROM information_schema.columns WHERE table_schema = 'weft'",
    "SELECT conrelid::regclass::text, contype, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'weft'::regnamespace",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'weft'",
    "SELECT tablename, policyname, roles::text, cmd, qual, with_check FROM pg_policies WHERE schemaname = 'weft'",
    "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'weft'::regnamespace",
    "SELECT relname, relkind, relrowsecurity, relforcerowsecurity FROM pg_class"
    " WHERE relnamespace = 'weft'::regnamespace",
)


@pytest.fixture
def bare(postgres_server):
    """Give the DSN of a database with pgvector and without tables."""
    name = f"weft_bare_{uuid.uuid4().hex[:8]}"
    with postgres.new_database(postgres_server, name, tables=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute("CREATE EXTENSION vector")
        yield dsn


def test_schema_and_migrations_give_the_same_tables(bare):
    """A new database and one that was migrated from the first version are alike."""
    made = []
    with psycopg.connect(bare, autocommit=True) as db:
        for texts in ([load_schema("postgres")], load_migrations("postgres").values()):
            for text in texts:
                for line in schema.statements(text):
                    db.execute(line)
            made.append([sorted(db.execute(query).fetchall(), key=str) for query in CATALOGUE])
            db.execute("DROP SCHEMA weft CASCADE")

    assert made[0] == made[1]
    assert all(len(rows) > 3 for rows in made[0])


NEXT = """
-- A synthetic next version.
ALTER TABLE weft.document ADD COLUMN size bigint;
UPDATE weft.document SET size = length(source);
ALTER TABLE weft.document ALTER COLUMN size SET NOT NULL;
"""


def test_a_database_with_data_is_migrated_a_statement_at_a_time(bare, monkeypatch):
    """An interrupted migration continues; an older or partly migrated database is not opened."""
    database = PostgresDatabase(bare)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("alpha", ["one"]), make_batch("be", ["two"]))
    before = content(bare)
    here = schema.newest()
    known = {**load_migrations("postgres"), here + 1: NEXT}
    monkeypatch.setattr(schema, "load_migrations", lambda dialect: known)
    with pytest.raises(SchemaMismatch, match=f"schema {here}, this version needs {here + 1}") as caught:
        PostgresDatabase(bare)
    assert "weft db migrate" in caught.value.hint

    with Interrupted.connect(bare, autocommit=True) as db, pytest.raises(KeyboardInterrupt):
        schema.migrate(db, where="here")
    with psycopg.connect(bare, autocommit=True) as db:
        assert db.execute("SELECT version, step FROM weft.schema_version").fetchall() == [(here, 1)]
    with pytest.raises(SchemaMismatch):
        PostgresDatabase(bare)
    assert keyword(store, "one") == ["one"]  # who had it open goes on meanwhile
    with psycopg.connect(bare, autocommit=True) as db:
        assert schema.migrate(db, where="here") == [f"schema {here + 1}"]
        assert schema.migrate(db, where="here") == []
        assert db.execute("SELECT version, step FROM weft.schema_version").fetchall() == [(here + 1, 0)]
        assert db.execute("SELECT source, size FROM weft.document ORDER BY 1").fetchall() == [("alpha", 5), ("be", 2)]
    PostgresDatabase(bare).close()
    assert content(bare) == before
    database.close()


class Interrupted(psycopg.Connection):
    """A connection whose user gives up just before the second statement of the next version is done."""

    def execute(self, query, params=None, **options):
        if isinstance(query, str) and query.startswith("UPDATE weft.document"):
            super().execute(query, params, **options)
            raise KeyboardInterrupt
        return super().execute(query, params, **options)
