"""Connections to a PostgreSQL server: pools, transactions bound to a namespace, replica reads."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from weft.errors import StoreError, StoreUnavailable, WeftError
from weft.store.postgres import schema, vector_indexes, vectors
from weft.store.postgres.deltas import MAX_PENDING_CHUNKS_AFTER_LOAD, fold
from weft.store.postgres.failures import (
    connection_lost,
    display_address,
    failed_node,
    is_lost,
    node_unreachable,
    not_administrator,
    pool_exhausted,
    translated_errors,
)
from weft.store.postgres.filters import KeptFilters
from weft.store.postgres.session import PostgresSession
from weft.store.postgres.vector_indexes import VectorIndex
from weft.store.postgres.vectors import Samples
from weft.store.relational.session import Namespace, NamespaceRow, Turn

logger = logging.getLogger(__name__)
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # the pool logs the same error that is raised

MAX_CONNECTIONS = 16
"""Maximum number of connections of one process; a thread uses one during a transaction."""

MAX_WAIT_SECONDS = 30.0
"""Maximum wait for a connection of the pool."""

CONNECT_TIMEOUT_SECONDS = 10

REPLICA_PAUSE_SECONDS = 30
"""Time for which a replica is not used after it did not answer."""

MIN_ANALYZED_CHUNKS = 1_000
"""Chunks that a namespace grows by before the planner's statistics are refreshed, then each time it has doubled."""

ANALYZE = (
    "ANALYZE weft.document, weft.label, weft.chunk, weft.posting, weft.term, weft.candidate, weft.stated_relation, "
    "weft.entity, weft.mention, weft.relation"
)
"""Refreshes the statistics of the tables that grow with documents; skipped by the server for ordinary roles."""

BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"


