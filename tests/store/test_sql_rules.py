"""Rules for PostgreSQL statements, and violations that the rules detect."""

import re
from pathlib import Path

import pytest
from pglast import ast, enums
from sql_rules import NO_NAMESPACE, PLACEHOLDER, broken_rules, each, parse

from weft.store.postgres import schema
from weft.store.sql_files import load_queries, load_schema

ROOT = Path(__file__).parents[2] / "src" / "weft" / "store"
NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)

UNBOUND = {
    "list_namespaces": "asks which namespaces there are",
    "all_namespaces": "check: asks which namespaces there are",
}
"""Statements that look at more than one namespace."""

BY_NAME = {
    "bind_namespace": "binds the transaction to it",
    "find_namespace": "asks whether it exists",
    "share_namespace": "asked before it is known to exist",
    "lock_namespace": "asked before it is known to exist",
    "hold_namespace": "asked before it is known to exist",
    "lock_documents": "locks ids, reads no table",
    "try_namespace": "asked before it is known to exist",
    "write_namespace": "makes it",
    "delete_namespace": "asked by whoever has nothing but its name",
}
"""Statements to which the namespace is `:name`, as it is to those of SQLite."""

ONLY_SQLITE = {
    "write_new_candidate": "known values of a new chunk are written without a lookup",
    "add_term": "postings",
    "all_fact_vectors": "pgvector is always there",
    "valid_fact_text_vectors": "pgvector is always there",
    "all_vectors": "pgvector is always there",
    "count_entities_between": "read indexes beside the file",
    "count_keywords_between": "read indexes beside the file",
    "count_unnumbered_terms": "postings",
    "count_vectors_between": "read indexes beside the file",
    "drop_term": "postings",
    "delete_all_unused_names": "numbers of keys",
    "delete_unused_names": "numbers of keys",
    "name_numbers": "numbers of keys",
    "term_counts": "postings of many terms in one statement",
    "write_names": "numbers of keys",
    "entities_at": "read indexes beside the file",
    "entities_between": "read indexes beside the file",
    "given_numbers": "read indexes beside the file",
    "gone_terms": "read indexes beside the file",
    "index_targets": "read indexes beside the file",
    "keyword_numbers_between": "read indexes beside the file",
    "keywords_at": "read indexes beside the file",
    "keywords_between": "read indexes beside the file",
    "last_entities": "read indexes beside the file",
    "last_given_entity": "read indexes beside the file",
    "last_keywords": "read indexes beside the file",
    "last_vectors": "read indexes beside the file",
    "vectors_after": "vectors in memory",
    "vector_chunks": "vectors in memory",
    "namespace_state": "read indexes beside the file",
    "number_missing_terms": "postings",
    "number_terms": "postings",
    "read_block": "postings",
    "sample_entity_vectors": "read indexes beside the file",
    "sample_numbered_vectors": "read indexes beside the file",
    "sample_terms": "read indexes beside the file",
    "score_entities": "read indexes beside the file",
    "vectors_to_score": "read indexes beside the file",
    "term_blocks": "postings",
    "term_postings": "postings",
    "terms_of_chunks": "read indexes beside the file",
    "vectors_at": "read indexes beside the file",
    "vectors_between": "read indexes beside the file",
}


ONLY_POSTGRES = {
    "append_postings": "postings of many terms in one statement",
    "delete_mention_deltas": "deltas",
    "delete_write_deltas": "deltas",
    "fold_mentions": "deltas",
    "fold_writes": "deltas",
    "forget_pending_terms": "deltas",
    "pending_chunks": "deltas",
    "pending_removals": "deltas",
    "write_term_delta": "deltas",
    "bind_namespace": "row security",
    "chunk_frequencies": "rows cost less than the postings of common terms",
    "count_term": "postings of many terms in one statement",
    "drop_terms": "postings of many terms in one statement",
    "filter_chunks_by_label": "by an index",
    "first_postings": "postings of many terms in one statement",
    "limit_statements": "a lock on another node",
    "share_namespace": "writers of a file take turns",
    "lock_namespace": "writers of a file take turns",
    "hold_namespace": "writers of a file take turns",
    "lock_documents": "writers of a file take turns",
    "postings_at": "postings of many terms in one statement",
    "postings_of": "postings of many terms in one statement",
    "sample_vectors": "an index does not see every vector",
    "search_fact_texts_index": "by an index",
    "search_fact_vectors_index": "by an index",
    "search_vector": "numpy compares the vectors of a file",
    "search_vector_among": "by an index",
    "set_index_candidates": "by an index",
    "search_vector_index": "by an index",
    "try_namespace": "a namespace has one writer, not the whole database",
}

