"""Transaction on a PostgreSQL server, bound to one namespace."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from weft.store.postgres import vectors
from weft.store.postgres.deltas import Pending
from weft.store.postgres.failures import writer_busy
from weft.store.postgres.filters import KeptFilters
from weft.store.postgres.ports import PostgresKeywords, PostgresVectors
from weft.store.postgres.terms import KnownTerms
from weft.store.postgres.vectors import Samples
from weft.store.relational.session import (
    NO_VALUES,
    ChunkIds,
    Integrity,
    Keywords,
    Names,
    Namespace,
    NamespaceRow,
    Row,
    Turn,
    Values,
    Vectors,
    to_namespace,
)
from weft.store.sql_files import load_queries

_PLACEHOLDER = re.compile(r"(?<!:):([a-z_]+)\b")

MAX_LOCK_SECONDS = 600.0
"""Maximum wait for another writer of a namespace. `lock_timeout` does not reach the nodes of Citus."""

MAX_LOCKED_DOCUMENTS = 500
"""Documents that are locked one by one; a server has room for some 6,000 locks."""

LOCKS = {"shared": "share_namespace", "next": "lock_namespace", "alone": "hold_namespace"}
"""Statement that locks the row of a namespace, by turn."""

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
        where: str,
        samples: Samples,
        kept_filters: KeptFilters,
        is_snapshot: bool = False,
        has_citus: bool = False,
    ) -> None:
        self._db = db
        self._where = where
        self.samples = samples
        self.kept_filters = kept_filters
        self._candidates = 0 if has_citus else vectors.MIN_EF_SEARCH
        """Candidates of vector index scans: set with the binding, with Citus before the first search."""
        self._has_citus = has_citus
        self._is_propagating = False
        """True if settings of the transaction are sent to the nodes of Citus."""
        self.is_snapshot = is_snapshot
        """True if all statements see the same state, so that what was read is kept."""
        self.has_turn = False
        """True after the transaction has waited for its next turn in its namespace."""
        self.chunks_before = 0
        """Chunks of the namespace at that time."""
        self.kept_terms: dict[Namespace, KnownTerms] = {}
        self._kept_namespaces: dict[str, NamespaceRow | None] = {}
        self.pending: dict[str, Pending] = {}
        """Deltas of the namespaces that were read."""
        self._locked: set[str] = set()
        """Namespaces of which the transaction has a turn that is not shared."""
        self._changes = 0
        self._total_changes = 0
        self._streams = 0
        self.vectors: Vectors = PostgresVectors(self)
        self.keywords: Keywords = PostgresKeywords(self)
        self.names: Names = Names(self)
        self.integrity: Integrity = Integrity()
        self.chunk_ids = ChunkIds(self, reads=is_snapshot)

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
        *columns, count, chunks = rows[0] if rows else (0, 0)
        self.pending[name] = Pending(count, chunks)
        self._kept_namespaces[name] = to_namespace(tuple(columns)) if rows else None
        return self._kept_namespaces[name]

    def namespace_key(self, name: str) -> str:
        return name

    def lock(self, name: str, turn: Turn = "next", *, documents: Collection[str] = ()) -> None:
        """
        Lock the row of a namespace as strongly as a turn needs, and before it the ids of `documents`.

        With Citus, turns are never shared: `documents` would be locked on one of several nodes.
        """
        if turn == "next" and name in self._locked:
            return
        is_shared = turn == "shared" and not self._has_citus and len(documents) <= MAX_LOCKED_DOCUMENTS
        strength = turn if is_shared or turn == "alone" else "next"
        start = time.monotonic()
        try:
            self.limit_statements(MAX_LOCK_SECONDS)
            if is_shared and documents:
                self.run("lock_documents", {"name": name, "ids": sorted(documents)})
            rows = self.run(LOCKS[strength], {"name": name})
            self._set_local("statement_timeout", "DEFAULT")
        except psycopg.errors.QueryCanceled as error:
            if time.monotonic() - start < MAX_LOCK_SECONDS:
                raise  # a shorter limit of the server
            raise writer_busy(self._where, name, MAX_LOCK_SECONDS) from error
        if strength != "shared":
            self._locked |= {name for _ in rows}
            self.chunks_before = self.chunks_before if self.has_turn else rows[0][0] if rows else 0
            self.has_turn = True
