"""
Read indexes of all namespaces of a server, and the thread that fills them.

They are off until `start`: a short command would end before its index is filled.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from weft.errors import WeftError
from weft.store.postgres import vectors
from weft.store.postgres.change_log import MAX_LOGGED_CHUNKS
from weft.store.postgres.index.fill import fill_in_memory, read_contents
from weft.store.postgres.index.index_files import IndexFiles
from weft.store.postgres.index.namespace_index import IndexSession, NamespaceIndex
from weft.store.read_index import hnsw

logger = logging.getLogger(__name__)

MIN_INDEXED_CHUNKS = 1_000
"""Minimum number of chunks of a namespace with an index; below, a statement costs as little."""

MAX_FOLLOWED_CHUNKS = 1_024
"""Changed chunks that a question reads to follow the log; more are read by the thread."""

MAX_INDEX_BYTES = 1 << 31
"""Maximum size of all indexes in memory; the least recently used are dropped. One index may be larger."""

RETRY_SECONDS = 60.0
"""Time until a namespace whose index could not be filled is tried again."""


class Source(Protocol):
    """Source of reading transactions, each bound to one namespace."""

    def scan(self, namespace: str = "") -> AbstractContextManager[IndexSession]:
        """Open a reading session for whole tables."""


class _Closed(Exception):
    """The registry was closed."""


class ReadIndexes:
    """Read indexes by namespace."""

    def __init__(self, source: Source, *, folder: Path, server: str) -> None:
        """`folder` is for the files of large namespaces of a server."""
        self._source = source
        self._files = IndexFiles(folder, server=server)
        self._indexes: OrderedDict[str, NamespaceIndex] = OrderedDict()
        self._lock = threading.Lock()
        self._follow_locks: dict[str, threading.Lock] = {}
        self._requested: set[str] = set()
        self._retry_at: dict[str, float] = {}
        self._due = threading.Condition(self._lock)
        self._busy = False
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_started = False

    def start(self) -> None:
        """Fill indexes from now on, each after the first question to its namespace."""
        self.is_started = True

    def close(self) -> None:
        """Stop the thread; an index that is being filled is dropped."""
        self._closing.set()
        with self._lock:
            self._due.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._files.close()

    def forget(self, namespace: str) -> None:
        """Drop the index of a namespace and its files."""
        with self._lock:
            self._indexes.pop(namespace, None)
        self._files.discard(namespace)

    def clear(self) -> None:
        """Drop all indexes and their files: they may contain rows of deleted chunks."""
        with self._lock:
            self._indexes.clear()
        self._files.folder.clear()

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until all requested indexes are filled, at most `timeout` seconds; return True if they are."""
        with self._lock:
            return self._due.wait_for(lambda: not self._requested and not self._busy, timeout)

    # ── questions ───────────────────────────────────────────────────────────────────────────────

    def find(self, db: IndexSession, namespace: str, *, chunks: int, model: int | None) -> NamespaceIndex | None:
        """
        Return the index at the version that a transaction sees; None if there is none.

        With `model`, it has the vectors of this embedder.
        """
        is_small = chunks <= vectors.MAX_EXACT_ROWS
        if not self.is_started or chunks < MIN_INDEXED_CHUNKS or not (is_small or hnsw.is_available()):
            return None
        index = self._current(db, namespace)
        if index is None or (model is not None and index.model != model):
            self._request(namespace)
            return None
        if index.is_worn:
            self._request(namespace)
        return index

    def _current(self, db: IndexSession, namespace: str) -> NamespaceIndex | None:
        version = db.version(namespace)
        index = self._get(namespace)
        if index is None or index.version == version:
            return index
        if version.generation < index.version.generation:
            return None
        with self._follow_lock(namespace):
            index = self._get(namespace)
            if index is not None and index.version != version:
                index = index.follow(db, namespace, max_chunks=MAX_FOLLOWED_CHUNKS)
                if index is not None:
                    self._put(namespace, index)
        return index

    def _follow_lock(self, namespace: str) -> threading.Lock:
        with self._lock:
            return self._follow_locks.setdefault(namespace, threading.Lock())

    def _get(self, namespace: str) -> NamespaceIndex | None:
        with self._lock:
            index = self._indexes.get(namespace)
            if index is not None:
                self._indexes.move_to_end(namespace)
            return index

    def _put(self, namespace: str, index: NamespaceIndex) -> None:
        with self._lock:
            self._indexes[namespace] = index
            self._indexes.move_to_end(namespace)
            while len(self._indexes) > 1 and sum(kept.size for kept in self._indexes.values()) > MAX_INDEX_BYTES:
                self._indexes.popitem(last=False)

    # ── filling ─────────────────────────────────────────────────────────────────────────────────

    def _request(self, namespace: str) -> None:
        with self._lock:
            if self._closing.is_set() or time.monotonic() < self._retry_at.get(namespace, 0.0):
                return
            self._requested.add(namespace)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="weft-indexes", daemon=True)
                self._thread.start()
            self._due.notify_all()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._due.wait_for(lambda: self._requested or self._closing.is_set())
                if self._closing.is_set():
                    return
                namespace, self._busy = self._requested.pop(), True
            try:
                self._update(namespace)
            except _Closed:
                return
            except (WeftError, OSError, RuntimeError, ValueError) as error:
                logger.warning("cannot fill the read index of namespace %r: %s", namespace, error)
                self._retry_at[namespace] = time.monotonic() + RETRY_SECONDS
            finally:
                with self._lock:
                    self._busy = False
                    self._due.notify_all()

    def _update(self, namespace: str) -> None:
        """Bring the index of a namespace to the newest version: by the log, from its files, or by filling it."""
        with self._source.scan(namespace) as db:
            contents = read_contents(db, namespace)
            if contents is None:
                self.forget(namespace)
                return
            index = self._get(namespace)
            if index is not None and index.model == contents.model and not index.is_worn:
                followed = self._follow(db, namespace, index)
                if followed is not None:
                    self._put(namespace, followed)
                    return
            if contents.chunks <= vectors.MAX_EXACT_ROWS:
                self._put(namespace, fill_in_memory(db, namespace, contents, check=self._check))
                return
        if hnsw.is_available():
            self._update_files(namespace, index)

    def _update_files(self, namespace: str, index: NamespaceIndex | None) -> None:
        """Open the files of a large namespace, or write them. Another process may be writing them."""
        files = self._files
        with files.folder.build_lock() as is_locked:
            if not is_locked:
                self._retry_at[namespace] = time.monotonic() + RETRY_SECONDS
                return
            files.folder.delete_leftovers()
            with self._source.scan(namespace) as db:
                contents = read_contents(db, namespace)
                if contents is None:
                    return
                if index is None or index.graphs is None or index.model != contents.model:
                    index = files.open(namespace, contents)
                known = self._follow(db, namespace, index) if index else None
                if known is not None and not known.is_worn:
                    self._put(namespace, known)
                    return
                finish = files.fill(db, namespace, contents, known=known, check=self._check)
            self._put(namespace, finish())

    def _follow(self, db: IndexSession, namespace: str, index: NamespaceIndex) -> NamespaceIndex | None:
        if index.version == db.version(namespace):
            return index
        return index.follow(db, namespace, max_chunks=MAX_LOGGED_CHUNKS)

    def _check(self) -> None:
        if self._closing.is_set():
            raise _Closed
