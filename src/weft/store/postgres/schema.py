"""
Tables of a PostgreSQL server: creation, distribution over Citus nodes, and vector indexes.

`namespace` is the first column of every key, so all rows of a namespace can live on one node:

    statement in schema.sql                                one server, partitions=2       Citus
    CREATE TABLE weft.document (...) /* by namespace */    PARTITION BY HASH (namespace)  create_distributed_table
                                                           + document_0, document_1       by namespace, colocated
    CREATE TABLE weft.api_key (...)                        one table                      create_reference_table:
                                                                                          a copy on every node

With Citus, tables are distributed while empty: after the last CREATE TABLE, before the first ALTER TABLE.

Row security is the second barrier after the `WHERE namespace = ...` of each statement. A transaction runs

    SET LOCAL weft.namespace = 'default'

and the policy of each table compares that setting with the row: `namespace = current_setting('weft.namespace', TRUE)`.
Without the setting a transaction sees no rows. Policies are forced, so they apply to the owner of the tables too, but
not to roles with BYPASSRLS. The owner and its members may in addition read names of namespaces, and manage
`weft.api_key`. Other roles use functions that run with the rights of the owner:

    weft.find_key        the key with an exact id and digest
    weft.key_presence    whether there are keys

Partitions have row security without a policy, so that they can only be reached through their table.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow

from weft.errors import StoreUnavailable
from weft.store.postgres.vectors import MAX_INDEX_DIMENSIONS
from weft.store.shared.schema_version import check_version
from weft.store.sql_files import load_schema

logger = logging.getLogger(__name__)

VERSION = 18
"""Version of the tables. Weft 0.2 had versions 1 to 17."""

LOCK_KEY = 0x57454654
"""`WEFT`: key of the advisory lock that changes of tables take."""

MIN_PGVECTOR_VERSION = (0, 8)
"""First version whose index scans continue until they have found enough rows of one namespace."""

MIN_SERVER_VERSION = 140000
"""PostgreSQL 14, as `server_version_num`."""

MAX_BUILD_BYTES = 1 << 30
"""
Maximum memory of the server for building a vector index: that of about 700,000 vectors of dimension 384.

With the default of 64 MB, 100,000 vectors took 394 s.
"""

CLOSED = "ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
"""Actions that hide all rows of a table without a policy."""

_TABLE = re.compile(r"CREATE TABLE (weft\.\w+)")
_MARK = "/* by namespace */"
"""Comment in schema.sql after tables that are partitioned or distributed by namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """Schema and extensions of a server."""

    version: int
    """Version of the schema; 0 if there is none."""
    has_citus: bool
    pgvector: str
    """Version of pgvector; empty if it is not installed."""


def read_state(db: psycopg.Connection[TupleRow]) -> ServerState:
    """Return the state of a server."""
    extensions: dict[str, str] = dict(db.execute("SELECT extname, extversion FROM pg_extension").fetchall())
    version = 0
    if db.execute("SELECT to_regclass('weft.schema_version')").fetchone() != (None,):
        (version,) = db.execute("SELECT version FROM weft.schema_version").fetchone() or (0,)
    return ServerState(version=version, has_citus="citus" in extensions, pgvector=extensions.get("vector", ""))


