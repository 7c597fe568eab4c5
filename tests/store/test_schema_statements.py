"""Statements of the PostgreSQL scripts, one by one, and how the tables are created from them."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import postgres
import psycopg
import pytest
from pglast import ast, parse_sql
from pglast.stream import RawStream

from weft.store.postgres import schema
from weft.store.postgres.database import PostgresDatabase
from weft.store.sql_files import load_schema, load_script

CASES = {
    "SELECT 1; SELECT 2;": ["SELECT 1", "SELECT 2"],
    "SELECT 1; -- a comment; with a semicolon\nSELECT 2": ["SELECT 1", "SELECT 2"],
    "-- only a comment\n": [],
    "CREATE FUNCTION f() AS $$BEGIN RETURN; END$$; SELECT 1;": [
        "CREATE FUNCTION f() AS $$BEGIN RETURN; END$$",
        "SELECT 1",
    ],
    "SELECT $$a;b$$, $$c;d$$;\n\n": ["SELECT $$a;b$$, $$c;d$$"],
    "SELECT 1;SELECT 2\n;\n": ["SELECT 1", "SELECT 2"],
}


@pytest.mark.parametrize("text", CASES)
def test_a_script_is_split_at_semicolons_outside_of_bodies_and_comments(text):
    assert list(schema.split_statements(text)) == CASES[text]


@pytest.mark.parametrize(("name", "least"), [("schema", 90), ("row_security", 8)])
def test_each_statement_of_a_script_is_what_the_parser_reads(name, least):
    """The parser splits the whole file by itself."""
    script = load_script("postgres", name).replace("{table}", "weft.document")
    expected = [RawStream()(raw) for raw in parse_sql(script)]
    found = [parse_sql(statement) for statement in schema.split_statements(script)]

    assert [len(trees) for trees in found] == [1] * len(expected)
    assert [RawStream()(tree) for (tree,) in found] == expected
    assert len(expected) >= least


@pytest.mark.parametrize("partitions", [0, 3])
def test_each_statement_that_is_sent_is_one(partitions):
    """Marked tables have partitions, each hidden by row security; all tables are created before they are altered."""
    texts = [*schema.statements(load_schema("postgres"), partitions=partitions)]
    texts += schema.security_statements(partitions=partitions)
    sent = [parse_sql(text) for text in texts]
    kinds = [type(trees[0].stmt) for trees in sent]

    assert all(len(trees) == 1 for trees in sent)
    assert kinds[0] is ast.CreateSchemaStmt
    assert ast.CreateStmt not in kinds[kinds.index(ast.AlterTableStmt) :]
    assert kinds.count(ast.CreateStmt) == 2 + (1 + partitions) * len(schema.distributed_tables())
    assert kinds.count(ast.CreatePolicyStmt) == 2 + len(schema.distributed_tables())


class CommittedSchema(psycopg.Connection):
    """A connection that notes, at each `CREATE TABLE`, whether another connection sees the schema."""

    seen = ()

    def execute(self, query, params=None, **options):
        if str(query).startswith("CREATE TABLE"):
            with psycopg.connect(self.observer) as other:
                self.seen += other.execute("SELECT to_regnamespace('weft') IS NOT NULL").fetchone()
        return super().execute(query, params, **options)


def test_the_owner_of_the_tables_need_not_be_a_superuser(postgres_server):
    """The schema is committed first: another node of a cluster cannot create tables in one that it does not see."""
    name = f"weft_owned_{uuid.uuid4().hex[:8]}"
    with postgres.new_database(postgres_server, name, tables=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        with postgres.new_role(dsn, name=f"{postgres.ROLE}_maker", grants=[f"CREATE ON DATABASE {name}"]) as owner:
            with CommittedSchema.connect(owner, autocommit=True) as db:
                db.observer = dsn
                assert schema.create(db, where="here")
                assert not schema.create(db, where="here")
                assert len(db.seen) == len(schema.tables()) and all(db.seen)
            database = PostgresDatabase(owner)
            assert database.check() == []
            database.close()


class TransactionPool:
    """A connection as a pooler in transaction mode gives it: after each transaction, it is another one."""

    def __init__(self, dsn):
        self._pool = [psycopg.connect(dsn, autocommit=True) for _ in range(5)]
        self.info = self._pool[0].info

    def execute(self, query, params=None):
        if self._pool[0].info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            self._pool.append(self._pool.pop(0))
        return self._pool[0].execute(query, params)

    def transaction(self):
        self._pool.append(self._pool.pop(0))
        return self._pool[0].transaction()

    def close(self):
        for db in self._pool:
            db.close()


def test_the_tables_are_created_once_behind_a_pooler(postgres_server):
    """Several processes open an empty database at once. No lock is left on a connection of the pooler."""
    name = f"weft_pooled_{uuid.uuid4().hex[:8]}"
    with postgres.new_database(postgres_server, name, tables=False, pgvector=postgres.IS_CITUS) as dsn:
        pools = [TransactionPool(dsn) for _ in range(3)]
        with ThreadPoolExecutor() as threads:
            created = [*threads.map(lambda pool: schema.create(pool, where="here"), pools)]
        with psycopg.connect(dsn, autocommit=True) as db:
            held = db.execute(
                "SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database"
                " WHERE locktype = 'advisory' AND datname = current_database()"
            ).fetchone()
        for pool in pools:
            pool.close()
    assert sorted(created) == [False, False, True]
    assert held == (0,)