OWN_VALUES = {
    "write_candidate": "SQLite numbers keys and kinds",
    "search_vector": "each adapter ranks in its own way",
    "search_fact_texts": "each adapter ranks in its own way",
    "search_fact_vectors": "each adapter ranks in its own way",
}
"""Statements that only the adapters themselves run."""


# ── the files ───────────────────────────────────────────────────────────────────────────────────


def names_in(folder):
    """Yield the name of every statement in the files of a folder."""
    for path in sorted((ROOT / folder / "sql" / "queries").glob("*.sql")):
        yield from NAME.findall(path.read_text("utf-8"))


POSTGRES, SQLITE = load_queries("postgres"), load_queries("sqlite")
SCRIPTS = {"schema.sql": load_schema("postgres"), "row_security.sql": ";\n".join(schema.security_statements())}


def key_of(name):
    return "name" if name in BY_NAME else "namespace"


# ── what there is keeps to them ─────────────────────────────────────────────────────────────────


def test_every_statement_keeps_the_rules():
    found = {name: broken_rules(POSTGRES[name], key=key_of(name)) for name in POSTGRES.keys() - UNBOUND.keys()}
    assert len(found) > 200
    assert {name: rules for name, rules in found.items() if rules} == {}


@pytest.mark.parametrize("name", SCRIPTS)
def test_schema_keeps_the_rules(name):
    assert broken_rules(SCRIPTS[name], is_script=True) == []


@pytest.mark.parametrize("name", UNBOUND)
def test_exceptions_are_about_the_namespace_alone(name):
    found = broken_rules(POSTGRES[name])
    assert found and all("is not bound to the namespace" in line for line in found)


def test_every_table_of_a_namespace_is_spread():
    script = SCRIPTS["schema.sql"]
    tables = {node.relation.relname for node in each(parse(script)[0], ast.CreateStmt)}
    marked = re.findall(r"^CREATE TABLE weft\.(\w+) \((?:\n .*)*\n\) /\* by namespace \*/;$", script, re.MULTILINE)
    assert tables == {*marked, *NO_NAMESPACE}


def test_every_table_has_a_primary_key():
    """Citus moves a shard only by its primary key, and refuses to rebalance a database with a table that has none."""
    for table in each(parse(SCRIPTS["schema.sql"])[0], ast.CreateStmt):
        kinds = {constraint.contype for constraint in each(table.tableElts, ast.Constraint)}
        assert enums.ConstrType.CONSTR_PRIMARY in kinds, table.relation.relname


def test_exceptions_are_needed():
    assert POSTGRES.keys() >= BY_NAME.keys() | UNBOUND.keys() | OWN_VALUES.keys()
    assert all(":namespace" not in POSTGRES[name] for name in BY_NAME)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_name_is_given_once(dialect):
    names = [*names_in("relational"), *names_in(dialect)]
    assert sorted(names) == sorted(set(names))


def test_both_databases_know_the_same_statements():
    assert SQLITE.keys() - POSTGRES.keys() == ONLY_SQLITE.keys()
    assert POSTGRES.keys() - SQLITE.keys() == ONLY_POSTGRES.keys()


def test_statements_of_one_name_take_the_same_values():
    """Callers know one set of values, and the namespace. Sketches are for SQLite alone."""
    postgres, sqlite = (
        {name: set(PLACEHOLDER.findall(sql)) - {"namespace"} for name, sql in found.items()}
        for found in (POSTGRES, SQLITE)
    )
    names = POSTGRES.keys() & SQLITE.keys() - OWN_VALUES.keys()
    assert len(names) > 200
    assert {name for name in names if postgres[name] != sqlite[name] - {"sketch"}} == set()


# ── and they catch what does not ────────────────────────────────────────────────────────────────

