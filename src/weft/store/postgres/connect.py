"""Connections to a PostgreSQL server: pools, transactions bound to a namespace, replica reads."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from weft.errors import StoreError, StoreUnavailable, WeftError
from weft.records import Batch
from weft.store.postgres import schema, vectors
from weft.store.postgres.failures import (
    connection_lost,
    display_address,
    failed_node,
    is_lost,
    node_unreachable,
    not_administrator,
    pool_exhausted,
    translated_errors,
    writer_busy,
)
from weft.store.postgres.filters import KeptFilters
from weft.store.postgres.index.registry import ReadIndexes
from weft.store.postgres.outbox import MAX_SETTLED_CHUNKS, settle_all
from weft.store.postgres.part_readers import MAX_PART_READERS, PartReaders, ReaderThreads
from weft.store.postgres.parts import PartedSession
from weft.store.postgres.vectors import Samples
from weft.store.relational.session import read_models

logger = logging.getLogger(__name__)
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # the pool logs the same error that is raised

MAX_CONNECTIONS = 16
"""Maximum number of connections of one process; a thread uses one during a transaction."""

MAX_WAIT_SECONDS = 30.0
"""Maximum wait for a connection of the pool."""

CONNECT_TIMEOUT_SECONDS = 10

MAX_LOCK_SECONDS = 600.0
"""Maximum wait for another writer of a namespace. `lock_timeout` does not reach the nodes of Citus."""

REPLICA_PAUSE_SECONDS = 30
"""Time for which a replica is not used after it did not answer."""

MIN_ANALYZED_CHUNKS = 1_000
"""Chunks that a namespace grows by before the planner's statistics are refreshed, then each time it has doubled."""

ANALYZE = (
    "ANALYZE weft.document, weft.label, weft.chunk, weft.posting, weft.term, weft.nomination, weft.claim, "
    "weft.entity, weft.mention, weft.relation"
)
"""Refreshes the statistics of the tables that grow with documents; skipped by the server for ordinary roles."""

BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"


