"""
What Citus refuses, with its error texts as recorded from a cluster (Citus 13.2.2, PostgreSQL 15.18).

`refusals` finds the same in a statement without a cluster. Rules of `sql_rules` find what reads or writes more than
one namespace; the rest is here. On a cluster, `test_citus_rules` sends each example and compares the error.
"""

from typing import NamedTuple

from pglast import ast, enums, parse_sql
from pglast.visitors import Visitor
from sql_rules import broken_rules


class Refusal(NamedTuple):
    """A statement that Citus refuses."""

    sql: str
    error: str
    """A part of the message of Citus."""
    rule: str
    """A part of what `refusals` says of it."""


D = "FROM weft.document AS d WHERE d.namespace = :namespace"
ALTER = "alter table command is currently unsupported"
KEY = "cannot create constraint on"
JOIN = "complex joins are only supported when all distributed tables are co-located"
PARTITION = "cannot execute ALTER TABLE command involving partition column"
VOLATILE = "functions used in UPDATE queries on distributed tables must not be VOLATILE"

QUERIES = [
    Refusal(
        "SELECT d.id FROM weft.document AS d JOIN weft.chunk AS c ON c.document = d.number",
        "the query contains a join that requires repartitioning",
        "is not bound to the namespace",
    ),
    Refusal(
        f"SELECT d.id {D} AND d.number IN (SELECT c.document FROM weft.chunk AS c WHERE c.length > d.number)", JOIN, "c"
    ),
    Refusal(f"SELECT (SELECT count(*) FROM weft.chunk AS c WHERE c.document < d.number) {D}", JOIN, "not bound"),
    Refusal(
        "DELETE FROM weft.document AS d USING weft.chunk AS c WHERE d.namespace = :namespace AND c.text = d.title",
        JOIN,
        "chunk as c is not bound",
    ),
    Refusal(
        "UPDATE weft.document SET namespace = 'x' WHERE namespace = :namespace",
        "modifying the partition value of rows is not allowed",
        "changes the namespace of a row",
    ),
    Refusal(
        "UPDATE weft.document SET title = random()::text WHERE namespace = :namespace", VOLATILE, "random in an update"
    ),
    Refusal(
        "UPDATE weft.fact SET created = nextval('weft.number') WHERE namespace = :namespace",
        VOLATILE,
        "nextval in an update",
    ),
    Refusal(
        "INSERT INTO weft.edit (namespace, kind, key, value) VALUES (:namespace, 'a', 'b', 'c')"
        " ON CONFLICT (namespace, kind, key, value) DO UPDATE SET value = random()::text",
        "functions used in the DO UPDATE SET clause of INSERTs on distributed tables must be marked IMMUTABLE",
        "random in an update",
    ),
    Refusal(
        f"INSERT INTO weft.edit (namespace, kind, key, value) VALUES (:namespace, 'a', 'b', (SELECT max(d.id) {D}))",
        "subqueries are not supported within INSERT queries",
        "a query among values",
    ),
    Refusal(
        "INSERT INTO weft.edit (kind, key, value) VALUES ('a', 'b', 'c')",
        "cannot perform an INSERT without a partition column value",
        "a row without namespace",
    ),
    Refusal(
        "WITH RECURSIVE x AS (SELECT d.number FROM weft.document AS d UNION ALL"
        " SELECT e.number FROM weft.entity AS e JOIN x ON x.number = e.number) SELECT * FROM x",
        "recursive CTEs are only supported when they contain a filter on the distribution column",
        "is not bound to the namespace",
    ),
    Refusal(
        "SELECT namespace FROM weft.document FOR UPDATE",
        "could not run distributed query with FOR UPDATE/SHARE commands",
        "is not bound to the namespace",
    ),
    Refusal(
        "SELECT grouping(d.title) FROM weft.document AS d GROUP BY ROLLUP (d.title)",
        "could not run distributed query with GROUPING",
        "is not bound to the namespace",
    ),
    Refusal(
        "MERGE INTO weft.edit AS d USING weft.edit AS c ON d.key = c.key WHEN MATCHED THEN DELETE",
        "The required join operation is missing between the target's distribution column",
        "MERGE",
    ),
]
"""Statements on rows; `:namespace` is a name."""

