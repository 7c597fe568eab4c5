"""Tables of a server: schema versions and migrations."""

import uuid

import postgres
import psycopg
import pytest
from contract import MODEL, keyword, make_batch
from logical import content
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from test_postgres_row_security import check_walls, fill_all, fill_fact_texts, revealed

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
    assert all(len(rows) > 1 for rows in made[0])


def create_version_3(dsn, filled):
    """Create the tables of schema 3, with the rows of another database, but without its keyword index."""
    with psycopg.connect(dsn, autocommit=True) as db:
        for number in (1, 2, 3):
            for line in schema.statements(load_migrations("postgres")[number], partitions=2):
                if schema.CLOSED not in line:
                    db.execute(line)
        db.execute("INSERT INTO weft.schema_version (version, step) VALUES (3, 0)")
    with psycopg.connect(filled) as source, psycopg.connect(make_conninfo(dsn, user=owner_of(filled))) as db:
        db.execute("SET session_replication_role = replica")  # rows come in any order
        columns = db.execute(
            "SELECT a.attrelid::regclass::text, string_agg(a.attname, ', ') FROM pg_attribute AS a"
            " JOIN pg_class AS c ON c.oid = a.attrelid AND c.relnamespace = 'weft'::regnamespace"
            " WHERE (c.relkind = 'p' OR c.relname = 'api_key') AND c.relname <> 'chunk_term'"
            " AND a.attnum > 0 AND a.attgenerated = '' GROUP BY 1"
        )
        for table, names in columns.fetchall():
            with (
                source.cursor().copy(f"COPY (SELECT {names} FROM {table}) TO STDOUT") as rows,
                db.cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copied,
            ):
                for row in rows:
                    copied.write(row)


def owner_of(dsn):
    return conninfo_to_dict(dsn)["user"]


class InterruptedAtSecondNamespace(psycopg.Connection):
    """A connection whose user gives up while the postings of the second namespace are built."""

    namespaces = 0

    def execute(self, query, params=None, **options):
        if isinstance(query, str) and query.startswith("DELETE FROM weft.posting"):
            self.namespaces += 1
            if self.namespaces == 2:
                raise KeyboardInterrupt
        return super().execute(query, params, **options)


def test_tables_of_version_3_are_closed_and_their_postings_packed(postgres_dsn, bare):
    """A superuser migrates the tables of another role; after an interruption the rest is done."""
    fill_all(PostgresDatabase(postgres_dsn), "mine", "theirs").close()
    name = conninfo_to_dict(bare)["dbname"]
    with postgres.new_role(bare, name=f"{postgres.ROLE}_owner", grants=[f"CREATE ON DATABASE {name}"]) as owner:
        create_version_3(owner, postgres_dsn)
        with pytest.raises(SchemaMismatch, match="schema 3"):
            PostgresDatabase(owner)
        with InterruptedAtSecondNamespace.connect(bare, autocommit=True) as db, pytest.raises(KeyboardInterrupt):
            schema.migrate(db, where="here")
        with psycopg.connect(bare, autocommit=True) as db:
            asked = "SELECT DISTINCT namespace FROM weft.posting"
            assert db.execute(asked).fetchall() == [("mine",)]
            assert schema.migrate(db, where="here") == [
                "schema 11",
                "schema 12",
                "schema 13",
                "schema 14",
                "schema 15",
                "schema 16",
                "schema 17",
                "schema 18",
            ]
            owned = "SELECT DISTINCT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'weft'::regnamespace"
            assert db.execute(owned).fetchall() == [(owner_of(owner),)]
        database = fill_fact_texts(PostgresDatabase(owner), "mine", "theirs")
        for store in map(database.store, ("mine", "theirs")):
            store.write_calibration(store.calibration())  # logs a write
        assert content(bare) == content(postgres_dsn)
        assert database.namespaces() == ["mine", "theirs"]
        assert database.check() == []
        with postgres.new_role(owner, creator=bare, grants=postgres.ORDINARY) as role:
            served = PostgresDatabase(role)
            assert keyword(served.store("mine"), "ledger") == keyword(database.store("mine"), "ledger") != []
            served.close()
            with psycopg.connect(role, autocommit=True) as db:
                check_walls(db, "mine", "theirs")
                assert revealed(db, ["mine", "theirs"]) == set()
        database.close()


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
    with pytest.raises(SchemaMismatch, match=f"schema {here}, but this version needs {here + 1}") as caught:
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