class Connections:
    """
    Source of transactions, each bound to one namespace; row security hides all others.

    Reading transactions see a snapshot. Writers of one namespace wait for each other at its row.
    """

    def __init__(self, dsn: str, *, replica: str = "", index_folder: Path | None = None) -> None:
        """Read indexes of large namespaces are files in `index_folder`; None disables read indexes."""
        self.where = display_address(dsn)
        self.indexes = ReadIndexes(self, folder=index_folder, server=self.where) if index_folder else None
        self.has_citus = False
        """True if transaction settings must be propagated to Citus nodes."""
        self._dsn = dsn
        self._samples: Samples = {}
        self._kept_filters: KeptFilters = {}
        self._local = threading.local()
        self._pools: dict[tuple[str, int], ConnectionPool[psycopg.Connection[TupleRow]]] = {}
        """Pools by address and size: one for transactions, one for readers of parts."""
        self._reader_threads = ReaderThreads()
        self._lock = threading.Lock()
        self._closed = False
        self._replica = replica
        self._replica_paused_until = 0.0
        self._written_generations: dict[str, float] = {}
        """Generation after the last write through these connections, by namespace."""
        self._indexed_dimensions: set[int] = set()
        self._indexed_chunk_dimensions: set[int] = set()
        self._deferred_chunks: dict[str, int] = {}
        """Chunks that this process has written since it last settled the graph, by namespace."""
        self._growth: dict[str, int] = {}
        """Chunks to be written until the next refresh of the statistics, by namespace."""

    # ── transactions ────────────────────────────────────────────────────────────────────────────

    def read(self, namespace: str = "", *, may_lag: bool = False) -> AbstractContextManager[PartedSession]:
        """
        Open a session whose statements all see the same state.

        With `may_lag`, the replica is used if it responds and has all writes made through these connections.
        """
        return self._read_replica(namespace) if may_lag else self._read(namespace)

    def scan(self, namespace: str = "") -> AbstractContextManager[PartedSession]:
        """Open a reading session for whole tables; the server chooses the pages that stay in memory."""
        return self._read(namespace)

    @contextmanager
    def _read(self, namespace: str) -> Iterator[PartedSession]:
        if self._current is not None:
            with self._bound(self._current, namespace) as session:
                yield session
            return
        with self._transaction(BEGIN_READ, namespace, dsn=self._dsn) as session:
            yield session

    @contextmanager
    def _read_replica(self, namespace: str) -> Iterator[PartedSession]:
        with ExitStack() as stack:
            yield self._enter_replica(stack, namespace) or stack.enter_context(self._read(namespace))

    @contextmanager
    def write(
        self, namespace: str = "", *, nested: bool = False, exclusive: bool = True, settled: bool = True
    ) -> Iterator[PartedSession]:
        """
        Open a session that is committed unless an exception is raised.

        Without `exclusive`, the session does not wait for other writers of the namespace; its statements must skip
        locked rows. Without `settled`, it does not wait for writers of documents in several parts, and the graph may
        lag behind their text. With `nested`, use the current transaction of this thread, if any.
        """
        if nested and self._current is not None:
            with self._read(namespace) as session:
                yield session
            return
        is_locking = bool(namespace) and exclusive
        with self._changing(namespace, is_counted=is_locking) as session:
            if is_locking:
                self._take_locks(session, namespace, lambda: session.lock(namespace))
            if is_locking and settled and session.part_names(namespace):
                self._take_locks(session, namespace, lambda: session.lock_all(namespace))
                settle_all(session, namespace)
            yield session

    @contextmanager
    def write_documents(
        self, namespace: str, ids: Collection[str], *, defer_indexes: bool = False
    ) -> Iterator[PartedSession]:
        """
        Open a session that may write documents to the parts that have them, or to a namespace with one part.

        Writers of other parts do not wait. With `defer_indexes`, a large namespace may stay without an index of its
        vectors, which `create_indexes` adds: vectors are inserted into an index one by one, which takes several times
        as long as building it.
        """
        with self._changing(namespace, is_counted=True, defer_indexes=defer_indexes) as session:
            self._take_locks(session, namespace, lambda: session.lock_documents(namespace, ids))
            yield session

    def defer(self, namespace: str, batches: Sequence[Batch]) -> bool:
        """Return True if the graph of written documents may wait: this process has not deferred too many before."""
        chunks = self._deferred_chunks.get(namespace, 0) + sum(len(batch.chunks) for batch in batches)
        may_wait = chunks <= MAX_SETTLED_CHUNKS
        self._deferred_chunks[namespace] = chunks if may_wait else 0
        return may_wait

    @contextmanager
    def settle(self, namespace: str, *, wait: bool) -> Iterator[PartedSession | None]:
        """Open a session that has locked the home of a namespace; without `wait`, None if another one has."""
        self._deferred_chunks.pop(namespace, None)
        with self._changing(namespace, is_counted=True, defer_indexes=True) as session:
            if wait:
                self._take_locks(session, namespace, lambda: session.lock(namespace))
            yield session if wait or session.run("try_namespace", {"name": namespace}) else None

    @contextmanager
    def _changing(self, namespace: str, *, is_counted: bool, defer_indexes: bool = False) -> Iterator[PartedSession]:
        """Open a session that is committed; afterwards refresh indexes, statistics and the known generation."""
        with self._transaction(BEGIN_WRITE, namespace, dsn=self._dsn) as session:
            yield session
            is_grown = self._has_grown(session, namespace)
            has_to_index = not defer_indexes and session.total_chunks > vectors.MAX_EXACT_ROWS
            dimensions = self._unindexed_dimensions(session, namespace) if has_to_index else set()
        if dimensions:
            self._try_index_chunks(dimensions)
        if is_grown and not self.has_citus:  # there, each node analyses its shards by itself
            with self.bare() as db:
                db.execute(ANALYZE)
        if is_counted and self._replica:
            with self._read(namespace) as session:  # after the commit: writers of other parts count as well
                generation = _generation(session, namespace)
            # A dropped namespace may be created again with smaller generations: never read it from the replica.
            self._written_generations[namespace] = (
                max(generation, self._written_generations.get(namespace, 0)) if generation else math.inf
            )

    @contextmanager
    def try_write(self, namespace: str = "") -> Iterator[PartedSession | None]:
        """Open a writing session; None if another writer is active or this thread already has a session."""
        if self._current is not None:
            yield None
            return
        with self._transaction(BEGIN_WRITE, namespace, dsn=self._dsn) as session:
            yield session if session.run("try_namespace", {"name": namespace}) else None

    def _take_locks(self, session: PartedSession, namespace: str, take: Callable[[], None]) -> None:
        """Take locks, and wait at most for the limit."""
        start = time.monotonic()
        try:
            session.limit_statements(MAX_LOCK_SECONDS)
            take()
            session.unlimit_statements()
        except psycopg.errors.QueryCanceled as error:
            if time.monotonic() - start < MAX_LOCK_SECONDS:
                raise  # a shorter limit of the server
            raise writer_busy(self.where, namespace, MAX_LOCK_SECONDS) from error

    def _has_grown(self, session: PartedSession, namespace: str) -> bool:
        """Return True if the planner's statistics are outdated after this transaction."""
        if session.added_chunks <= 0:
            return False
        left = self._growth.get(namespace, MIN_ANALYZED_CHUNKS) - session.added_chunks
        is_grown = left <= 0
        if is_grown:
            rows = session.run("find_namespace", {"name": namespace})
            left = max(MIN_ANALYZED_CHUNKS, *(chunks for _, _, chunks, _ in rows))
        self._growth[namespace] = left
        return is_grown

    def pack(self) -> None:
        """Do nothing: the server does this by autovacuum."""

    def prepare_vectors(self, dimension: int) -> None:
        """Create missing indexes of fact vectors of a dimension, outside any transaction."""
        if dimension in self._indexed_dimensions or self._current is not None:
            return
        with self.bare() as db:
            schema.create_vector_indexes(db, dimension, tables=("fact_vector", "fact_text_vector"))
        self._indexed_dimensions.add(dimension)

    def create_indexes(self, namespace: str) -> None:
        """Create the missing index of the vectors of a namespace that is too large for an exact search."""
        if self._current is not None:
            return
        with self._read(namespace) as session:
            rows = session.run("find_namespace", {"name": namespace})
            is_large = any(chunks > vectors.MAX_EXACT_ROWS for _, _, chunks, _ in rows)
            dimensions = self._unindexed_dimensions(session, namespace) if is_large else set()
        if dimensions:
            self._index_chunks(dimensions)

    def _unindexed_dimensions(self, session: PartedSession, namespace: str) -> set[int]:
        """
        Return the dimensions of a large namespace for which there may be no index of chunk vectors.

        Small namespaces are searched exactly. An index would take half of the server's time of their writes.
        """
        dimensions = {row.model.dimension for row in read_models(session, namespace)}
        return dimensions - self._indexed_chunk_dimensions

    def _try_index_chunks(self, dimensions: set[int]) -> None:
        """Create missing indexes after a commit. A failure is logged, since the documents are stored."""
        try:
            self._index_chunks(dimensions)
        except WeftError as error:
            logger.warning("the vector index was not created, the next write tries again: %s", error)

    def _index_chunks(self, dimensions: set[int]) -> None:
        """Create the missing indexes of chunk vectors, outside any transaction."""
        with self.bare() as db:
            for dimension in dimensions:
                schema.create_vector_indexes(db, dimension, tables=("chunk_vector",))
        self._indexed_chunk_dimensions |= dimensions

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
        """Stop filling read indexes, and close all pools."""
        if self.indexes:
            self.indexes.close()
        self._reader_threads.close()
        with self._lock:
            self._closed = True
            while self._pools:
                self._pools.popitem()[1].close()

    # ── private ─────────────────────────────────────────────────────────────────────────────────

    def _enter_replica(self, stack: ExitStack, namespace: str) -> PartedSession | None:
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
    def _current(self) -> PartedSession | None:
        found: PartedSession | None = getattr(self._local, "session", None)
        return found

    @contextmanager
    def _transaction(self, begin: str, namespace: str, *, dsn: str) -> Iterator[PartedSession]:
        if self._current is not None:
            message = "cannot open a write transaction inside another transaction of the same thread"
            raise StoreError(message, hint="end the outer transaction first")
        is_committing = False
        with self._connection(dsn, begin, MAX_CONNECTIONS) as db:
            readers = self._part_readers(db, dsn) if begin == BEGIN_READ else None
            session = self._session(db, begin, readers)
            try:
                self._local.session, self._local.namespace = session, ""
                with self._bound(session, namespace):
                    yield session
                    if begin == BEGIN_WRITE:
                        session.write_log()
                        session.send_new_rows()
                session.end_sent()
                is_committing = begin == BEGIN_WRITE
                db.execute("COMMIT")
            except psycopg.Error as error:
                if is_lost(error, db) or (readers and any(reader.is_closed() for reader in readers.sessions.values())):
                    raise connection_lost(display_address(dsn), error, is_committing=is_committing) from error
                if node := failed_node(error):
                    raise node_unreachable(display_address(dsn), node, namespace) from error
                raise
            finally:
                self._local.session = None
                if readers:
                    readers.close()
                with suppress(psycopg.Error):
                    session.end_sent()
                _roll_back(db)

    def _session(
        self, db: psycopg.Connection[TupleRow], begin: str, readers: PartReaders[PartedSession] | None = None
    ) -> PartedSession:
        is_snapshot = begin == BEGIN_READ
        return PartedSession(
            db,
            samples=self._samples,
            kept_filters=self._kept_filters,
            is_snapshot=is_snapshot,
            has_citus=self.has_citus,
            indexes=self.indexes,
            readers=readers,
        )

    def _part_readers(self, db: psycopg.Connection[TupleRow], dsn: str) -> PartReaders[PartedSession]:
        """Return the readers of parts for a transaction; none is opened yet."""

        def export() -> str:
            found = db.execute("SELECT pg_export_snapshot()").fetchone()
            return str(found[0]) if found else ""

        @contextmanager
        def open_reader(snapshot: str) -> Iterator[PartedSession]:
            with self._connection(dsn, BEGIN_READ, MAX_PART_READERS) as own:
                try:
                    own.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot), prepare=False)
                    yield self._session(own, BEGIN_READ)
                finally:
                    _roll_back(own)

        return PartReaders(self._reader_threads, export_snapshot=export, open_reader=open_reader)

    @contextmanager
    def _bound(self, session: PartedSession, namespace: str) -> Iterator[PartedSession]:
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

    def _bind(self, session: PartedSession, namespace: str) -> None:
        session.bind(namespace)
        self._local.namespace = namespace

    @contextmanager
    def _connection(self, dsn: str, begin: str, size: int) -> Iterator[psycopg.Connection[TupleRow]]:
        """Take a connection from the pool and begin a transaction."""
        if self._closed:
            raise StoreError("the store is closed", hint="open the store again")
        with translated_errors(display_address(dsn)):
            pool = self._pool(dsn, size)
            try:
                db = _begin(pool, begin)
            except PoolTimeout as error:
                with psycopg.connect(
                    dsn, connect_timeout=CONNECT_TIMEOUT_SECONDS
                ):  # raises the actual error, which the pool hides
                    raise pool_exhausted(display_address(dsn), size) from error
            try:
                yield db
            finally:
                pool.putconn(db)

    def _pool(self, dsn: str, size: int) -> ConnectionPool[psycopg.Connection[TupleRow]]:
        with self._lock:
            if (dsn, size) not in self._pools:
                with psycopg.connect(dsn, connect_timeout=CONNECT_TIMEOUT_SECONDS):
                    pass  # raises the reason of a failure; a pool would keep trying
                self._pools[dsn, size] = ConnectionPool(
                    dsn,
                    kwargs={"autocommit": True},
                    min_size=0,
                    max_size=size,
                    timeout=MAX_WAIT_SECONDS,
                    configure=_configure,
                    open=True,
                )
            return self._pools[dsn, size]


def _generation(session: PartedSession, namespace: str) -> float:
    """Return the generation of a namespace, which grows with every write; 0 for an unknown namespace."""
    rows = session.run("find_namespace", {"name": namespace})
    _, generation, *_ = rows[0] if rows else ("", 0)
    return float(generation)


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
