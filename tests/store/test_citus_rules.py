"""Statements of Weft, and those that the documentation shows, against what Citus refuses."""

import re
from pathlib import Path

import postgres
import psycopg
import pytest
from citus_rules import FUNCTIONS, QUERIES, SCRIPTS, refusals
from pglast import parse_sql

from weft.store.postgres import schema, vector_indexes
from weft.store.sql_files import load_schema

ROOT = Path(__file__).parents[2]
OPERATOR = [
    ROOT / "docs" / name for name in ("cluster.md", "scaling.md", "postgres.md", "deployment.md", "security.md")
]
BLOCK = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:SELECT|GRANT|CREATE|ALTER|REVOKE|INSERT) [^`]*;)`")
OF_CITUS = ("pg_dist_", "citus_")
"""Tables of Citus begin with this; they belong to no namespace."""


def documented():
    """Yield place and text of the SQL that the pages for operators show, and of the files that deployments run."""
    for page in OPERATOR:
        text = page.read_text("utf-8")
        for number, found in enumerate((*BLOCK.findall(text), *INLINE.findall(text)), start=1):
            yield f"{page.name} {number}", re.sub(r"^\\.*$", "", found, flags=re.MULTILINE)
    for script in sorted((ROOT / "deploy").glob("*.sql")):
        yield script.name, script.read_text("utf-8")


@pytest.mark.parametrize("one", QUERIES, ids=lambda one: one.sql[:40])
def test_a_refused_query_is_found(one):
    assert any(one.rule in line for line in refusals(one.sql)), refusals(one.sql)


@pytest.mark.parametrize("one", SCRIPTS, ids=lambda one: one.sql[:40])
def test_a_refused_change_of_a_table_is_found(one):
    assert any(one.rule in line for line in refusals(one.sql, is_script=True)), refusals(one.sql, is_script=True)


@pytest.mark.parametrize("part", ["schema", "row security", "vector indexes"])
def test_citus_takes_each_statement_that_creates_tables(part):
    texts = {
        "schema": [*schema.statements(load_schema("postgres"))],
        "row security": [text for text in schema.security_statements() if "CREATE FUNCTION" not in text],
        "vector indexes": [
            f"CREATE INDEX CONCURRENTLY {vector_indexes._definition('chunk_vector', 384)}",
            "ALTER TABLE weft.chunk NO FORCE ROW LEVEL SECURITY",
        ],
    }[part]
    assert texts and [(text, found) for text in texts if (found := refusals(text, is_script=True))] == []


def test_citus_takes_each_statement_of_the_documentation():
    """Each is one of PostgreSQL, and calls functions of Citus that exist."""
    texts = dict(documented())
    names = {name.split()[0] for name in texts}
    assert {"cluster.md", "scaling.md", "citus-nodes.sql"} <= names
    for place, text in texts.items():
        assert [raw.stmt for raw in parse_sql(text)], place
        found = [line for line in refusals(text, is_script=True) if not line.startswith(OF_CITUS)]
        assert found == [], place


def test_the_documented_grants_are_those_of_the_tests():
    """Whatever the pages call the roles."""
    for page in ("cluster.md", "scaling.md"):
        text = "".join(text for place, text in documented() if place.startswith(page))
        for grant in postgres.ORDINARY:
            assert grant.removeprefix("REVOKE ") in text, (page, grant)


@pytest.fixture(scope="module")
def cluster(postgres_tables):
    """Give a connection to tables with rows of one namespace."""
    with psycopg.connect(postgres_tables, autocommit=True) as db:
        for name in ("t1", "t2", "t3"):
            db.execute("INSERT INTO weft.namespace (namespace) VALUES (%s) ON CONFLICT DO NOTHING", [name])
        yield db
        db.execute("DELETE FROM weft.namespace")


@pytest.mark.skipif(not postgres.IS_CITUS, reason="asks a cluster")
@pytest.mark.parametrize("one", [*QUERIES, *SCRIPTS], ids=lambda one: one.sql[:40])
def test_a_cluster_refuses_it_with_this_error(cluster, one):
    with pytest.raises(psycopg.Error, match=re.escape(one.error)), cluster.transaction():
        cluster.execute(one.sql.replace(":namespace", "'t1'"))


@pytest.mark.skipif(not postgres.IS_CITUS, reason="asks a cluster")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_cluster_has_the_function(cluster, name):
    """With as many arguments as it is called with, some of which have defaults."""
    found = cluster.execute(
        "SELECT pronargs - pronargdefaults, pronargs FROM pg_proc WHERE proname = %s", [name]
    ).fetchall()
    assert all(any(least <= count <= most for least, most in found) for count in FUNCTIONS[name]), found
