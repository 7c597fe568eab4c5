"""One transaction on a SQLite file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import apsw

from weft.store.relational.session import (
    NO_VALUES,
    ChunkIds,
    Integrity,
    Keywords,
    Names,
    NamespaceRow,
    Row,
    Turn,
    Values,
    Vectors,
    to_namespace,
)
from weft.store.sql_files import load_queries
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.ports import SqliteIntegrity, SqliteKeywords, SqliteNames, SqliteVectors

_SQL = load_queries("sqlite")


class SqliteSession:
    """Runs statements by name on a connection that is inside a transaction."""

    def __init__(self, db: apsw.Connection, *, indexes: ReadIndexes | None, reads: bool = False) -> None:
        """
        Start a session. `indexes` is None if sqlite-vec did not load.

        A session that only `reads` sees one state, so it keeps namespaces and document frequencies.
        """
        self._db = db
        self._kept: dict[str, NamespaceRow | None] | None = {} if reads else None
        self.vectors: Vectors = SqliteVectors(self, db, indexes, reads=reads)
        self.keywords: Keywords = SqliteKeywords(self, db, indexes, reads=reads)
        self.names: Names = SqliteNames(self)
        self.integrity: Integrity = SqliteIntegrity(db)
        self.chunk_ids = ChunkIds(self, reads=reads)

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> list[Row]:
        rows: list[Row] = self._db.execute(_SQL[name], values).fetchall()
        return rows

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        yield from self._db.execute(_SQL[name], values)

    def one(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Any:
        rows = self.run(name, values)
        return rows[0][0] if rows else None

    def run_many(self, name: str, rows: Sequence[Values]) -> None:
        if rows:
            self._db.executemany(_SQL[name], rows)

    def changes(self) -> int:
        return self._db.changes()

    def total_changes(self) -> int:
        return self._db.total_changes()

    def namespace(self, name: str) -> NamespaceRow | None:
        if self._kept is not None and name in self._kept:
            return self._kept[name]
        rows = self.run("find_namespace", {"name": name})
        found = to_namespace(rows[0]) if rows else None
        if self._kept is not None:
            self._kept[name] = found
        return found

    def namespace_key(self, name: str) -> int:
        found = self.namespace(name)
        return found.number if found else 0

    def lock(self, name: str, turn: Turn = "next", *, documents: Collection[str] = ()) -> None:
        """Do nothing: a file has one writer at a time."""
