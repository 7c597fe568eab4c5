"""Creation of the vector indexes of a PostgreSQL server, one for each table and dimension."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import psycopg
from psycopg.rows import TupleRow

from weft.store.postgres.citus import is_distributed
from weft.store.postgres.vectors import MAX_INDEX_DIMENSIONS

logger = logging.getLogger(__name__)

MAX_BUILD_BYTES = 1 << 30
"""
Maximum memory of the server for building a vector index: that of about 700,000 vectors of dimension 384.

With the default of 64 MB, 100,000 vectors took 394 s.
"""


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
