"""Transaction on a PostgreSQL server, bound to one namespace."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import psycopg
from pgvector import Vector as PgVector
from psycopg import sql
from psycopg.rows import TupleRow

from weft.records import Filter, Problem, Ranking, Vector
from weft.store.postgres import terms, vectors
from weft.store.postgres.filters import KeptFilters
from weft.store.postgres.new_rows import STATEMENTS, NewRows
from weft.store.postgres.sent_statement import SentStatement
from weft.store.postgres.snapshot import Snapshot
from weft.store.postgres.vectors import Samples
from weft.store.relational.session import NO_VALUES, Namespace, Row, SearchMethods, TermChanges
from weft.store.shared.half_precision import round_to_half
from weft.store.shared.twelve_bits import round_to_twelve
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
        self._connection = db
        self._expected: vectors.Statement | None = None
        """Vector search that is sent as soon as the server has nothing else to do."""
        self._sent: SentStatement | None = None
        """The same after it was sent."""
        self.samples = samples
        self.kept_filters = kept_filters
        self._candidates = 0 if has_citus else vectors.MIN_EF_SEARCH
        """Candidates of vector index scans: set with the binding, with Citus before the first search."""
        self._has_citus = has_citus
        self._is_propagating = False
        """True if settings of the transaction are sent to the nodes of Citus."""
        self._snapshot = Snapshot(self._execute) if is_snapshot else None
        """None in a transaction that can see changes."""
        self.added_chunks = 0
        """Chunks by which the namespace has grown in this transaction."""
        self.total_chunks = 0
        """Chunks of the namespace after its last change in this transaction; 0 without a change."""
        self._new_rows = NewRows(self._draw_numbers)
        self._changes = 0
        self._total_changes = 0
        self._streams = 0

    # ── statements ──────────────────────────────────────────────────────────────────────────────

    @property
    def _db(self) -> psycopg.Connection[TupleRow]:
        """The connection, without a statement whose rows have not been read, after all new rows were sent."""
        self.end_sent()
        for name, rows in self._new_rows.take():
            with self._connection.cursor() as cursor:
                cursor.executemany(statement(name), rows)
        return self._connection

    def _draw_numbers(self, count: int) -> list[int]:
        ((numbers,),) = self._execute("draw_numbers", {"count": count})
        return list(numbers)

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES, *, dimension: int = 0) -> list[Row]:
        if self._expected == (name, values, dimension):
            sent, self._expected, self._sent = self._sent, None, None
            if sent:
                return sent.rows()
        rows = self._snapshot.find(name, values) if self._snapshot else None
        if name in STATEMENTS:
            rows = self._new_rows.add(name, values)
        if rows is None:
            rows = self._execute(name, values, dimension=dimension)
        if name == "stored_documents":
            self._new_rows.note_stored(values, rows)
        return rows

    def _execute(self, name: str, values: Mapping[str, Any], *, dimension: int = 0) -> list[Row]:
        cursor = self._db.execute(statement(name, dimension), values)
        self._count(cursor)
        rows = cursor.fetchall() if cursor.description else []
        if name == "touch_namespace" and rows:
            self.added_chunks += values["chunks"]
            self.total_chunks = rows[0][0]
        return rows

    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a statement whose rows are sent in binary format, for bytes."""
        rows = self._db.execute(statement(name), values, binary=True).fetchall()
        if name == "first_postings" and self._expected:
            text = statement(self._expected.name, self._expected.dimension)
            self._sent = SentStatement(self._connection, text, self._expected.values)
        return rows

    def end_sent(self) -> None:
        """Wait for a statement that was sent; its rows stay available to `run`."""
        if self._sent:
            self._sent.wait()

    def send_new_rows(self) -> None:
        """Send the collected new rows, before a commit."""
        assert self._db

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        self._streams += 1
        with self._db.cursor(name=f"weft_{self._streams}") as cursor:
            cursor.itersize = STREAM_ROWS
            cursor.execute(statement(name), values)
            yield from cursor

    def one(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Any:
        rows = self.run(name, values)
        return rows[0][0] if rows else None

    def run_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            with self._db.cursor() as cursor:
                cursor.executemany(statement(name), rows)
                self._count(cursor)

    def bind(self, namespace: str) -> None:
        """Bind the rest of the transaction to a namespace for row security."""
        if self._snapshot:
            self._snapshot.bind(namespace)
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
        return self._connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS

    def changes(self) -> int:
        return self._changes

    def total_changes(self) -> int:
        return self._total_changes

    def _count(self, cursor: psycopg.Cursor[TupleRow]) -> None:
        is_read = (cursor.statusmessage or "").startswith("SELECT")
        self._changes = 0 if is_read else max(cursor.rowcount, 0)
        self._total_changes += self._changes

    def namespace_key(self, name: str) -> str:
        return name

    def state_of(self, namespace: Namespace) -> Hashable:
        """Return a value that changes with every write of a namespace; None outside a snapshot."""
        return self._snapshot.state_of(str(namespace)) if self._snapshot else None

    def lock(self, name: str) -> None:
        self.run("lock_namespace", {"name": name})

    def number_keys(self, namespace: Namespace, keys: Collection[str]) -> Mapping[str, str]:
        """Return the keys: the tables contain them."""
        return {key: key for key in keys}

    def write_nominations(self, namespace: Namespace, rows: Sequence[dict[str, Any]]) -> None:
        self.run_many("write_nomination", rows)

    def release_keys(self, namespace: Namespace, keys: Collection[str] | None = None) -> None:
        """Do nothing: the tables contain the keys."""

    # ── vectors ─────────────────────────────────────────────────────────────────────────────────

    def pack(self, vector: Vector) -> PgVector:
        return PgVector(vector)

    def unpack(self, value: Any) -> Vector:
        return np.asarray(value.to_numpy() if isinstance(value, PgVector) else value, dtype=np.float32)

    def pack_half(self, vector: Vector) -> PgVector:
        return PgVector(round_to_half(vector))

    def unpack_half(self, value: Any) -> Vector:
        return self.unpack(value)

    def pack_names(self, vectors: Sequence[Vector]) -> list[PgVector]:
        return [PgVector(round_to_twelve(vector)) for vector in vectors]

    def unpack_names(self, values: Sequence[Any]) -> list[Vector]:
        return [self.unpack(value) for value in values]

    def sketch(self, vector: Vector) -> None:
        return None

    def search_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        return vectors.search(self, namespace, vector, model=model, limit=limit, where=where)

    def expect_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> None:
        can_send = self._snapshot is not None and not self._has_citus and psycopg.Pipeline.is_supported()
        if can_send and not where:
            self._expected = vectors.unfiltered(self, namespace, vector, model=model, limit=limit)

    def describe_search(self, namespace: Namespace, *, model: int | None) -> SearchMethods:
        if model is None:
            return SearchMethods(vectors="", keywords="exact", entities="")
        entities = vectors.describe_facts(self, namespace)
        return SearchMethods(vectors=vectors.describe(self, namespace), keywords="exact", entities=entities)

    def search_fact_vectors(
        self, namespace: Namespace, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        return vectors.search_facts(self, namespace, vector, model=model, limit=limit)

    def search_fact_texts(
        self, namespace: Namespace, vector: Vector, *, model: int, at: int, limit: int
    ) -> list[tuple[str, float]]:
        return vectors.search_fact_texts(self, namespace, vector, model=model, at=at, limit=limit)

    # ── keywords ────────────────────────────────────────────────────────────────────────────────

    def term_changes(self, namespace: Namespace) -> TermChanges:
        return terms.TermChanges(self, namespace=namespace)

    def pack_terms(self, terms: Mapping[str, int], text: str) -> str:
        return json.dumps(dict(terms), ensure_ascii=False, sort_keys=True)

    def search_keyword(
        self,
        namespace: Namespace,
        query_terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        chunks: int,
        length: int,
        frequencies: Mapping[str, int] | None = None,
    ) -> Ranking:
        counts: dict[str, Any] = {"total": chunks, "mean_length": length / chunks, "frequencies": frequencies}
        return terms.search(self, namespace, query_terms, limit=limit, where=where, **counts)

    def count_terms(self, namespace: Namespace, query_terms: Collection[str]) -> dict[str, int]:
        known = self.known_terms(namespace)
        missing = {term for term in query_terms if term not in known}
        known |= dict.fromkeys(missing, 0) | terms.count(self, namespace, missing)
        return {term: known[term] for term in query_terms if known[term]}

    def known_terms(self, namespace: Namespace) -> dict[str, int]:
        """Return the document frequencies that the snapshot has read, 0 for absent terms; more can be added."""
        return {} if self._snapshot is None else self._snapshot.known_terms(namespace)

    def known_postings(self, namespace: Namespace) -> dict[str, terms.Postings]:
        """Return the complete postings of terms that were read; more can be added."""
        return {} if self._snapshot is None else self._snapshot.known_postings(namespace)

    def find_chunks_with_terms(
        self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]], *, before: float | None = None
    ) -> dict[str, set[int]]:
        found = terms.find_chunks_with_terms(self, namespace, wanted)
        end = math.inf if before is None else before
        return {name: {number for number in numbers if number < end} for name, numbers in found.items()}

    # ── consistency ─────────────────────────────────────────────────────────────────────────────

    def find_damage(self) -> list[Problem]:
        return []

    def count_orphans(self, table: str) -> int:
        return 0  # the server enforces all references

    def drop_orphans(self, table: str) -> None:
        """Do nothing: the server enforces all references."""

    def are_terms_sound(self, namespace: Namespace) -> bool:
        return terms.are_sound(self, namespace)

    def rebuild_terms(self, namespace: Namespace) -> int:
        return terms.rebuild(self, namespace)