class Connections:
    """
    Source of transactions, each bound to one namespace; row security hides all others.

    Reading transactions see a snapshot. Writers of one namespace take turns at its row (`Turn`).
    """

    def __init__(self, dsn: str, *, replica: str = "") -> None:
        self.where = display_address(dsn)
        self.has_citus = False
        """True if transaction settings must be propagated to Citus nodes."""
        self._dsn = dsn
        self._samples: Samples = {}
        self._kept_filters: KeptFilters = {}
        self._local = threading.local()
        self._pools: dict[str, ConnectionPool[psycopg.Connection[TupleRow]]] = {}
        """Pools by address."""
        self._lock = threading.Lock()
        self._closed = False
        self._replica = replica
        self._replica_paused_until = 0.0
        self._written_generations: dict[str, float] = {}
        """Generation after the last write through these connections, by namespace."""
        self._indexed_dimensions: set[int] = set()
        self._indexed_chunk_dimensions: set[int] = set()
        self._growth: dict[Namespace, int] = {}
        """Chunks to be written until the next refresh of the statistics, by namespace."""

    # ── transactions ────────────────────────────────────────────────────────────────────────────

    def read(self, namespace: str = "", *, may_lag: bool = False) -> AbstractContextManager[PostgresSession]:
        """
        Open a session whose statements all see the same state.

        With `may_lag`, the replica is used if it responds and has all writes made through these connections.
        """
        return self._read_replica(namespace) if may_lag else self._read(namespace)

    def scan(self, namespace: str = "") -> AbstractContextManager[PostgresSession]:
        """Open a reading session for whole tables; the server chooses the pages that stay in memory."""
        return self._read(namespace)

    @contextmanager
    def _read(self, namespace: str) -> Iterator[PostgresSession]:
        if self._current is not None:
            with self._bound(self._current, namespace) as session:
                yield session
            return
        with self._transaction(BEGIN_READ, namespace, dsn=self._dsn) as session:
            yield session

    @contextmanager
    def _read_replica(self, namespace: str) -> Iterator[PostgresSession]:
        with ExitStack() as stack:
            yield self._enter_replica(stack, namespace) or stack.enter_context(self._read(namespace))

    @contextmanager
    def write(
        self, namespace: str = "", *, nested: bool = False, turn: Turn | None = "next", defer_indexes: bool = False
    ) -> Iterator[PostgresSession]:
        """
        Open a session that is committed unless an exception is raised.

        Without a `turn`, the caller takes one with `lock`, or its statements skip locked rows. With `nested`, use the
        current transaction of this thread, if any. With `defer_indexes`, a large namespace may stay without an index of
        its vectors, which `create_indexes` adds: vectors are inserted into an index one by one, which takes several
        times as long as building it.
        """
        if nested and self._current is not None:
            with self._read(namespace) as session:
                yield session
            return
        with self._transaction(BEGIN_WRITE, namespace, dsn=self._dsn) as session:
            if namespace and turn:
                session.lock(namespace, turn)
            yield session
            found = session.namespace(namespace) if session.has_turn else None
            if found and session.pending[namespace].is_due:
                fold(session, found.key)
        if session.has_turn and self._replica:
            # A dropped namespace may be created again with smaller generations: never read it from the replica.
            written = self._written_generations.get(namespace, 0)
            self._written_generations[namespace] = max(found.generation, written) if found else math.inf
        is_grown = found is not None and self._has_grown(found, added=found.chunks - session.chunks_before)
        dimensions = set() if found is None or defer_indexes else self._unindexed_dimensions(found)
        if dimensions:
            self._try_index_chunks(dimensions)
        if is_grown and not self.has_citus:  # there, each node analyses its shards by itself
            with self.bare() as db:
                db.execute(ANALYZE)

    @contextmanager
    def try_write(self, namespace: str = "") -> Iterator[PostgresSession | None]:
        """Open a writing session; None if another writer is active or this thread already has a session."""
        if self._current is not None:
            yield None
            return
        with self._transaction(BEGIN_WRITE, namespace, dsn=self._dsn) as session:
            yield session if session.run("try_namespace", {"name": namespace}) else None

    def _has_grown(self, found: NamespaceRow, *, added: int) -> bool:
        """Return True if the planner's statistics are outdated after a transaction that added chunks."""
        left = self._growth.get(found.key, MIN_ANALYZED_CHUNKS) - max(added, 0)
        is_grown = left <= 0
        self._growth[found.key] = max(MIN_ANALYZED_CHUNKS, found.chunks) if is_grown else left
        return is_grown

    def pack(self) -> None:
        """Do nothing: the server does this by autovacuum."""

    def prepare_vectors(self, dimension: int) -> None:
        """Create missing indexes of fact vectors of a dimension, outside any transaction."""
        if dimension in self._indexed_dimensions or self._current is not None:
            return
        found = self.create_vector_indexes(dimension, tables=vector_indexes.FACT_TABLES)
        if all(index.state in vector_indexes.SETTLED for index in found):
            self._indexed_dimensions.add(dimension)

    def create_vector_indexes(self, dimension: int, *, tables: Sequence[str]) -> list[VectorIndex]:
        """Create missing vector indexes of a dimension; log a warning for each that is not created."""
        found = vector_indexes.create_vector_indexes(self.bare, dimension, tables=tables)
        for index in found:
            if index.state not in ("created", "exists"):
                logger.warning("no vector index of dimension %d on weft.%s: %s", dimension, index.table, index.reason)
        return found

    def create_indexes(self, namespace: str) -> None:
        """
        Create the missing index of the vectors of a namespace that is too large for an exact search.

        Pending deltas of a load are folded; a few are left to later writes.
        """
        if self._current is not None:
            return
        with self._read(namespace) as session:
            found = session.namespace(namespace)
            pending = session.pending[namespace]
        if pending.chunks > MAX_PENDING_CHUNKS_AFTER_LOAD:
            self.fold(namespace)
        if found and (dimensions := self._unindexed_dimensions(found)):
            self._index_chunks(dimensions)

    def fold(self, namespace: str) -> None:
        """Add the pending deltas of a namespace to its tables."""
        with self.write(namespace) as session:
            fold(session, namespace)

    def _unindexed_dimensions(self, found: NamespaceRow) -> set[int]:
        """
        Return the dimensions of a large namespace for which there may be no index of chunk vectors.

        Small namespaces are searched exactly. An index would take half of the server's time of their writes.
        """
        if found.chunks <= vectors.MAX_EXACT_ROWS:
            return set()
        dimensions = {row.model.dimension for row in found.models}
        return dimensions - self._indexed_chunk_dimensions

    def _try_index_chunks(self, dimensions: set[int]) -> None:
        """Create missing indexes after a commit. A failure is logged, since the documents are stored."""
        try:
            self._index_chunks(dimensions)
        except WeftError as error:
            logger.warning("the vector index was not created, the next write tries again: %s", error)

    def _index_chunks(self, dimensions: set[int]) -> None:
        """Create the missing indexes of chunk vectors, outside any transaction."""
        for dimension in dimensions:
            found = self.create_vector_indexes(dimension, tables=vector_indexes.CHUNK_TABLES)
            if all(index.state in vector_indexes.SETTLED for index in found):
                self._indexed_chunk_dimensions.add(dimension)

    @contextmanager
    def bare(self) -> Iterator[psycopg.Connection[TupleRow]]:
        """Open a separate connection outside any transaction, for changes of tables."""
        with (
            translated_errors(self.where),
            psycopg.connect(self._dsn, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SECONDS) as db,
        ):
            yield db

    def require_administrator(self, action: str) -> None:
        """Raise `AccessDenied` unless the role may see all namespaces and keys; row security hides them silently."""
        with self.bare() as db:
            if not schema.may_administer(db):
                raise not_administrator(self.where, db.info.user, action)

    def close(self) -> None:
        """Close all pools."""
        with self._lock:
            self._closed = True
            while self._pools:
                self._pools.popitem()[1].close()

    # ── private ─────────────────────────────────────────────────────────────────────────────────

    def _enter_replica(self, stack: ExitStack, namespace: str) -> PostgresSession | None:
        """Begin a reading transaction on the replica; None inside a transaction or if the replica cannot be used."""
        if self._current is not None or not self._replica or time.monotonic() < self._replica_paused_until:
            return None
        try:
            with ExitStack() as begun:
                transaction = self._transaction(BEGIN_READ, namespace, dsn=self._replica)
                session = begun.enter_context(transaction)
                written = self._written_generations.get(namespace)
                if written is not None and _generation(session, namespace) < written:
                    return None
                stack.push(begun.pop_all())
                return session
        except StoreUnavailable as error:
            logger.warning("the replica is not used for %d s: %s", REPLICA_PAUSE_SECONDS, error)
            self._replica_paused_until = time.monotonic() + REPLICA_PAUSE_SECONDS
            return None

    @property
    def _current(self) -> PostgresSession | None:
        found: PostgresSession | None = getattr(self._local, "session", None)
        return found

    @contextmanager
    def _transaction(self, begin: str, namespace: str, *, dsn: str) -> Iterator[PostgresSession]:
        if self._current is not None:
            message = "cannot open a write transaction inside another transaction of the same thread"
            raise StoreError(message, hint="end the outer transaction first")
        is_committing = False
        with self._connection(dsn, begin) as db:
            session = self._session(db, begin)
            try:
                self._local.session, self._local.namespace = session, ""
                with self._bound(session, namespace):
                    yield session
                is_committing = begin == BEGIN_WRITE
                db.execute("COMMIT")
            except psycopg.Error as error:
                if is_lost(error, db):
                    raise connection_lost(display_address(dsn), error, is_committing=is_committing) from error
                if node := failed_node(error):
                    raise node_unreachable(display_address(dsn), node, namespace, error) from error
                raise
            finally:
                self._local.session = None
                _roll_back(db)

    def _session(self, db: psycopg.Connection[TupleRow], begin: str) -> PostgresSession:
        return PostgresSession(
            db,
            where=self.where,
            samples=self._samples,
            kept_filters=self._kept_filters,
            is_snapshot=begin == BEGIN_READ,
            has_citus=self.has_citus,
        )

    @contextmanager
    def _bound(self, session: PostgresSession, namespace: str) -> Iterator[PostgresSession]:
        """Bind a session to a namespace for row security; restore the previous namespace afterwards."""
        before = self._local.namespace
        if not namespace or namespace == before:
            yield session
            return
        self._bind(session, namespace)
        try:
            yield session
        finally:
            if before and session.is_usable():
                self._bind(session, before)

    def _bind(self, session: PostgresSession, namespace: str) -> None:
        session.bind(namespace)
        self._local.namespace = namespace

    @contextmanager
    def _connection(self, dsn: str, begin: str) -> Iterator[psycopg.Connection[TupleRow]]:
        """Take a connection from the pool and begin a transaction."""
        if self._closed:
            raise StoreError("the store is closed", hint="open the store again")
        with translated_errors(display_address(dsn)):
            pool = self._pool(dsn)
            try:
                db = _begin(pool, begin)
            except PoolTimeout as error:
                with psycopg.connect(
                    dsn, connect_timeout=CONNECT_TIMEOUT_SECONDS
                ):  # raises the actual error, which the pool hides
                    raise pool_exhausted(display_address(dsn), MAX_CONNECTIONS) from error
            try:
                yield db
            finally:
                pool.putconn(db)

    def _pool(self, dsn: str) -> ConnectionPool[psycopg.Connection[TupleRow]]:
        with self._lock:
            if dsn not in self._pools:
                with psycopg.connect(dsn, connect_timeout=CONNECT_TIMEOUT_SECONDS):
                    pass  # raises the reason of a failure; a pool would keep trying
                self._pools[dsn] = ConnectionPool(
                    dsn,
                    kwargs={"autocommit": True},
                    min_size=0,
                    max_size=MAX_CONNECTIONS,
                    timeout=MAX_WAIT_SECONDS,
                    configure=_configure,
                    open=True,
                )
            return self._pools[dsn]


