"""SQLite file of cached vectors: bounded in size, shared between processes, raises no errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

import apsw
import numpy as np

from weft.private_files import make_private_file, make_private_folder
from weft.records import Vector

logger = logging.getLogger(__name__)

T = TypeVar("T")

BUSY_MILLISECONDS = 5000
EVICTION_TARGET = 0.9
"""Share of the maximum size that remains after an eviction."""
EVICT_ROWS = 1000
"""Maximum rows deleted per statement, which limits the wait of other processes."""

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
    Vectors by model and text digest. If the file cannot be used, reads find nothing and writes are dropped.

    `model` is the embedder's fingerprint and the kind of text. `used` is the hour of the last use, so a vector
    is updated at most once an hour.
    """

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._connection: apsw.Connection | None = None
        self._bypassed = False

    @property
    def exists(self) -> bool:
        """True if the file exists."""
        return self._path.exists()

    def read(self, model: str, *, digests: Sequence[bytes], hour: int = 0) -> dict[bytes, Vector]:
        """Return the cached vectors of `digests`. Mark them as used in `hour`, unless `hour` is 0."""

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
        """Write the vectors, and evict the least recently used ones if the file is too large."""

        def work(connection: apsw.Connection) -> None:
            rows = ((model, digest, vector.astype("<f4").tobytes(), hour) for digest, vector in vectors.items())
            with connection:
                connection.executemany(_INSERT, rows)
            self._shrink(connection)

        self._guarded(work, otherwise=None)

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self._lock:
            self._drop_connection()

    def _guarded(self, work: Callable[[apsw.Connection], T], *, otherwise: T) -> T:
        """Return the result of `work`, or `otherwise` if the file cannot be used."""
        with self._lock:
            if self._bypassed:
                return otherwise
            try:
                return work(self._open())
            except (apsw.NotADBError, apsw.CorruptError) as error:
                self._replace_corrupt(error)
            except apsw.BusyError as error:
                logger.debug("the vector cache is busy: %s", error)
            except (apsw.Error, OSError) as error:
                self._bypass(error)
            return otherwise

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            make_private_folder(self._path.parent)
            make_private_file(self._path)
            connection = apsw.Connection(str(self._path))
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            connection.execute(_SCHEMA).fetchall()
            self._connection = connection
        return self._connection

    def _replace_corrupt(self, error: apsw.Error) -> None:
        """Rename a corrupt file for later examination; the next call creates a new file."""
        self._drop_connection()
        aside = self._path.with_name(f"{self._path.name}.corrupt")
        try:
            self._path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as failure:
            self._bypass(failure)
        else:
            logger.warning("the vector cache was corrupt (%s); it was renamed to %s and replaced", error, aside)

    def _bypass(self, error: apsw.Error | OSError) -> None:
        self._drop_connection()
        self._bypassed = True
        logger.warning("continuing without the vector cache %s: %s", self._path, error)

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()

    def _shrink(self, connection: apsw.Connection) -> None:
        """Evict the least recently used vectors if the file is too large; ties are evicted in insertion order."""
        if _used_bytes(connection) <= self._max_bytes:
            return
        while _used_bytes(connection) > EVICTION_TARGET * self._max_bytes:
            connection.execute(_EVICT, (EVICT_ROWS,))
            if connection.changes() == 0:
                break
        connection.execute("PRAGMA incremental_vacuum").fetchall()


def _used_bytes(connection: apsw.Connection) -> int:
    def pragma(name: str) -> int:
        return int(connection.pragma(name))

    return pragma("page_size") * (pragma("page_count") - pragma("freelist_count"))