BOUND = "a.namespace = :namespace"
GOOD = [
    "SELECT 1 FROM weft.fact WHERE namespace = :namespace",
    "SELECT 1 FROM weft.fact AS a WHERE :namespace::text = a.namespace AND (a.id = :id OR a.id = '')",
    f"SELECT 1 FROM weft.fact a LEFT JOIN weft.entity b ON b.namespace = :namespace AND b.id = a.id WHERE {BOUND}",
    f"SELECT 1 FROM jsonb_array_elements_text(:ids::jsonb) AS k (v) JOIN weft.fact AS a ON {BOUND} AND a.id = k.v",
    f"WITH x AS (SELECT a.id FROM weft.fact AS a WHERE {BOUND}) SELECT 1 FROM x JOIN x AS y ON x.id = y.id",
    "SELECT id FROM weft.api_key",
    f"INSERT INTO weft.label (namespace, key) SELECT a.namespace, a.id FROM weft.fact AS a WHERE {BOUND}",
    "INSERT INTO weft.label (namespace, key) VALUES (:namespace, 1), (:namespace::text, 2)",
    f"UPDATE weft.fact AS a SET at = greatest(:at::bigint, coalesce(a.at, 0)) WHERE {BOUND}",
]


@pytest.mark.parametrize("sql", GOOD)
def test_good_statement_passes(sql):
    assert broken_rules(sql) == []


def test_good_function_passes():
    assert broken_rules(FUNCTION, is_script=True) == []


UNBOUND_BAD = {
    "no condition": "SELECT 1 FROM weft.fact",
    "another column": "SELECT 1 FROM weft.fact WHERE id = :namespace",
    "another value": "SELECT 1 FROM weft.fact WHERE namespace = :name AND id = :namespace",
    "a literal": "SELECT 1 FROM weft.fact WHERE namespace = 'mine' AND id = :namespace",
    "another operator": "SELECT 1 FROM weft.fact WHERE namespace >= :namespace",
    "one of many": "SELECT 1 FROM weft.fact WHERE namespace = ANY (:namespace)",
    "one of two ways": "SELECT 1 FROM weft.fact WHERE namespace = :namespace OR id = :id",
    "the opposite": "SELECT 1 FROM weft.fact WHERE NOT (namespace = :namespace AND id = :id)",
    "join": f"SELECT 1 FROM weft.entity AS a JOIN weft.fact AS b ON b.id = a.id WHERE {BOUND}",
    "by way of another": f"SELECT 1 FROM weft.entity AS a JOIN weft.fact b ON b.namespace = a.namespace WHERE {BOUND}",
    "whose is unsaid": "SELECT 1 FROM weft.fact AS b CROSS JOIN (SELECT 1) AS a WHERE namespace = :namespace",
    "natural join": f"SELECT 1 FROM weft.entity AS a NATURAL JOIN weft.fact WHERE {BOUND}",
    "kept by a left join": f"SELECT 1 FROM weft.fact AS a LEFT JOIN weft.api_key AS b ON {BOUND}",
    "kept by a full join": f"SELECT 1 FROM weft.api_key AS b FULL JOIN weft.fact AS a ON {BOUND}",
    "kept by a right join": f"SELECT 1 FROM weft.api_key AS b RIGHT JOIN weft.fact AS a ON {BOUND}",
    "subquery": f"SELECT (SELECT count(*) FROM weft.fact AS b) FROM weft.entity AS a WHERE {BOUND}",
    "EXISTS": f"SELECT 1 FROM weft.entity a WHERE {BOUND} AND EXISTS (SELECT 1 FROM weft.fact b WHERE b.id = a.id)",
    "the outer one again": f"SELECT 1 FROM weft.entity a WHERE 1 = (SELECT 1 FROM weft.fact WHERE {BOUND}) AND {BOUND}",
    "the inner one only": f"SELECT 1 FROM weft.fact b WHERE EXISTS (SELECT 1 FROM weft.entity AS a WHERE {BOUND})",
    "FROM a subquery": "SELECT 1 FROM (SELECT * FROM weft.fact) AS a WHERE a.namespace = :namespace",
    "LATERAL": f"SELECT 1 FROM weft.entity a, LATERAL (SELECT 1 FROM weft.fact b WHERE b.id = a.id) f WHERE {BOUND}",
    "UNION": f"SELECT 1 FROM weft.entity AS a WHERE {BOUND} UNION SELECT 1 FROM weft.fact",
    "WITH": "WITH x AS (SELECT * FROM weft.fact) SELECT 1 FROM x WHERE x.namespace = :namespace",
    "recursion": f"WITH RECURSIVE x AS (SELECT a.id FROM weft.entity AS a WHERE {BOUND} UNION ALL"
    " SELECT b.id FROM weft.fact AS b JOIN x ON x.id = b.id) SELECT 1 FROM x",
    "INSERT ... SELECT": "INSERT INTO weft.label (namespace, key) SELECT a.namespace, a.id FROM weft.fact AS a",
    "UPDATE": "UPDATE weft.fact SET note = ''",
    "UPDATE ... FROM": f"UPDATE weft.entity AS a SET id = b.id FROM weft.fact AS b WHERE {BOUND}",
    "DELETE": "DELETE FROM weft.fact WHERE id = :id",
    "DELETE ... USING": f"DELETE FROM weft.entity AS a USING weft.fact AS b WHERE {BOUND} AND b.id = a.id",
    "RETURNING": f"DELETE FROM weft.entity AS a WHERE {BOUND} RETURNING (SELECT max(id) FROM weft.fact)",
    "DO UPDATE": "INSERT INTO weft.label (namespace, key) VALUES (:namespace, 1) ON CONFLICT (namespace, key)"
    " DO UPDATE SET key = (SELECT max(id) FROM weft.fact)",
}