def _generation(session: PostgresSession, namespace: str) -> float:
    """Return the generation of a namespace, which grows with every write; 0 for an unknown namespace."""
    found = session.namespace(namespace)
    return float(found.generation) if found else 0.0


def _begin(pool: ConnectionPool[psycopg.Connection[TupleRow]], begin: str) -> psycopg.Connection[TupleRow]:
    """Return a connection inside a transaction. Connections lost while idle fail at `BEGIN` and are replaced."""
    for is_last in (*[False] * MAX_CONNECTIONS, True):
        db = pool.getconn()
        try:
            db.execute(begin)
            break
        except psycopg.Error as error:
            lost = is_lost(error, db)
            pool.putconn(db)
            if is_last or not lost:
                raise
    return db


def _roll_back(db: psycopg.Connection[Any]) -> None:
    """Roll back a transaction that was not committed; if that fails, the pool drops the connection."""
    if not db.closed and db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        with suppress(psycopg.OperationalError):
            db.execute("ROLLBACK")


def _configure(db: psycopg.Connection[Any]) -> None:
    """Prepare a new connection; vector types are registered if the server has pgvector."""
    db.execute("SET jit = off")  # JIT compilation takes longer than it saves
    if db.execute("SELECT 1 FROM pg_type WHERE typname = 'sparsevec'").fetchone():
        register_vector(db)
