"""Statements of the PostgreSQL scripts, one by one, and how the tables are created from them."""

import uuid

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


class Statements(psycopg.Connection):
    """A connection that notes which statements are sent outside a transaction."""

    alone = ()

    def execute(self, query, params=None, **options):
        if self.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            self.alone = (*self.alone, query)
        return super().execute(query, params, **options)


def test_the_owner_of_the_tables_need_not_be_a_superuser(postgres_server):
    """The schema is committed first: another node of a cluster cannot create tables in one that it does not see."""
    name = f"weft_owned_{uuid.uuid4().hex[:8]}"
    with postgres.new_database(postgres_server, name, tables=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        with postgres.new_role(dsn, name=f"{postgres.ROLE}_maker", grants=[f"CREATE ON DATABASE {name}"]) as owner:
            with Statements.connect(owner, autocommit=True) as db:
                assert schema.create(db, where="here")
                assert not schema.create(db, where="here")
                assert [text for text in db.alone if text.startswith("CREATE")] == ["CREATE SCHEMA IF NOT EXISTS weft"]
            database = PostgresDatabase(owner)
            assert database.check() == []
            database.close()
