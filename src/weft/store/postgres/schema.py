"""
Tables of a PostgreSQL server: creation, distribution over Citus nodes, migration and vector indexes.

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

A migration runs one statement per transaction and records its place in `weft.schema_version (version, step)`:

    version 1, step 0 → 0002_jobs.sql: statement 1 → version 1, step 1 → killed
    weft db migrate   → statement 2 → version 1, step 2 → version 2, step 0
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from pgvector.psycopg import register_vector
from psycopg.rows import TupleRow

from weft.errors import SchemaMismatch, StoreUnavailable
from weft.store.postgres.buckets.bucket_checks import fill_buckets
from weft.store.postgres.outbox import divide_name_vectors
from weft.store.postgres.parts import PartedSession
from weft.store.postgres.session import PostgresSession
from weft.store.postgres.vectors import MAX_INDEX_DIMENSIONS
from weft.store.sql_files import load_migrations, load_schema

logger = logging.getLogger(__name__)

LOCK_KEY = 0x57454654
"""`WEFT`: key of the advisory lock that changes of tables take."""

MIN_PGVECTOR_VERSION = (0, 8)
"""First version whose index scans continue until they have found enough rows of one namespace."""

MIN_SERVER_VERSION = 140000
"""PostgreSQL 14, as `server_version_num`."""

ROW_SECURITY_VERSION = 4
"""Schema version from which partitions have row security too."""

POSTINGS_VERSION = 11
"""Schema version from which postings are packed."""

BUCKETS_VERSION = 16
"""Schema version from which the graph of several parts is in buckets."""

NAME_VECTORS_VERSION = 17
"""Schema version from which vectors of names of several parts are in the parts."""

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


def newest() -> int:
    """Return the schema version of this package."""
    return max(load_migrations("postgres"))


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
    _refuse_newer(version, where=where)
    _require_coordinator(db, where=where)
    if version < newest():
        raise SchemaMismatch(
            f"{where} has schema {version}, but this version needs {newest()}",
            hint="stop all processes that use it, then run weft db migrate",
        )


def _require_coordinator(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Raise `StoreUnavailable` on another node of a cluster: its numbers do not grow in the order of writes."""
    if is_distributed(db) and db.execute("SELECT groupid FROM pg_dist_local_group").fetchone() != (0,):
        raise StoreUnavailable(f"{where} is not the coordinator of its cluster", hint="set --db to the coordinator")


def _refuse_newer(version: int, *, where: str) -> None:
    if version > newest():
        raise SchemaMismatch(
            f"{where} was created by a newer Weft (schema {version}, this version supports {newest()})",
            hint="run pip install --upgrade weft-search",
        )


def create(db: psycopg.Connection[TupleRow], *, where: str, partitions: int = 0) -> bool:
    """Create all tables in one transaction; return False if they exist."""
    _check_server(db, where=where)
    with _schema_lock(db):
        state = read_state(db)
        if state.version:
            return False
        with db.transaction():
            for statement in statements(
                load_schema("postgres"), partitions=partitions, vector_schema=_vector_schema(db)
            ):
                if state.has_citus and statement.startswith("ALTER TABLE"):
                    _distribute(db, _TABLE.findall(load_schema("postgres")))
                    state = ServerState(version=0, has_citus=False, pgvector=state.pgvector)
                db.execute(statement)
            db.execute("INSERT INTO weft.schema_version (version, step) VALUES (%s, 0)", [newest()])
    return True


def migrate(db: psycopg.Connection[TupleRow], *, where: str) -> list[str]:
    """Run the missing migrations, one transaction per statement; return a description of each."""
    done: list[str] = []
    state = read_state(db)
    if state.version == 0:
        raise SchemaMismatch(f"{where} has no tables", hint="run weft db init")
    _refuse_newer(state.version, where=where)
    has_citus = state.has_citus
    with _schema_lock(db), _as_owner(db):
        for number, text in load_migrations("postgres").items():
            version, step = db.execute("SELECT version, step FROM weft.schema_version").fetchone() or (0, 0)
            if number <= version:
                continue
            for place, statement in enumerate(statements(text, vector_schema=_vector_schema(db)), start=1):
                if place <= step:
                    continue
                with db.transaction():
                    db.execute(statement)
                    if has_citus and (table := _TABLE.match(statement)):
                        _distribute(db, [table[1]])
                    db.execute("UPDATE weft.schema_version SET step = %s", [place])
            _complete(db, number, has_citus=has_citus)
            db.execute("UPDATE weft.schema_version SET version = %s, step = 0", [number])
            logger.info("migrated %s to schema %d", where, number)
            done.append(f"schema {number}")
    return done


