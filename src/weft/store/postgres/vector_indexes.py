"""Vector indexes of a PostgreSQL server, one for each table and dimension, which the owner of the tables creates."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Literal

import psycopg
from psycopg.rows import TupleRow

from weft.store.postgres.citus import is_distributed
from weft.store.postgres.vectors import MAX_INDEX_DIMENSIONS

Connection = psycopg.Connection[TupleRow]
Connect = Callable[[], AbstractContextManager[Connection]]
"""Opens a connection outside any transaction."""

MAX_BUILD_BYTES = 1 << 30
"""
Maximum memory of the server for building a vector index: that of about 700,000 vectors of dimension 384.

With the default of 64 MB, 100,000 vectors took 394 s.
"""

MAX_BLOCKED_BYTES = 1 << 20
"""Size up to which a table is locked while its index is created. A larger one is written meanwhile (CONCURRENTLY)."""

MAX_LOCK_SECONDS = 5
"""Maximum wait for the writers of such a small table."""

LOCK_KEY = 0x57454958
"""`WEIX`: first key of the advisory lock of a vector index; the second is the hash of its name."""

FACT_TABLES = ("fact_vector", "fact_text_vector")
"""Tables of fact vectors, which have an index from the first fact."""

CHUNK_TABLES = ("chunk_vector",)
"""Tables of chunk vectors, which have an index if a namespace is large."""

State = Literal["created", "exists", "small", "busy", "locked", "refused"]

SETTLED = ("created", "exists", "refused")
"""States in which the same process need not try again."""

REASONS = {
    "small": "all namespaces are small enough for an exact search",
    "busy": "another process is creating it",
    "locked": "its table is in use; the next write tries again",
    "refused": "this role does not own the table; run `weft db index` as the owner",
}
"""Reasons for which an index was not created, by state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndex:
    """Vector index of a table and a dimension, and what a call has done about it."""

    table: str
    dimension: int
    state: State
    seconds: float = 0.0

    @property
    def reason(self) -> str:
        """Why the index was not created; empty if it exists."""
        return REASONS.get(self.state, "")


def create_vector_indexes(connect: Connect, dimension: int, *, tables: Sequence[str]) -> list[VectorIndex]:
    """Create the missing vector indexes of a dimension. A role that does not own the tables creates none."""
    if not 0 < dimension <= MAX_INDEX_DIMENSIONS:
        return []
    with connect() as db:
        return [_create(connect, db, table, int(dimension)) for table in tables]


def _create(connect: Connect, db: Connection, table: str, dimension: int) -> VectorIndex:
    start, name = time.monotonic(), f"{table}_hnsw_{dimension}"
    state: State = "exists"
    if not is_valid(db, name):
        state = "refused"
        if _may_create(db, table):
            with _alone(connect, name) as is_alone:
                state = _build(db, table, dimension) if is_alone else "busy"
    return VectorIndex(table=table, dimension=dimension, state=state, seconds=time.monotonic() - start)


def is_valid(db: Connection, name: str) -> bool:
    """Return True if an index exists and its creation was completed."""
    found = db.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [f"weft.{name}"])
    return found.fetchone() == (True,)


def _may_create(db: Connection, table: str) -> bool:
    asked = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = %s::regclass"
    return db.execute(asked, [f"weft.{table}"]).fetchone() == (True,)


@contextmanager
def _alone(connect: Connect, name: str) -> Iterator[bool]:
    """
    Give True to one process at a time.

    An unfinished index is deleted only by the process that has the lock. A transaction of another connection holds it,
    because `CREATE INDEX CONCURRENTLY` runs in none. Its `SET` ends the snapshot of the statement before, for which the
    creation would wait.
    """
    with connect() as db, db.transaction():
        found = db.execute("SELECT pg_try_advisory_xact_lock(%s, hashtext(%s))", [LOCK_KEY, name]).fetchone()
        db.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield found == (True,)


