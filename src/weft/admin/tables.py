"""The tables of a store, by themselves: made before anything is written, and brought up to date."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.config import check_address, find_path, is_missing, is_server, shown
from weft.engine.adapters import require_postgres
from weft.errors import InputError
from weft.store.sqlite.connect import read_version
from weft.store.sqlite.database import SqliteDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What a store keeps things in."""

    where: str
    """The file, or the address without a password."""
    created: bool
    """Whether they were made just now."""
    schema: int
    partitions: int = 0
    """Into how many parts they are split by namespace; 0: they are whole."""
    pgvector: str = ""
    has_citus: bool = False
    is_spread: bool = False
    """Whether Citus keeps them on its nodes."""


def make_tables(db: str, *, partitions: int = 0) -> Tables:
    """
    Make the tables of a file or a server where they are missing, and say what there is.

    Raises `InputError` where the tables cannot be split as asked for.
    """
    path = _find_kept(db)
    if path is None:
        return _make_on_server(db, partitions=partitions)
    if partitions:
        raise InputError("only tables on a server can be split into parts", hint="leave --partitions out")
    created = is_missing(db)
    SqliteDatabase(str(path)).close()
    return Tables(where=str(path), created=created, schema=read_version(str(path)))


def migrate_tables(db: str) -> list[str]:
    """Bring the tables of a file or a server up to date; return what was done. Raises where there are none."""
    path = _find_kept(db)
    if path is not None:
        return _migrate_file(path)
    require_postgres()
    from weft.store.postgres import schema
    from weft.store.postgres.connect import Connections

    connections = Connections(db)
    with connections.bare() as server:
        return schema.migrate(server, where=connections.where)


def find_schema(db: str) -> int:
    """Return the schema of the tables on a server, 0 where there are none; nothing is made."""
    check_address(db)
    require_postgres()
    from weft.store.postgres import schema
    from weft.store.postgres.connect import Connections

    with Connections(db).bare() as server:
        return schema.read_state(server).version


def _find_kept(db: str) -> Path | None:
    """Return the file of a store, None for one on a server. Raises where it is neither."""
    check_address(db)
    path = find_path(db)
    if path is None and not is_server(db):
        raise InputError("a store in memory is gone with the process", hint="name a file or a server with --db")
    return path


def _make_on_server(db: str, *, partitions: int) -> Tables:
    require_postgres()
    from weft.store.postgres import schema
    from weft.store.postgres.connect import Connections

    connections = Connections(db)
    with connections.bare() as server:
        if partitions and schema.read_state(server).has_citus:
            raise InputError("Citus spreads the tables by itself", hint="leave --partitions out")
        created = schema.create(server, where=connections.where, partitions=partitions)
        if not created:
            schema.prepare(server, where=connections.where)
        parts = schema.count_partitions(server)
        if partitions and parts != partitions:
            raise InputError(
                f"{connections.where} has tables already, in {parts or 'no'} parts",
                hint="make them in another database with weft db init, and fill it with weft copy",
            )
        state = schema.read_state(server)
        return Tables(
            where=shown(db),
            created=created,
            schema=state.version,
            partitions=parts,
            pgvector=state.pgvector,
            has_citus=state.has_citus,
            is_spread=schema.is_distributed(server),
        )


def _migrate_file(path: Path) -> list[str]:
    if is_missing(str(path)):
        raise InputError(f"there is no store {str(path)!r}", hint="weft db init makes one")
    before = read_version(str(path))
    SqliteDatabase(str(path)).close()
    return [f"schema {number}" for number in range(before + 1, read_version(str(path)) + 1)]