@pytest.mark.parametrize("case", UNBOUND_BAD)
def test_unbound_table_is_found(case):
    found = broken_rules(UNBOUND_BAD[case])
    assert len(found) == 1 and re.match(r"(fact|label) as \w+ is not bound", found[0]), found


T = "namespace text, x text"
BOUND_TO = "AND tenant = current_setting('weft.namespace', TRUE)"
FUNCTION = (
    "CREATE FUNCTION weft.f(tenant text) RETURNS SETOF weft.fact LANGUAGE plpgsql SECURITY DEFINER SET search_path = ''"
    f" AS $$BEGIN RETURN QUERY\nSELECT a.* FROM weft.fact AS a WHERE a.namespace = tenant {BOUND_TO}; END$$"
)
BAD = [
    ("SELECT 1 FROM fact WHERE namespace = :namespace", "fact is not said to be in the schema"),
    ("INSERT INTO label (namespace) VALUES (:namespace)", "label is not said to be in the schema"),
    ("INSERT INTO weft.label (key) VALUES (1)", "without namespace"),
    ("INSERT INTO weft.label DEFAULT VALUES", "without namespace"),
    ("INSERT INTO weft.label VALUES (:namespace, 1)", "without namespace"),
    ("INSERT INTO weft.label (key, namespace) VALUES (:namespace, 'x')", "of another namespace"),
    ("INSERT INTO weft.label (namespace) VALUES (:namespace), ('x')", "of another namespace"),
    ("INSERT INTO weft.label (namespace) SELECT :x UNION SELECT :namespace", "of another namespace"),
    (f"INSERT INTO weft.label (namespace, key) SELECT a.* FROM weft.fact AS a WHERE {BOUND}", "of another namespace"),
    (f"INSERT INTO weft.label (namespace) SELECT a.id FROM weft.fact AS a WHERE {BOUND}", "of another namespace"),
    (f"INSERT INTO weft.label (namespace) SELECT :namespace FROM weft.fact AS a WHERE {BOUND}", "of another namespace"),
    ("INSERT INTO weft.label (namespace, key) VALUES (:namespace, (SELECT 1))", "a query among values"),
    ("INSERT INTO weft.label (namespace) VALUES (:namespace) ON CONFLICT (key) DO NOTHING", "beyond the namespace"),
    (
        "INSERT INTO weft.label (namespace) VALUES (:namespace) ON CONFLICT (namespace) DO UPDATE SET namespace = 'x'",
        "changes the namespace",
    ),
    ("UPDATE weft.fact SET namespace = :x WHERE namespace = :namespace", "changes the namespace"),
    ("UPDATE weft.fact SET (id, namespace) = (:x, :y) WHERE namespace = :namespace", "changes the namespace"),
    *(
        (f"UPDATE weft.fact SET at = {call} WHERE namespace = :namespace", "in an update")
        for call in (
            "nextval('weft.number')",
            "random()",
            "clock_timestamp()",
            "now()",
            "CURRENT_TIMESTAMP",
            "ours(at)",
        )
    ),
    ("UPDATE weft.fact SET at = 1 WHERE namespace = :namespace AND id < (SELECT random())", "random in an update"),
    (
        "INSERT INTO weft.label (namespace) VALUES (:namespace) ON CONFLICT (namespace) DO UPDATE SET at = now()",
        "now in an update",
    ),
    *(
        (
            f"WITH RECURSIVE x AS (SELECT '' UNION ALL SELECT a.id FROM weft.fact AS a, x WHERE {BOUND} AND {term})"
            " SELECT 1 FROM x",
            "= ANY in a recursive",
        )
        for term in ("a.id = ANY (:ids)", "a.id = ANY (SELECT '')", "a.id IN (SELECT '')")
    ),
    (
        "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x) CYCLE n SET c USING p SELECT 1 FROM x",
        "CYCLE",
    ),
    ("MERGE INTO weft.fact USING weft.entity ON FALSE WHEN MATCHED THEN DELETE", "MERGE"),
    ("CREATE TRIGGER t AFTER INSERT ON weft.fact EXECUTE FUNCTION f()", "trigger"),
    *(
        (FUNCTION.replace(part, ""), "the function f")
        for part in ("SECURITY DEFINER", "SET search_path = ''", BOUND_TO)
    ),
    (FUNCTION.replace("RETURN QUERY", "DELETE FROM weft.fact; RETURN QUERY"), "the function f may do anything"),
    (FUNCTION.replace("a.namespace = tenant", "TRUE"), "fact as a is not bound"),
    ("CREATE RULE r AS ON DELETE TO weft.fact DO INSTEAD NOTHING", "rule"),
    ("DO 'BEGIN END'", "DO"),
    ("SELECT 1; SELECT 2", "2 statements"),
    ("", "0 statements"),
    ("TRUNCATE weft.fact", "TruncateStmt"),
    ("LOCK TABLE weft.fact", "LockStmt"),
]
BAD_SCRIPTS = [
    ("CREATE TABLE weft.t (x text, PRIMARY KEY (namespace))", "t has no namespace"),
    (f"CREATE TABLE t ({T}, PRIMARY KEY (namespace))", "is not said to be in the schema"),
    (f"CREATE TABLE weft.t ({T} PRIMARY KEY)", "CONSTR_PRIMARY"),
    (f"CREATE TABLE weft.t ({T}, PRIMARY KEY (x, namespace))", "CONSTR_PRIMARY"),
    (f"CREATE TABLE weft.t ({T} UNIQUE, PRIMARY KEY (namespace, x))", "CONSTR_UNIQUE"),
    (f"CREATE TABLE weft.t ({T}, PRIMARY KEY (namespace, x), UNIQUE (x))", "CONSTR_UNIQUE"),
    (f"CREATE TABLE weft.t ({T}, PRIMARY KEY (namespace), EXCLUDE USING gist (x WITH =))", "CONSTR_EXCLUSION"),
    (f"CREATE TABLE weft.t ({T} REFERENCES weft.fact, PRIMARY KEY (namespace, x))", "CONSTR_FOREIGN"),
    (f"CREATE TABLE weft.t ({T}, PRIMARY KEY (namespace, x), FOREIGN KEY (x) REFERENCES weft.u)", "CONSTR_FOREIGN"),
    (
        f"CREATE TABLE weft.t ({T}, PRIMARY KEY (namespace), FOREIGN KEY (namespace, x) REFERENCES weft.u (x, y))",
        "CONSTR_FOREIGN",
    ),
    ("CREATE TABLE weft.t (namespace text PRIMARY KEY REFERENCES weft.api_key)", "in no namespace"),
    ("CREATE UNIQUE INDEX i ON weft.t (x, namespace)", "i does not begin with"),
    ("CREATE UNIQUE INDEX i ON weft.t (lower(namespace))", "i does not begin with"),
    ("ALTER TABLE weft.t ADD COLUMN y text UNIQUE", "CONSTR_UNIQUE"),
    ("ALTER TABLE weft.t ADD UNIQUE (x)", "CONSTR_UNIQUE"),
    ("ALTER TABLE weft.t ADD FOREIGN KEY (x) REFERENCES weft.u (x)", "CONSTR_FOREIGN"),
    ("CREATE VIEW weft.v AS SELECT 1 FROM weft.fact", "is not bound"),
    ("UPDATE weft.fact SET note = ''", "is not bound"),
]


def test_every_condition_is_needed():
    """Without any one of its conditions on the namespace a statement is found."""
    tried = 0
    for name in sorted(POSTGRES.keys() - UNBOUND.keys()):
        sql, key = POSTGRES[name], key_of(name)
        for found in re.finditer(rf"(\w+\.)?namespace = :{key}\b", sql):
            tried += 1
            assert broken_rules(sql[: found.start()] + "TRUE" + sql[found.end() :], key=key), name
    assert tried > 200


@pytest.mark.parametrize(("sql", "what"), BAD)
def test_bad_statement_is_found(sql, what):
    assert any(what in line for line in broken_rules(sql))


@pytest.mark.parametrize(("sql", "what"), BAD_SCRIPTS)
def test_bad_schema_is_found(sql, what):
    found = broken_rules(sql, is_script=True)
    assert len(found) == 1 and what in found[0], found
