"""Transaction on a PostgreSQL server, bound to one namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from weft.store.postgres import vectors
from weft.store.postgres.filters import KeptFilters
from weft.store.postgres.ports import PostgresKeywords, PostgresVectors
from weft.store.postgres.terms import KnownTerms
from weft.store.postgres.vectors import Samples
from weft.store.relational.session import (
    NO_VALUES,
    Integrity,
    Keywords,
    Names,
    Namespace,
    NamespaceRow,
    Row,
    Values,
    Vectors,
    to_namespace,
)
from weft.store.sql_files import load_queries

_PLACEHOLDER = re.compile(r"(?<!:):([a-z_]+)\b")

STREAM_ROWS = 2000
"""Rows that a streaming cursor fetches at once."""


@cache
def statement(name: str, dimension: int = 0) -> str:
    """Return a statement with the placeholders of the driver; vector index statements need the `dimension`."""
    text = load_queries("postgres")[name].replace("{dimension}", str(int(dimension)))
    return _PLACEHOLDER.sub(r"%(\1)s", text.replace("%", "%%")).rstrip(";")


class PostgresSession:
    """Runs statements by name on a connection that is inside a transaction."""

    def __init__(
        self,
        db: psycopg.Connection[TupleRow],
        *,
        samples: Samples,
        kept_filters: KeptFilters,
        is_snapshot: bool = False,
        has_citus: bool = False,
    ) -> None:
        self._db = db
        self.samples = samples
        self.kept_filters = kept_filters
        self._candidates = 0 if has_citus else vectors.MIN_EF_SEARCH
        """Candidates of vector index scans: set with the binding, with Citus before the first search."""
        self._has_citus = has_citus
        self._is_propagating = False
        """True if settings of the transaction are sent to the nodes of Citus."""
        self.is_snapshot = is_snapshot
        """True if all statements see the same state, so that what was read is kept."""
        self.kept_terms: dict[Namespace, KnownTerms] = {}
        self._kept_namespaces: dict[str, NamespaceRow | None] = {}
        self._changes = 0
        self._total_changes = 0
        self._streams = 0
        self.vectors: Vectors = PostgresVectors(self)
        self.keywords: Keywords = PostgresKeywords(self)
        self.names: Names = Names(self)
        self.integrity: Integrity = Integrity()

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES, *, dimension: int = 0) -> list[Row]:
        cursor = self._db.execute(statement(name, dimension), values)
        self._count(cursor)
        return cursor.fetchall() if cursor.description else []

    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a statement whose rows are sent in binary format, for bytes."""
        return self._db.execute(statement(name), values, binary=True).fetchall()

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        self._streams += 1
        with self._db.cursor(name=f"weft_{self._streams}") as cursor:
            cursor.itersize = STREAM_ROWS
            cursor.execute(statement(name), values)
            yield from cursor

    def one(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Any:
        rows = self.run(name, values)
        return rows[0][0] if rows else None

    def run_many(self, name: str, rows: Sequence[Values]) -> None:
        if rows:
            with self._db.cursor() as cursor:
                cursor.executemany(statement(name), rows)
                self._count(cursor)

    def bind(self, namespace: str) -> None:
        """Bind the rest of the transaction to a namespace for row security."""
        if self._has_citus:
            self._propagate_settings()
            self._set_local("weft.namespace", sql.Literal(namespace).as_string(None))
        else:
            values = {
                "name": namespace,
                "candidates": str(self._candidates),
                "max_tuples": str(vectors.MAX_SCAN_TUPLES),
            }
            self.run("bind_namespace", values)  # a literal would be visible in pg_stat_activity

    def set_index_scan(self, *, candidates: int) -> None:
        """Set the size of vector index scans for the rest of the transaction, also on the shards that it uses."""
        if candidates <= self._candidates:
            return
        self._candidates = candidates
        if self._has_citus:  # shards are reached by SET LOCAL only
            self._set_local("hnsw.ef_search", str(candidates))
            self._set_local("hnsw.max_scan_tuples", str(vectors.MAX_SCAN_TUPLES))
            self._set_local("hnsw.iterative_scan", "'relaxed_order'")
        else:
            self.run("set_index_candidates", {"candidates": str(candidates)})

    def limit_statements(self, seconds: float) -> None:
        """Limit the time of each statement that follows, unless the server has a shorter limit."""
        self.run("limit_statements", {"milliseconds": int(seconds * 1000)})

    def unlimit_statements(self) -> None:
        """Restore the limit that the connection had."""
        self._set_local("statement_timeout", "DEFAULT")

    def _propagate_settings(self) -> None:
        """Send the settings of the transaction that follow to the nodes of Citus, too."""
        if not self._is_propagating:
            self._set_local("citus.propagate_set_commands", "'local'")
            self._is_propagating = True

    def _set_local(self, name: str, value: str) -> None:
        self._db.execute(f"SET LOCAL {name} = {value}")  # neither comes from a user

    def is_usable(self) -> bool:
        """Return True if the transaction can run another statement."""
        return self._db.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS

    def changes(self) -> int:
        return self._changes

    def total_changes(self) -> int:
        return self._total_changes

    def _count(self, cursor: psycopg.Cursor[TupleRow]) -> None:
        is_read = (cursor.statusmessage or "").startswith("SELECT")
        self._changes = 0 if is_read else max(cursor.rowcount, 0)
        self._total_changes += self._changes

    def namespace(self, name: str) -> NamespaceRow | None:
        if self.is_snapshot and name in self._kept_namespaces:
            return self._kept_namespaces[name]
        rows = self.run("find_namespace", {"name": name})
        self._kept_namespaces[name] = to_namespace(rows[0]) if rows else None
        return self._kept_namespaces[name]

    def namespace_key(self, name: str) -> str:
        return name

    def lock(self, name: str) -> None:
        self.run("lock_namespace", {"name": name})
