"""Connections to a server: a pool, transactions bound to a namespace, one writer of a namespace at a time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from weft.errors import StoreError, StoreUnavailable
from weft.store.postgres import schema
from weft.store.postgres.failures import is_lost, lost, ours, shown, worn_out
from weft.store.postgres.session import PostgresSession
from weft.store.postgres.vectors import Samples

logger = logging.getLogger(__name__)
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # what it says in between, our error says at the end

POOL = 16
"""Connections that one process opens at most; a thread holds one while it is inside a transaction."""

WAIT_S = 30.0
"""How long a thread waits for a connection, and the server for being reached."""

REST_S = 30
"""How long a replica that did not answer is not asked again."""

BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"


class Connections:
    """
    Transactions, each bound to one namespace: row security lets it see no other.

    Reads see one state of the database. Writers of one namespace wait for each other at its row.
    """

    def __init__(self, dsn: str, *, replica: str = "") -> None:
        self.where = shown(dsn)
        self.has_citus = False
        """Whether what is set for a transaction has to be sent on to the nodes."""
        self._dsn = dsn
        self._samples: Samples = {}
        self._local = threading.local()
        self._pools: dict[str, ConnectionPool[psycopg.Connection[TupleRow]]] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._replica = replica
        self._rests_until = 0.0
        self._own: dict[str, float] = {}
        """By namespace, the generation that the last write through these connections made."""
        self._dimensions: set[int] = set()

    # ── transactions ────────────────────────────────────────────────────────────────────────────

    def read(self, namespace: str = "", *, may_lag: bool = False) -> AbstractContextManager[PostgresSession]:
        """
        Open a session whose statements all see the same state.

        With `may_lag`, on the replica if it answers and has all writes made through these connections.
        """
        return self._read_replica(namespace) if may_lag else self._read(namespace)

    def scan(self, namespace: str = "") -> AbstractContextManager[PostgresSession]:
        """Open a reading session; the server decides which pages stay in memory."""
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
    def write(self, namespace: str = "", *, nested: bool = False, exclusive: bool = True) -> Iterator[PostgresSession]:
        """
        Open a session that is committed unless an exception is raised.

        Unless `exclusive`, it does not wait for other writers of the namespace: its statements must skip rows that
        those have locked. With `nested`, use the transaction that this thread is in, if there is one.
        """
        if nested and self._current is not None:
            with self._read(namespace) as session:
                yield session
            return
        is_locking = bool(namespace) and exclusive
        with self._transaction(BEGIN_WRITE, namespace, dsn=self._dsn) as session:
            if is_locking:
                session.lock(namespace)
            yield session
            made = _generation(session, namespace) if is_locking and self._replica else None
        if made is not None:  # one that is gone may come back with smaller numbers: then the replica cannot tell
            self._own[namespace] = max(made, self._own.get(namespace, 0)) if made else math.inf

    @contextmanager
    def try_write(self, namespace: str = "") -> Iterator[PostgresSession | None]:
        """Open a writing session; None if another writer is active, or inside another session."""
        if self._current is not None:
            yield None
            return
        with self._transaction(BEGIN_WRITE, namespace, dsn=self._dsn) as session:
            yield session if session.run("try_namespace", {"name": namespace}) else None

    def prepare_vectors(self, dimension: int) -> None:
        """Make the indexes over vectors of a dimension, where they are missing and we may."""
        if dimension in self._dimensions or self._current is not None:
            return
        with self.bare() as db:
            schema.index_vectors(db, dimension)
        self._dimensions.add(dimension)

    @contextmanager
    def bare(self) -> Iterator[psycopg.Connection[TupleRow]]:
        """Give a connection of its own outside any transaction, for what changes tables."""
        with ours(self.where), psycopg.connect(self._dsn, autocommit=True, connect_timeout=10) as db:
            yield db

    def close(self) -> None:
        """Close every connection that is not in use."""
        with self._lock:
            self._closed = True
            while self._pools:
                self._pools.popitem()[1].close()

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    def _enter_replica(self, stack: ExitStack, namespace: str) -> PostgresSession | None:
        """Begin to read on the replica; None inside a transaction, and where there is none that will do."""
        if self._current is not None or not self._replica or time.monotonic() < self._rests_until:
            return None
        try:
            with ExitStack() as begun:
                transaction = self._transaction(BEGIN_READ, namespace, dsn=self._replica)
                session = begun.enter_context(transaction)
                own = self._own.get(namespace)
                if own is not None and _generation(session, namespace) < own:
                    return None
                stack.push(begun.pop_all())
                return session
        except StoreUnavailable as error:
            logger.warning("the replica is left alone for %d s: %s", REST_S, error)
            self._rests_until = time.monotonic() + REST_S
            return None

    @property
    def _current(self) -> PostgresSession | None:
        found: PostgresSession | None = getattr(self._local, "session", None)
        return found

    @contextmanager
    def _transaction(self, begin: str, namespace: str, *, dsn: str) -> Iterator[PostgresSession]:
        if self._current is not None:
            raise StoreError("a write inside another transaction of the same thread")
        is_committing = False
        with self._connection(dsn) as db:
            try:
                db.execute(begin)
                session = PostgresSession(db, samples=self._samples)
                self._local.session, self._local.namespace = session, ""
                with self._bound(session, namespace):
                    yield session
                is_committing = begin == BEGIN_WRITE
                db.execute("COMMIT")
            except psycopg.Error as error:
                if is_lost(error, db):
                    raise lost(shown(dsn), error, is_committing=is_committing) from error
                raise
            finally:
                self._local.session = None
                _roll_back(db)

    @contextmanager
    def _bound(self, session: PostgresSession, namespace: str) -> Iterator[PostgresSession]:
        """Let row security show this namespace and no other, and after it the one that was shown before."""
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
        if self.has_citus:
            session.set_local("citus.propagate_set_commands", "'local'")
        session.set_local("weft.namespace", sql.Literal(namespace).as_string(None))
        self._local.namespace = namespace

    @contextmanager
    def _connection(self, dsn: str) -> Iterator[psycopg.Connection[TupleRow]]:
        if self._closed:
            raise StoreError("the store is closed", hint="open it again")
        with ours(shown(dsn)):
            pool = self._pool(dsn)
            try:
                db = pool.getconn()
            except PoolTimeout as error:
                with psycopg.connect(dsn, connect_timeout=10):  # the pool does not say why
                    raise worn_out(shown(dsn), POOL) from error
            try:
                yield db
            finally:
                pool.putconn(db)

    def _pool(self, dsn: str) -> ConnectionPool[psycopg.Connection[TupleRow]]:
        with self._lock:
            if dsn not in self._pools:
                with psycopg.connect(dsn, connect_timeout=10):
                    pass  # a pool would keep trying, and not say why it cannot
                self._pools[dsn] = ConnectionPool(
                    dsn,
                    kwargs={"autocommit": True},
                    min_size=0,
                    max_size=POOL,
                    timeout=WAIT_S,
                    configure=_configure,
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pools[dsn]


def _generation(session: PostgresSession, namespace: str) -> float:
    """Return the number that grows with every write to a namespace; 0 where there is none."""
    rows = session.run("find_namespace", {"name": namespace})
    return float(rows[0][1]) if rows else 0.0


def _roll_back(db: psycopg.Connection[Any]) -> None:
    """End a transaction that was not committed; where that fails, the pool throws the connection away."""
    if not db.closed and db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        with suppress(psycopg.OperationalError):
            db.execute("ROLLBACK")


def _configure(db: psycopg.Connection[Any]) -> None:
    """Teach a new connection to speak of vectors, where the server knows them already."""
    db.execute("SET jit = off")  # it pays for no question
    known = db.execute("SELECT 1 FROM pg_type WHERE typname = 'sparsevec'").fetchone()
    if known:
        register_vector(db)
