"""The SQLite file behind `CachedEmbedder`: bounded, shared between processes, never an error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

import apsw
import numpy as np

from weft.records import Vector

logger = logging.getLogger(__name__)

T = TypeVar("T")

BUSY_MILLISECONDS = 5000
KEEP_SHARE = 0.9
"""How full the file is left when the least recently used vectors are dropped."""
EVICT_ROWS = 1000
"""Dropped at a time, so that another process never waits long."""

_SCHEMA = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 16777216;
CREATE TABLE IF NOT EXISTS vectors (
    id     INTEGER PRIMARY KEY,
    model  TEXT    NOT NULL,
    digest BLOB    NOT NULL,
    vector BLOB    NOT NULL,
    used   INTEGER NOT NULL,
    UNIQUE (model, digest)
);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used, id);
"""
_SELECT = "SELECT vector, used FROM vectors WHERE model = ? AND digest = ?"
_TOUCH = "UPDATE vectors SET used = ? WHERE model = ? AND digest = ?"
_INSERT = """
INSERT INTO vectors (model, digest, vector, used) VALUES (?, ?, ?, ?)
ON CONFLICT (model, digest) DO UPDATE SET vector = excluded.vector, used = excluded.used
"""
_EVICT = "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY used, id LIMIT ?)"


class CacheFile:
    """
    Vectors by model and text digest. Reading gives what is there; writing may silently not happen.

    `model` is whatever two texts must share to share a vector: the embedder's fingerprint and the kind.
    `used` counts hours, so that a vector is touched at most once an hour however often it is read.
    """

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._connection: apsw.Connection | None = None
        self._bypassed = False

    @property
    def exists(self) -> bool:
        """Whether there is a file yet."""
        return self._path.exists()

    def read(self, model: str, *, digests: Sequence[bytes], hour: int = 0) -> dict[bytes, Vector]:
        """Return the known vectors among `digests` and mark them as used in `hour`, where one is given."""

        def work(connection: apsw.Connection) -> dict[bytes, Vector]:
            known: dict[bytes, Vector] = {}
            stale: list[bytes] = []
            for digest in digests:
                for blob, used in connection.execute(_SELECT, (model, digest)):
                    if len(blob) % 4 == 0 and np.isfinite(vector := np.frombuffer(blob, "<f4")).all():
                        known[digest] = vector.astype(np.float32)
                        if used < hour:
                            stale.append(digest)
            if stale:
                with suppress(apsw.BusyError), connection:
                    connection.executemany(_TOUCH, ((hour, model, digest) for digest in stale))
            return known

        return self._guarded(work, otherwise={})

    def write(self, model: str, *, vectors: Mapping[bytes, Vector], hour: int) -> None:
        """Keep the vectors, and drop the least recently used ones if the file grew too large."""

        def work(connection: apsw.Connection) -> None:
            rows = ((model, digest, vector.astype("<f4").tobytes(), hour) for digest, vector in vectors.items())
            with connection:
                connection.executemany(_INSERT, rows)
            self._shrink(connection)

        self._guarded(work, otherwise=None)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            self._drop_connection()

    def _guarded(self, work: Callable[[apsw.Connection], T], *, otherwise: T) -> T:
        """Do the work, or return `otherwise` when the file does not allow it."""
        with self._lock:
            if self._bypassed:
                return otherwise
            try:
                return work(self._open())
            except (apsw.NotADBError, apsw.CorruptError) as error:
                self._begin_anew(error)
            except apsw.BusyError as error:
                logger.debug("the vector cache is busy: %s", error)
            except (apsw.Error, OSError) as error:
                self._bypass(error)
            return otherwise

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = apsw.Connection(str(self._path))
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            connection.execute(_SCHEMA).fetchall()
            self._connection = connection
        return self._connection

    def _begin_anew(self, error: apsw.Error) -> None:
        """Put a corrupt file aside, for whoever wants to look; the next call finds none."""
        self._drop_connection()
        aside = self._path.with_name(f"{self._path.name}.corrupt")
        try:
            self._path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as failure:
            self._bypass(failure)
        else:
            logger.warning("the vector cache was corrupt (%s); it is now %s, a new one begins", error, aside)

    def _bypass(self, error: apsw.Error | OSError) -> None:
        self._drop_connection()
        self._bypassed = True
        logger.warning("going on without the vector cache %s: %s", self._path, error)

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()

    def _shrink(self, connection: apsw.Connection) -> None:
        """Drop the least recently used vectors, the oldest of equals first, until the file is small again."""
        if _used_bytes(connection) <= self._max_bytes:
            return
        while _used_bytes(connection) > KEEP_SHARE * self._max_bytes:
            connection.execute(_EVICT, (EVICT_ROWS,))
            if connection.changes() == 0:
                break
        connection.execute("PRAGMA incremental_vacuum").fetchall()


def _used_bytes(connection: apsw.Connection) -> int:
    def pragma(name: str) -> int:
        return int(connection.pragma(name))

    return pragma("page_size") * (pragma("page_count") - pragma("freelist_count"))
