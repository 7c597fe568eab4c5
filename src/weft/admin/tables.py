"""Creation of the tables of a store (`weft db`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.config import check_address, find_path, is_missing, is_server, shown
from weft.engine.opening.databases import require_postgres
from weft.errors import InputError
from weft.store.sqlite.connect import read_version
from weft.store.sqlite.database import SqliteDatabase

if TYPE_CHECKING:
    from weft.store.postgres.vector_indexes import VectorIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """State of the tables of a store."""

    where: str
    """File, or server address without credentials."""
    created: bool
    """True if this call created the tables."""
    schema: int
    partitions: int = 0
    """Partitions by namespace; 0 if the tables are not partitioned."""
    pgvector: str = ""
    has_citus: bool = False
    is_spread: bool = False
    """True if Citus distributes the tables over its nodes."""


def make_tables(db: str, *, partitions: int = 0) -> Tables:
    """
    Create missing tables of a file or a server; return the state of the tables.

    Raises `InputError` if the tables cannot have this number of partitions.
    """
    path = _find_file(db)
    if path is None:
        return _create_on_server(db, partitions=partitions)
    if partitions:
        raise InputError(
            f"cannot create {partitions} partitions: {str(path)!r} is a file",
            hint="omit --partitions, or set --db to a server",
        )
    created = is_missing(db)
    SqliteDatabase(str(path)).close()
    return Tables(where=str(path), created=created, schema=read_version(str(path)))


def create_indexes(db: str, *, with_small: bool = False) -> list[VectorIndex]:
    """Create the vector indexes of a server that are missing. Files have read indexes, which follow them."""
    check_address(db)
    if not is_server(db):
        raise InputError(
            f"{db!r} is a file, whose read indexes are kept up to date by every write",
            hint="set --db to a server",
        )
    require_postgres()
    from weft.store.postgres.database import PostgresDatabase

    database = PostgresDatabase(db)
    try:
        return database.create_vector_indexes(with_small=with_small)
    finally:
        database.close()


def find_schema(db: str) -> int:
    """Return the schema version of the tables on a server; 0 if there are none. Creates nothing."""
    check_address(db)
    require_postgres()
    from weft.store.postgres import schema
    from weft.store.postgres.connect import Connections

    with Connections(db).bare() as server:
        return schema.read_state(server).version


def _find_file(db: str) -> Path | None:
    """Return the file of a store; None for a server. Raises `InputError` for a store in memory."""
    check_address(db)
    path = find_path(db)
    if path is None and not is_server(db):
        raise InputError(
            "cannot create tables in an in-memory store: they are lost when the process ends",
            hint="set --db to a file or a server",
        )
    return path


def _create_on_server(db: str, *, partitions: int) -> Tables:
    require_postgres()
    from weft.store.postgres import citus, schema
    from weft.store.postgres.connect import Connections

    connections = Connections(db)
    with connections.bare() as server:
        if partitions and schema.read_state(server).has_citus:
            raise InputError(
                f"cannot create {partitions} partitions: Citus distributes the tables itself", hint="omit --partitions"
            )
        created = schema.create(server, where=connections.where, partitions=partitions)
        if not created:
            schema.prepare(server, where=connections.where)
        parts = schema.count_partitions(server)
        if partitions and parts != partitions:
            raise InputError(
                f"{connections.where} already has tables with {parts or 'no'} partitions",
                hint="run `weft db init` in another database, then `weft copy`",
            )
        state = schema.read_state(server)
        return Tables(
            where=shown(db),
            created=created,
            schema=state.version,
            partitions=parts,
            pgvector=state.pgvector,
            has_citus=state.has_citus,
            is_spread=citus.is_distributed(server),
        )
