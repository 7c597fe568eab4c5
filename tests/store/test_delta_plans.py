"""Query plans of PostgreSQL for tables of deltas: each statement finds the rows of its namespace by an index."""

import re

import postgres
import psycopg
import pytest

from weft.store.sql_files import load_queries

PLACEHOLDER = re.compile(r"(?<!:):([a-z]\w*)")

READERS = sorted(name for name, text in load_queries("postgres").items() if re.search(r"weft\.\w+_delta AS", text))
"""Statements that read deltas. Others insert them, or delete all of a namespace."""

ALL_NAMES = {
    "all_entities": "check",
    "fold_mentions": "folds all",
    "top_entities": "ranks the names with deltas and the best of the others",
}
"""Statements that read the deltas of all names of a namespace, and why. The bounds of folding limit them."""

SIZES = {"namespaces": 100, "writes": 128, "names": 2}
"""Namespaces that share the tables, rows that stay pending in each, and names in each write."""

FILL = [
    "INSERT INTO weft.namespace (namespace) SELECT 'tenant ' || n FROM generate_series(1, %(namespaces)s) AS n",
    "INSERT INTO weft.write_delta (namespace, chunks, length, added, touched)"
    " SELECT 'tenant ' || n, 1, 100, ARRAY[w], 1"
    " FROM generate_series(1, %(namespaces)s) AS n, generate_series(1, %(writes)s) AS w",
    "INSERT INTO weft.mention_delta (namespace, key, mentions, chunks)"
    " SELECT 'tenant ' || n, 'name ' || (w * k %% 500), 1, 1"
    " FROM generate_series(1, %(namespaces)s) AS n, generate_series(1, %(writes)s) AS w,"
    " generate_series(1, %(names)s) AS k",
]

TENANT, LIST = "'tenant 7'", """'["name 1", "name 2"]'"""
VALUES = {
    "namespace": TENANT,
    "name": TENANT,
    "keys": LIST,
    "ids": LIST,
    "alone": LIST,
    "terms": "'{a,b}'",
    "about": "TRUE",
}
"""Values of placeholders as SQL. All others are numbers."""


@pytest.fixture(scope="module")
def tenants(postgres_server):
    """Give connections of the owner and of an ordinary role to tables that many namespaces share."""
    with (
        postgres.new_database(postgres_server, "weft_delta_plans") as dsn,
        postgres.new_role(dsn, name="weft_delta_plans", grants=postgres.ORDINARY) as ordinary,
        psycopg.connect(dsn, autocommit=True) as db,
        psycopg.connect(ordinary, autocommit=True) as reader,
    ):
        for statement in FILL:
            db.execute(statement, SIZES)
        reader.execute("SELECT set_config('weft.namespace', 'tenant 7', FALSE)")
        yield db, reader


def scans(plan):
    """Yield table and condition of every access to a table of deltas."""
    table = plan.get("Relation Name", "")
    if "_delta" in table:
        yield table, f"{plan.get('Index Cond', '')}{plan.get('Recheck Cond', '')}"
    for part in plan.get("Plans", ()):
        yield from scans(part)


def conditions(reader, name):
    """Return table and condition of every access of a statement to a table of deltas."""
    text = load_queries("postgres")[name].rstrip(";")
    names = sorted(set(PLACEHOLDER.findall(text)))
    reader.execute(f"PREPARE one AS {PLACEHOLDER.sub(lambda found: f'${names.index(found[1]) + 1}', text)}")
    values = ", ".join(VALUES.get(key, "10") for key in names)
    ((explained,),) = reader.execute(f"EXPLAIN (FORMAT JSON) EXECUTE one ({values})").fetchall()
    reader.execute("DEALLOCATE one")
    return [*scans(explained[0]["Plan"])]


@pytest.mark.skipif(postgres.IS_CITUS, reason="the plans of one server")
def test_deltas_are_found_by_namespace_and_name(tenants):
    """Without statistics, as after the first writes, and with them; also as a prepared statement."""
    db, reader = tenants
    for has_statistics in (False, True):
        if has_statistics:
            db.execute("ANALYZE")
        for mode in ("force_custom_plan", "force_generic_plan"):
            reader.execute(f"SET plan_cache_mode = {mode}")
            for name in READERS:
                found = conditions(reader, name)
                assert found, name
                for table, condition in found:
                    where = (name, mode, has_statistics, table, condition)
                    assert "namespace = " in condition, where
                    is_by_name = "key = " in condition or table.startswith("write_delta") or name in ALL_NAMES
                    assert is_by_name, where