def prepare(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Create the tables of an empty database. Raises `SchemaMismatch` for an older or newer schema."""
    version = read_state(db).version
    if version == 0:
        create(db, where=where)
        return
    check_version(version, wanted=VERSION, where=where)
    _require_coordinator(db, where=where)


def _require_coordinator(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Raise `StoreUnavailable` on another node of a cluster: its numbers do not grow in the order of writes."""
    if is_distributed(db) and db.execute("SELECT groupid FROM pg_dist_local_group").fetchone() != (0,):
        raise StoreUnavailable(f"{where} is not the coordinator of its cluster", hint="set --db to the coordinator")


def create(db: psycopg.Connection[TupleRow], *, where: str, partitions: int = 0) -> bool:
    """Create all tables in one transaction; return False if they exist."""
    _check_server(db, where=where)
    with _schema_lock(db):
        state = read_state(db)
        if state.version:
            return False
        script = [*statements(load_schema("postgres"), partitions=partitions, vector_schema=_vector_schema(db))]
        tables_end = next(place for place, one in enumerate(script) if one.startswith("ALTER TABLE"))
        db.execute(script[0])  # a transaction of its own: the other nodes of Citus see the schema after its commit
        with db.transaction():
            if state.has_citus:
                db.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
            for statement in script[1:tables_end]:
                db.execute(statement)
            if state.has_citus:
                _distribute(db, _TABLE.findall(load_schema("postgres")))
            for statement in script[tables_end:]:
                db.execute(statement)
            db.execute("INSERT INTO weft.schema_version (version) VALUES (%s)", [VERSION])
    return True


def statements(text: str, *, partitions: int = 0, vector_schema: str = "public") -> Iterator[str]:
    """Yield the statements of a file; with `partitions`, marked tables are partitioned by namespace."""
    closed: list[str] = []
    for statement in split_statements(text.replace("vector_schema", vector_schema)):
        table = _TABLE.match(statement)
        if table is None or _MARK not in statement or not partitions:
            yield statement.replace(_MARK, "")
            continue
        yield statement.replace(_MARK, "PARTITION BY HASH (namespace)")
        for place in range(partitions):
            bounds = f"WITH (MODULUS {partitions}, REMAINDER {place})"
            yield f"CREATE TABLE {table[1]}_{place} PARTITION OF {table[1]} FOR VALUES {bounds}"
            closed.append(f"ALTER TABLE {table[1]}_{place} {CLOSED}")
    yield from closed


def split_statements(text: str) -> Iterator[str]:
    """
    Yield the statements of a script without comments and semicolons. Bodies of functions stand between `$$`.

    The scripts of this package have no semicolon and no `--` in a quoted text; a test compares with a parser.
    """
    statement = ""
    for place, part in enumerate(_without_comments(text).split("$$")):
        if place % 2:
            statement += f"$${part}$$"
            continue
        *ends, rest = part.split(";")
        for end in ends:
            yield (statement + end).strip()
            statement = ""
        statement += rest
    if statement.strip():
        yield statement.strip()


def distributed_tables() -> set[str]:
    """Return the tables that are distributed by namespace; the others are copied to every node."""
    pattern = rf"{_TABLE.pattern} \([^;]*{re.escape(_MARK)}"
    return {match[1] for match in re.finditer(pattern, _without_comments(load_schema("postgres")))}


def may_administer(db: psycopg.Connection[TupleRow]) -> bool:
    """Return True if the role may list namespaces and manage keys: the owner, its members, and exempt roles."""
    asked = (
        "SELECT pg_has_role(c.relowner, 'USAGE') OR NOT row_security_active(c.oid) FROM pg_class AS c "
        "WHERE c.oid = 'weft.namespace'::regclass"
    )
    return db.execute(asked).fetchone() == (True,)


def create_vector_indexes(db: psycopg.Connection[TupleRow], dimension: int, *, tables: Sequence[str]) -> None:
    """Create the missing vector indexes of a dimension; log a warning if the role lacks the privilege."""
    if not 0 < dimension <= MAX_INDEX_DIMENSIONS:
        return
    for table in tables:
        name = f"{table}_hnsw_{int(dimension)}"
        if db.execute("SELECT to_regclass(%s)", [f"weft.{name}"]).fetchone() != (None,):
            continue
        statement = (
            f"CREATE INDEX IF NOT EXISTS {name} ON weft.{table} "
            f"USING hnsw ((vector::halfvec({int(dimension)})) halfvec_cosine_ops) "
            f"WHERE vector_dims(vector) = {int(dimension)}"
        )
        try:
            _build_index(db, statement, table=table)
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):
            continue  # another process created it
        except psycopg.errors.InsufficientPrivilege:
            logger.warning("no vector index of dimension %d: the role may not create one", dimension)


def _build_index(db: psycopg.Connection[TupleRow], statement: str, *, table: str) -> None:
    """
    Build a vector index in memory, if it fits.

    The graph takes less than twice the memory of the vectors. Worker processes share it, for which a container
    may have too little shared memory; then one process builds it.
    """
    settings = _build_settings(db, table)
    for workers in ({}, {"max_parallel_maintenance_workers": "0"}):
        try:
            with db.transaction():
                for name, value in (settings | workers).items():
                    db.execute(f"SET LOCAL {name} = '{value}'")
                db.execute(statement)
            return
        except psycopg.errors.DiskFull:
            if workers:
                raise