SCRIPTS = [
    Refusal("ALTER TABLE weft.document ADD UNIQUE (id)", KEY, "CONSTR_UNIQUE does not begin with the namespace"),
    Refusal("ALTER TABLE weft.document ADD COLUMN y text UNIQUE", KEY, "CONSTR_UNIQUE"),
    Refusal(
        "CREATE UNIQUE INDEX u ON weft.document (id)",
        "creating unique indexes on non-partition columns is currently unsupported",
        "u does not begin with the namespace",
    ),
    Refusal(
        "ALTER TABLE weft.label ADD FOREIGN KEY (namespace, document)"
        " REFERENCES weft.document (namespace, number) ON DELETE SET NULL",
        "cannot create foreign key constraint",
        "ON DELETE",
    ),
    Refusal(
        "ALTER TABLE weft.api_key ADD FOREIGN KEY (id) REFERENCES weft.namespace (namespace)",
        "foreign keys from reference tables and local tables to distributed tables are not supported",
        "api_key refers to a distributed table",
    ),
    Refusal(
        "CREATE TRIGGER t AFTER INSERT ON weft.document FOR EACH ROW"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "triggers are not supported on distributed tables",
        "a trigger",
    ),
    Refusal(
        "ALTER TABLE weft.document DISABLE TRIGGER ALL",
        "triggers are not supported on distributed tables",
        "AT_DisableTrigAll",
    ),
    Refusal("ALTER TABLE weft.document DROP COLUMN namespace", PARTITION, "changes the column namespace"),
    Refusal("ALTER TABLE weft.document ALTER COLUMN namespace TYPE varchar", PARTITION, "changes the column namespace"),
    Refusal(
        "ALTER TABLE weft.document ADD COLUMN y text CHECK (y <> ''), ADD COLUMN z text",
        "cannot execute ADD COLUMN command with PRIMARY KEY, UNIQUE, FOREIGN and CHECK constraints",
        "a column with a constraint",
    ),
    Refusal("ALTER TABLE weft.document SET TABLESPACE pg_default", ALTER, "AT_SetTableSpace"),
    Refusal("ALTER TABLE weft.document INHERIT weft.chunk", ALTER, "AT_AddInherit"),
    Refusal("ALTER TABLE weft.document ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY", ALTER, "AT_AddIdentity"),
    Refusal("ALTER TABLE weft.document ALTER COLUMN title SET STATISTICS 100", ALTER, "AT_SetStatistics"),
    Refusal("ALTER TABLE weft.document ALTER COLUMN title SET STORAGE EXTERNAL", ALTER, "AT_SetStorage"),
    Refusal("ALTER TABLE weft.document CLUSTER ON document_pkey", ALTER, "AT_ClusterOn"),
    Refusal(
        "ALTER SEQUENCE weft.number RESTART",
        "Altering a distributed sequence is currently not supported",
        "a distributed sequence",
    ),
    Refusal(
        "CREATE POLICY p ON weft.document USING (namespace IN (SELECT n.namespace FROM weft.namespace AS n))",
        "unexpected non-SELECT command in SubLink",
        "a query in a policy",
    ),
]
"""Statements on tables."""