def _build(db: Connection, table: str, dimension: int) -> State:
    """Create an index, at once in a small table, else beside its readers and writers."""
    sizes = _part_sizes(db, table)
    try:
        if sum(sizes.values()) <= MAX_BLOCKED_BYTES:
            _create_at_once(db, table, dimension)
        elif list(sizes) == [table]:
            _create_concurrently(db, table, dimension, size=sizes[table])
        else:
            _create_by_partition(db, table, dimension, sizes)
    except psycopg.errors.LockNotAvailable:
        return "locked"
    except psycopg.errors.InsufficientPrivilege:
        return "refused"
    return "created"


def _create_at_once(db: Connection, table: str, dimension: int) -> None:
    with db.transaction():
        db.execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_SECONDS}s'")
        if is_distributed(db):
            db.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        db.execute(f"DROP INDEX IF EXISTS weft.{table}_hnsw_{dimension}")
        db.execute(f"CREATE INDEX {_definition(table, dimension)}")


def _create_by_partition(db: Connection, table: str, dimension: int, sizes: dict[str, int]) -> None:
    """Create the index of each partition beside its writers; the index of the whole table consists of them."""
    for part, size in sizes.items():
        if not is_valid(db, f"{part}_hnsw_{dimension}"):
            _create_concurrently(db, part, dimension, size=size)
    name = f"{table}_hnsw_{dimension}"
    with db.transaction():
        db.execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_SECONDS}s'")
        if db.execute("SELECT to_regclass(%s)", [f"weft.{name}"]).fetchone() == (None,):
            db.execute(f"CREATE INDEX {_definition(table, dimension, only='ONLY ')}")
        for part in sizes:
            db.execute(f"ALTER INDEX weft.{name} ATTACH PARTITION weft.{part}_hnsw_{dimension}")


def _create_concurrently(db: Connection, table: str, dimension: int, *, size: int) -> None:
    """
    Build a vector index in memory, if it fits, while others write.

    The graph takes less than twice the memory of the vectors. Worker processes share it, for which a container
    may have too little shared memory; then one process builds it.
    """
    settings = {"statement_timeout": "0", "lock_timeout": "0", "maintenance_work_mem": _build_memory(db, size)}
    if is_distributed(db):
        settings["citus.max_adaptive_executor_pool_size"] = "1"  # one shard of a node at a time
    for workers in ({}, {"max_parallel_maintenance_workers": "0"}):
        # Of a creation that was interrupted, an index is left that no query uses.
        db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS weft.{table}_hnsw_{dimension}")
        with _session_settings(db, settings | workers):
            try:
                db.execute(f"CREATE INDEX CONCURRENTLY {_definition(table, dimension)}")
                return
            except psycopg.errors.DiskFull:
                if workers:
                    raise


@contextmanager
def _session_settings(db: Connection, settings: dict[str, str]) -> Iterator[None]:
    """Change settings of the connection, which a pooler may hand to another client afterwards."""
    for name, value in settings.items():
        db.execute(f"SET {name} = '{value}'")
    try:
        yield
    finally:
        for name in settings if not db.closed else ():
            db.execute(f"RESET {name}")


def _definition(table: str, dimension: int, *, only: str = "") -> str:
    return (
        f"{table}_hnsw_{dimension} ON {only}weft.{table} "
        f"USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops) WHERE vector_dims(vector) = {dimension}"
    )


def _part_sizes(db: Connection, table: str) -> dict[str, int]:
    """Return the bytes of a table, or of each of its partitions, by name."""
    asked = (
        "SELECT c.relname::text, pg_table_size(c.oid::regclass) FROM pg_class AS c "
        "WHERE c.relkind = 'r' AND (c.oid = %(table)s::regclass "
        "OR c.oid IN (SELECT relid FROM pg_partition_tree(%(table)s::regclass))) ORDER BY c.relname"
    )
    asked = asked.replace("pg_table_size", "citus_table_size") if is_distributed(db) else asked
    return dict(db.execute(asked, {"table": f"weft.{table}"}).fetchall())


def _build_memory(db: Connection, size: int) -> str:
    """Return the memory for building an index of a table of this size, as a setting. Nodes of Citus use their own."""
    asked = "SELECT greatest(pg_size_bytes(current_setting('maintenance_work_mem')), least(%s, %s)) / 1024"
    (kilobytes,) = db.execute(asked, [2 * size, MAX_BUILD_BYTES]).fetchone() or (65_536,)
    return f"{int(kilobytes)}kB"