def _build_settings(db: psycopg.Connection[TupleRow], table: str) -> dict[str, str]:
    """Return the settings for building a vector index: its memory and, with Citus, one shard of a node at a time."""
    distributed = is_distributed(db)
    largest = (
        "SELECT citus_table_size(%(table)s::regclass) / count(*) FROM pg_dist_shard "
        "WHERE logicalrelid = %(table)s::regclass"
        if distributed
        else "SELECT max(pg_table_size(t.oid)) FROM (SELECT %(table)s::regclass AS oid "
        "UNION ALL SELECT relid FROM pg_partition_tree(%(table)s::regclass)) AS t"
    )
    needed = (
        "SELECT greatest(pg_size_bytes(current_setting('maintenance_work_mem')), "
        f"least(2 * ({largest}), %(most)s)) / 1024"
    )
    (kilobytes,) = db.execute(needed, {"table": f"weft.{table}", "most": MAX_BUILD_BYTES}).fetchone() or (65_536,)
    memory = {"maintenance_work_mem": f"{int(kilobytes)}kB"}
    if not distributed:
        return memory
    return {"citus.propagate_set_commands": "local", "citus.multi_shard_modify_mode": "sequential", **memory}


def is_distributed(db: psycopg.Connection[TupleRow]) -> bool:
    """Return True if Citus distributes the tables; tables created before Citus was installed are not."""
    if not read_state(db).has_citus:
        return False
    found = db.execute("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'weft.namespace'::regclass").fetchone()
    return found is not None


def list_reachable_namespaces(db: psycopg.Connection[TupleRow]) -> tuple[list[str], list[str]]:
    """Return the namespaces of the Citus nodes that answer, and a line for each node that does not."""
    asked = "SELECT coalesce(json_agg(namespace), '[]') FROM %s"
    rows = db.execute(
        "SELECT nodename, nodeport, success, result FROM run_command_on_placements('weft.namespace', %s)", [asked]
    ).fetchall()
    names = sorted(name for _, _, is_answered, result in rows if is_answered for name in json.loads(result))
    silent = sorted({f"{host}:{port}" for host, port, is_answered, _ in rows if not is_answered})
    return names, [f"node {node} does not respond; its namespaces are not listed" for node in silent]


def count_partitions(db: psycopg.Connection[TupleRow]) -> int:
    """Return the number of partitions of a table; 0 if tables are not partitioned."""
    counting = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'weft.document'::regclass"
    (count,) = db.execute(counting).fetchone() or (0,)
    return int(count)


def measure(db: psycopg.Connection[TupleRow]) -> int:
    """Return the bytes of all tables and indexes, on all nodes."""
    sizes = (
        "SELECT coalesce(sum(pg_total_relation_size(c.oid::regclass)), 0)::bigint FROM pg_class AS c "
        "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'"
    )
    statement = sizes.replace("pg_total", "citus_total") if is_distributed(db) else sizes
    (size,) = db.execute(statement).fetchone() or (0,)
    return int(size)


def _distribute(db: psycopg.Connection[TupleRow], tables: Sequence[str]) -> None:
    """Distribute empty tables over the nodes of Citus, with all rows of a namespace on one node."""
    distributed = distributed_tables()
    for table in tables:
        if table not in distributed:
            db.execute("SELECT create_reference_table(%s)", [table])
        elif table == "weft.namespace":
            db.execute("SELECT create_distributed_table(%s, 'namespace')", [table])
        else:
            db.execute("SELECT create_distributed_table(%s, 'namespace', colocate_with => 'weft.namespace')", [table])


def _vector_schema(db: psycopg.Connection[TupleRow]) -> str:
    """Return the quoted schema of pgvector."""
    found = db.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'").fetchone()
    (name,) = found or ("public",)
    return str(name)


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*", "", text)


def _check_server(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Check the versions of server and pgvector, which is installed if missing. Raises `StoreUnavailable`."""
    if db.info.server_version < MIN_SERVER_VERSION:
        major = db.info.server_version // 10000
        raise StoreUnavailable(f"{where} is PostgreSQL {major}", hint="upgrade the server to PostgreSQL 14 or newer")
    if not read_state(db).pgvector:
        try:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreUnavailable(
                f"{where} has no extension `vector`", hint="run as the owner of the database: CREATE EXTENSION vector"
            ) from error
        except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
            raise StoreUnavailable(
                f"{where} has no pgvector installed", hint="install pgvector 0.8 or newer on the server"
            ) from error
    version = read_state(db).pgvector
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_PGVECTOR_VERSION:
        raise StoreUnavailable(
            f"{where} has pgvector {version}",
            hint="install pgvector 0.8 or newer, then run ALTER EXTENSION vector UPDATE",
        )


@contextmanager
def _schema_lock(db: psycopg.Connection[TupleRow]) -> Iterator[None]:
    db.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])
    try:
        yield
    finally:
        db.execute("SELECT pg_advisory_unlock(%s)", [LOCK_KEY])