KINDS = enums.AlterTableType
ALTERATIONS = {
    KINDS.AT_AddColumn,
    KINDS.AT_DropColumn,
    KINDS.AT_AlterColumnType,
    KINDS.AT_SetNotNull,
    KINDS.AT_DropNotNull,
    KINDS.AT_ColumnDefault,
    KINDS.AT_AddConstraint,
    KINDS.AT_DropConstraint,
    KINDS.AT_ValidateConstraint,
    KINDS.AT_SetRelOptions,
    KINDS.AT_ResetRelOptions,
    KINDS.AT_EnableRowSecurity,
    KINDS.AT_DisableRowSecurity,
    KINDS.AT_ForceRowSecurity,
    KINDS.AT_NoForceRowSecurity,
}
"""Changes of a distributed table that Citus takes."""

REFERENCE_TABLES = {"api_key", "schema_version"}
"""Tables of which every node has a copy."""

FUNCTIONS = {
    "citus_set_coordinator_host": {2},
    "citus_add_node": {2},
    "citus_move_shard_placement": {5},
    "citus_rebalance_start": {0},
    "citus_rebalance_status": {0},
    "get_shard_id_for_distribution_column": {2},
    "isolate_tenant_to_new_shard": {3},
    "create_distributed_table": {2, 3},
    "create_reference_table": {1},
    "citus_total_relation_size": {1, 2},
    "citus_table_size": {1},
    "run_command_on_placements": {2},
}
"""Functions of Citus, with the numbers of arguments that they are called with."""


def refusals(sql, *, is_script=False):
    """Return what Citus would refuse in a statement that is bound by `:namespace`, or in a script."""
    found = broken_rules(sql, is_script=is_script)
    if is_script:
        rules = TableRules()
        rules(tuple(raw.stmt for raw in parse_sql(sql)))
        found += rules.found
    return found


class TableRules(Visitor):
    """Collects what Citus refuses in changes of tables."""

    def __init__(self):
        self.found = []

    def visit_AlterTableStmt(self, ancestors, node):
        table = node.relation.relname
        for command in node.cmds:
            if command.subtype not in ALTERATIONS:
                self.found.append(f"{table}: {command.subtype.name}")
            is_change = command.subtype in (KINDS.AT_DropColumn, KINDS.AT_AlterColumnType)
            if is_change and command.name == "namespace":
                self.found.append(f"{table}: changes the column namespace")
            if command.subtype == KINDS.AT_AddColumn and any(
                part.contype not in (enums.ConstrType.CONSTR_NOTNULL, enums.ConstrType.CONSTR_DEFAULT)
                for part in command.def_.constraints or ()
            ):
                self.found.append(f"{table}: a column with a constraint")

    def visit_Constraint(self, ancestors, node):
        if node.contype != enums.ConstrType.CONSTR_FOREIGN:
            return
        if node.fk_del_action in ("n", "d") or node.fk_upd_action in ("n", "d", "c"):
            self.found.append("ON DELETE or ON UPDATE would change the namespace")
        statement = ancestors.find_nearest(ast.AlterTableStmt) or ancestors.find_nearest(ast.CreateStmt)
        table = statement.node.relation.relname
        if table in REFERENCE_TABLES and node.pktable.relname not in REFERENCE_TABLES:
            self.found.append(f"{table} refers to a distributed table")

    def visit_AlterSeqStmt(self, ancestors, node):
        self.found.append("a distributed sequence is changed")

    def visit_CreatePolicyStmt(self, ancestors, node):
        kinds = Queries()
        kinds((node.qual, node.with_check) if node.with_check else (node.qual,))
        if kinds.count:
            self.found.append(f"{node.table.relname}: a query in a policy")

    def visit_FuncCall(self, ancestors, node):
        name, count = node.funcname[-1].sval, len(node.args or ())
        is_known = name not in FUNCTIONS or count in FUNCTIONS[name]
        if name.startswith(("citus_", "isolate_", "create_dist", "create_ref", "rebalance_")) and name not in FUNCTIONS:
            is_known = False
        if not is_known:
            self.found.append(f"unknown function {name} of {count} arguments")


class Queries(Visitor):
    """Counts queries inside an expression."""

    count = 0

    def visit_SubLink(self, ancestors, node):
        self.count += 1
