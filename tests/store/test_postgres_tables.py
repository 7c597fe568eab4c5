"""Tables of a server: row security and migrations."""

import uuid
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
import postgres
import psycopg
import pytest
from contract import CALIBRATION, MODEL, keyword, make_batch
from logical import content
from test_graph_soundness import fill

from weft.engine.api_keys import Keyring
from weft.errors import SchemaMismatch
from weft.records import Fact, FactEvent, Job, LlmRun, Usage
from weft.store.postgres import schema
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.session import statement
from weft.store.sql_files import load_migrations, load_schema
from weft.store.sqlite.database import SqliteDatabase

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
FACT = Fact(id="f1", subject="user", subject_name="User", predicate="likes", value="tea", created=NOW)

OPEN_TO_READ = {"namespace", "chunk_term"}
"""Tables of other namespaces that a role can read: names and hashed terms."""


def fill_all(database, *names):
    """Put something into every table, once for each namespace."""
    for name in names:
        store = fill(database, name)
        store.write(make_batch("labelled", ["alpha"], namespace=name, metadata={"tag": "x"}))
        store.write_calibration(CALIBRATION)
        store.facts.write([FACT], events=[FactEvent(fact_id="f1", at=NOW, action="added")])
        store.facts.write_vectors(MODEL.fingerprint, {"user": np.array([1, 0, 0], dtype=np.float32)})
        with_fact = make_batch("stated", ["beta"], namespace=name)
        store.write(replace(with_fact, facts=(FACT,)))
        store.jobs.enqueue([Job(id="j", run="r", source="waiting", content_hash="h", recipe="x")])
        store.spending.write(LlmRun(id="r", at=1.0, model="openai/tiny", usage=Usage(calls=1)))
    return database


def tables_by_namespace(db):
    """Return every table that has a namespace, as the server knows them."""
    rows = db.execute(
        "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'namespace'"
        " WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    )
    return sorted(row[0] for row in rows)


# ── row security ────────────────────────────────────────────────────────────────────────────────


def test_an_ordinary_role_can_do_everything_through_the_adapter(postgres_dsn, tmp_path, caplog):
    """It ends up with the content that a file has; only the index over vectors is left to the owner."""
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        database = fill_all(PostgresDatabase(role), "mine", "theirs")
        expected = fill_all(SqliteDatabase(str(tmp_path / "weft.db")), "mine", "theirs")
        assert content(role) == content(postgres_dsn) == content(tmp_path / "weft.db")
        assert database.check() == []
        assert database.namespaces() == ["mine", "theirs"]
        mine = database.store("mine")
        assert keyword(mine, "ledger") == keyword(expected.store("mine"), "ledger")
        key, text = Keyring(database).create("laptop", namespaces=["mine"])
        assert Keyring(database).find(text) == key
        assert database.drop("theirs") and not database.drop("theirs")
        assert expected.drop("theirs")
        assert content(postgres_dsn) == content(tmp_path / "weft.db")
        assert database.repair() == []
        database.close()
        expected.close()


def test_a_role_that_may_not_create_an_index_gets_a_warning(postgres_dsn, caplog):
    """Vectors of a new dimension are compared one by one."""
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        database = PostgresDatabase(role)
        database.store("mine").write_model(replace(MODEL, dimension=11))
        database.close()

    assert "no vector index of dimension 11" in caplog.text


def check_walls(db, mine, theirs):
    """Assert that statements without a namespace filter reach only the bound namespace."""
    for table in tables_by_namespace(db):
        with db.transaction(force_rollback=True):
            seen = f"SELECT DISTINCT namespace FROM weft.{table}"
            assert table in OPEN_TO_READ or db.execute(seen).fetchall() == [], table
            assert db.execute(f"DELETE FROM weft.{table}").rowcount == 0, table
            db.execute("SELECT set_config('weft.namespace', %s, TRUE)", [mine])
            expected = {(mine,), (theirs,)} if table in OPEN_TO_READ else {(mine,)}
            assert set(db.execute(seen).fetchall()) == expected, f"fill or guard {table}"
            with pytest.raises(psycopg.errors.InsufficientPrivilege), db.transaction():
                db.execute(f"UPDATE weft.{table} SET namespace = %s WHERE namespace = %s", [theirs, mine])
            assert db.execute(f"UPDATE weft.{table} SET namespace = namespace").rowcount > 0, table
            deleted = db.execute(f"DELETE FROM weft.{table} RETURNING namespace").fetchall()
            assert set(deleted) == {(mine,)}, table


def test_a_statement_without_its_filter_stays_inside_the_namespace(postgres_dsn):
    """In every table there is, for reading, changing, moving and deleting."""
    fill_all(PostgresDatabase(postgres_dsn), "mine", "theirs").close()
    with (
        postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role,
        psycopg.connect(role, autocommit=True) as db,
    ):
        assert len(tables_by_namespace(db)) > 20
        check_walls(db, "mine", "theirs")
        db.execute("SELECT set_config('weft.namespace', 'mine', FALSE)")
        torn = statement("sample_chunks").replace("c.namespace = %(namespace)s", "TRUE")
        torn = torn.replace("d.namespace = %(namespace)s", "TRUE")
        whole = statement("sample_chunks")
        found = db.execute(torn, {"limit": 99}).fetchall()
        assert found == db.execute(whole, {"namespace": "mine", "limit": 99}).fetchall() != []
        assert db.execute(whole, {"namespace": "theirs", "limit": 99}).fetchall() == []


def test_row_security_leaves_the_index_of_terms_in_use(postgres_dsn):
    """With hidden rows the planner could not evaluate the index operator first."""
    asked = "SELECT t.chunk FROM weft.chunk_term AS t WHERE t.held && ARRAY[1, 2]::bigint[]"
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role, psycopg.connect(role) as db:
        db.execute("SELECT set_config('weft.namespace', 'mine', TRUE)")
        db.execute("SET enable_seqscan = off")
        plan = "\n".join(row[0] for row in db.execute(f"EXPLAIN {asked}"))

    assert "Index Cond: (held && " in plan, plan


def test_row_security_applies_to_the_owner(postgres_server):
    """An owner without BYPASSRLS sees one namespace."""
    name = f"weft_owned_{uuid.uuid4().hex[:8]}"
    with postgres.new_database(postgres_server, name, tables=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute("CREATE EXTENSION vector")
        with postgres.new_role(dsn, grants=[f"CREATE ON DATABASE {name}"]) as role:
            database = fill_all(PostgresDatabase(role), "mine", "theirs")
            assert database.check() == []
            with psycopg.connect(role, autocommit=True) as db:
                check_walls(db, "mine", "theirs")
            database.close()


# ── versions ────────────────────────────────────────────────────────────────────────────────────

CATALOGUE = (
    "SELECT table_name, column_name, data_type, collation_name, column_default, is_nullable"
    " FROM information_schema.columns WHERE table_schema = 'weft'",
    "SELECT conrelid::regclass::text, contype, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'weft'::regnamespace",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'weft'",
    "SELECT tablename, policyname, cmd, qual, with_check FROM pg_policies WHERE schemaname = 'weft'",
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
    assert all(len(rows) > 15 for rows in made[0])


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
