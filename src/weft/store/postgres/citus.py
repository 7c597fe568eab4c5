"""Distribution of the tables over the nodes of Citus, and what its nodes know."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import psycopg
from psycopg.rows import TupleRow

from weft.errors import StoreUnavailable
from weft.records import Problem

FORCED = (
    "SELECT relname FROM pg_class "
    "WHERE relnamespace = 'weft'::regnamespace AND relkind IN ('r', 'p') AND relforcerowsecurity ORDER BY relname"
)
"""Tables whose row security applies to their owner."""


def is_distributed(db: psycopg.Connection[TupleRow]) -> bool:
    """Return True if Citus distributes the tables; tables created before Citus was installed are not."""
    if not db.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
        return False
    found = db.execute("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'weft.namespace'::regclass").fetchone()
    return found is not None


def require_coordinator(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Raise `StoreUnavailable` on another node of a cluster: its numbers do not grow in the order of writes."""
    if is_distributed(db) and db.execute("SELECT groupid FROM pg_dist_local_group").fetchone() != (0,):
        raise StoreUnavailable(f"{where} is not the coordinator of its cluster", hint="set --db to the coordinator")


def distribute(db: psycopg.Connection[TupleRow], tables: Sequence[str], *, by_namespace: Collection[str]) -> None:
    """Distribute empty tables over the nodes of Citus, with all rows of a namespace on one node."""
    for table in tables:
        if table not in by_namespace:
            db.execute("SELECT create_reference_table(%s)", [table])
        elif table == "weft.namespace":
            db.execute("SELECT create_distributed_table(%s, 'namespace')", [table])
        else:
            db.execute("SELECT create_distributed_table(%s, 'namespace', colocate_with => 'weft.namespace')", [table])


def find_problems(db: psycopg.Connection[TupleRow]) -> list[Problem]:
    """
    Return a problem if row security hides rows from the owner of distributed tables.

    Citus copies shards as the role that asks for it: rows that this role does not see are lost with the old shard.
    """
    if not is_distributed(db):
        return []
    owner = "SELECT rolname, rolbypassrls OR rolsuper FROM pg_roles AS r JOIN pg_class AS c ON c.relowner = r.oid"
    name, is_exempt = db.execute(f"{owner} WHERE c.oid = 'weft.namespace'::regclass").fetchone() or ("", True)
    forced = db.execute(FORCED).fetchall()
    if is_exempt or not forced:
        return []
    what = (
        f"row security of {len(forced)} tables is forced on their owner {name!r}, "
        "so moving or isolating a shard would lose its rows"
    )
    return [Problem(where="cluster", what=what, repairable=True)]


def exempt_owner(db: psycopg.Connection[TupleRow]) -> list[str]:
    """Let the owner of distributed tables see all rows, as moves of shards need; return a line if this was needed."""
    if not find_problems(db):
        return []
    for (table,) in db.execute(FORCED).fetchall():
        db.execute(f'ALTER TABLE weft."{table}" NO FORCE ROW LEVEL SECURITY')
    return ["row security is no longer forced on the owner of the tables"]


def list_reachable_namespaces(db: psycopg.Connection[TupleRow]) -> tuple[list[str], list[str]]:
    """Return the namespaces of the Citus nodes that answer, and a line for each node that does not."""
    asked = "SELECT coalesce(json_agg(namespace), '[]') FROM %s"
    rows = db.execute(
        "SELECT nodename, nodeport, success, result FROM run_command_on_placements('weft.namespace', %s)", [asked]
    ).fetchall()
    names = sorted(name for _, _, is_answered, result in rows if is_answered for name in json.loads(result))
    silent = sorted({f"{host}:{port}" for host, port, is_answered, _ in rows if not is_answered})
    return names, [f"node {node} does not respond; its namespaces are not listed" for node in silent]


def measure(db: psycopg.Connection[TupleRow]) -> int:
    """Return the bytes of all tables and indexes, on all nodes that respond."""
    sizes = (
        "SELECT coalesce(sum(pg_total_relation_size(c.oid::regclass)), 0)::bigint FROM pg_class AS c "
        "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'"
    )
    reachable = sizes.replace("pg_total_relation_size(c.oid::regclass)", "citus_total_relation_size(c.oid, FALSE)")
    statement = reachable if is_distributed(db) else sizes
    (size,) = db.execute(statement).fetchone() or (0,)
    return int(size)