def statements(text: str, *, partitions: int = 0, vector_schema: str = "public") -> Iterator[str]:
    """Yield the statements of a file; with `partitions`, marked tables are partitioned by namespace."""
    for part in _without_comments(text).replace("vector_schema", vector_schema).split(";\n"):
        statement = part.strip()
        if not statement:
            continue
        table = _TABLE.match(statement)
        if table is None or _MARK not in statement or not partitions:
            yield statement.replace(_MARK, "")
            continue
        yield statement.replace(_MARK, "PARTITION BY HASH (namespace)")
        for place in range(partitions):
            bounds = f"WITH (MODULUS {partitions}, REMAINDER {place})"
            yield f"CREATE TABLE {table[1]}_{place} PARTITION OF {table[1]} FOR VALUES {bounds}"
            yield f"ALTER TABLE {table[1]}_{place} {CLOSED}"


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
    asked = "SELECT coalesce(json_agg(namespace), '[]') FROM %s WHERE parts > 0"
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


def _complete(db: psycopg.Connection[TupleRow], version: int, *, has_citus: bool) -> None:
    """Run the part of a migration that depends on the content of the database. It is idempotent."""
    if version == ROW_SECURITY_VERSION:
        _close_partitions(db)
    if version == POSTINGS_VERSION:
        _pack_postings(db, has_citus=has_citus)
    if version == BUCKETS_VERSION:
        _move_rows(db, fill_buckets, has_citus=has_citus)
    if version == NAME_VECTORS_VERSION:
        _move_rows(db, divide_name_vectors, has_citus=has_citus)
        db.execute("VACUUM (ANALYZE) weft.entity_vector")


def _pack_postings(db: psycopg.Connection[TupleRow], *, has_citus: bool) -> None:
    """Build the postings of all namespaces from the terms of their chunks, one transaction per namespace."""
    for (name,) in db.execute("SELECT namespace FROM weft.namespace ORDER BY 1").fetchall():
        with db.transaction():
            session = PostgresSession(db, samples={}, kept_filters={}, has_citus=has_citus)
            session.bind(name)
            db.execute("SELECT 1 FROM weft.namespace WHERE namespace = %s FOR UPDATE", [name])
            session.rebuild_terms(name)


def _move_rows(
    db: psycopg.Connection[TupleRow], move: Callable[[PartedSession, str, Sequence[str]], None], *, has_citus: bool
) -> None:
    """Move rows of namespaces with several parts, one transaction per namespace; `move` gets the names of the parts."""
    register_vector(db)
    for (name,) in db.execute("SELECT namespace FROM weft.namespace WHERE parts > 1 ORDER BY 1").fetchall():
        with db.transaction():
            session = PartedSession(db, samples={}, kept_filters={}, has_citus=has_citus)
            session.bind(name)
            session.lock(name)
            session.lock_all(name)
            move(session, name, session.part_names(name))


def _close_partitions(db: psycopg.Connection[TupleRow]) -> None:
    """Enable row security on partitions, which do not inherit it."""
    partitions = "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relispartition AND c.relkind = 'r' AND "
    for (name,) in db.execute(f"{partitions} c.relnamespace = 'weft'::regnamespace ORDER BY 1").fetchall():
        db.execute(f"ALTER TABLE {name} {CLOSED}")


def _vector_schema(db: psycopg.Connection[TupleRow]) -> str:
    """Return the quoted schema of pgvector."""
    found = db.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'").fetchone()
    (name,) = found or ("public",)
    return str(name)


@contextmanager
def _as_owner(db: psycopg.Connection[TupleRow]) -> Iterator[None]:
    """Act as the owner of the tables, because new functions and policies must belong to the owner."""
    asked = "SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = 'weft.schema_version'::regclass"
    (owner,) = db.execute(asked).fetchone() or ("",)
    db.execute(f"SET ROLE {owner}")
    try:
        yield
    finally:
        if not db.closed:
            db.execute("RESET ROLE")


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
