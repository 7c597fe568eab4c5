"""SQLite file of cached vectors: bounded in size, verified by checksums, raises no errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw
import numpy as np

from weft.models.checked_cache_file import CheckedCacheFile, entry_checksum
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
    checksum BLOB,
    UNIQUE (model, digest)
);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used, id);
"""
# Vectors of earlier versions have no checksum, so they are not used.
_ADD_CHECKSUM = "ALTER TABLE vectors ADD COLUMN checksum BLOB"
# One statement for many rows: between the rows of several ones, a thread that computes takes the interpreter lock, for
# up to 5 ms each time. `wanted` counts the rows, whose values are joined: 32 bytes of `:digests` belong to each.
_SELECT = """
WITH RECURSIVE wanted (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM wanted WHERE place + 1 < :count)
SELECT digest, vector, used, checksum FROM wanted CROSS JOIN vectors
WHERE model = :model AND digest = substr(:digests, 1 + 32 * place, 32)
"""
_TOUCH = "UPDATE vectors SET used = ? WHERE model = ? AND digest = ?"
_INSERT = """
WITH RECURSIVE wanted (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM wanted WHERE place + 1 < :count)
INSERT INTO vectors (model, digest, vector, used, checksum)
SELECT :model, substr(:digests, 1 + 32 * place, 32), substr(:vectors, 1 + :size * place, :size), :hour,
    substr(:checksums, 1 + :checksum_size * place, :checksum_size)
FROM wanted WHERE true
ON CONFLICT (model, digest) DO UPDATE
SET vector = excluded.vector, used = excluded.used, checksum = excluded.checksum
"""
_DELETE = "DELETE FROM vectors WHERE model = ? AND digest = ?"
_ERASE = "DELETE FROM vectors WHERE digest = ?"
_EVICT = "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY used, id LIMIT ?)"


class CacheFile:
    """
    Vectors by model and text digest. If the file cannot be used, reads find nothing and writes are dropped.

    `model` is the embedder's fingerprint, the version of its vectors if any, and the kind of text. `used` is the hour
    of the last use, so a vector is updated at most once an hour. A vector with a wrong checksum counts as missing and
    is deleted. With `waits=False`, a call finds or writes nothing if another thread or process uses the file.
    """

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._database = CheckedCacheFile(
            path, name="the vector cache", prepare=_prepare, busy_milliseconds=BUSY_MILLISECONDS
        )
        self._max_bytes = max_bytes
        self._bypassed = False

    @property
    def exists(self) -> bool:
        """True if the file exists."""
        return self._database.path.exists()

    def read(self, model: str, *, digests: Sequence[bytes], hour: int = 0, waits: bool = True) -> dict[bytes, Vector]:
        """Return the cached vectors of SHA-256 `digests`. Mark them as used in `hour`, unless `hour` is 0."""

        def work(connection: apsw.Connection) -> dict[bytes, Vector]:
            known: dict[bytes, Vector] = {}
            stale: list[bytes] = []
            damaged: list[bytes] = []
            wanted = {"count": len(digests), "model": model, "digests": b"".join(digests)}
            for digest, blob, used, checksum in connection.execute(_SELECT, wanted):
                if checksum == entry_checksum(model, digest, blob):
                    known[digest] = np.frombuffer(blob, "<f4").astype(np.float32)
                    if not isinstance(used, int) or used < hour:
                        stale.append(digest)
                elif checksum is not None:
                    damaged.append(digest)
            self._database.log_damaged_entries(len(damaged))
            if hour and (stale or damaged):
                with suppress(apsw.BusyError), connection:
                    connection.executemany(_TOUCH, ((hour, model, digest) for digest in stale))
                    connection.executemany(_DELETE, ((model, digest) for digest in damaged))
            return known

        return self._guarded(work, otherwise={}, waits=waits) if digests else {}

    def write(self, model: str, *, vectors: Mapping[bytes, Vector], hour: int, waits: bool = True) -> None:
        """Write vectors of one size, and evict the least recently used ones if the file is too large."""

        def work(connection: apsw.Connection) -> None:
            blobs = [vector.astype("<f4").tobytes() for vector in vectors.values()]
            checksums = [entry_checksum(model, digest, blob) for digest, blob in zip(vectors, blobs, strict=True)]
            rows = {"count": len(blobs), "model": model, "digests": b"".join(vectors), "hour": hour}
            rows |= {"vectors": b"".join(blobs), "size": len(blobs[0])}
            rows |= {"checksums": b"".join(checksums), "checksum_size": len(checksums[0])}
            with connection:
                connection.execute(_INSERT, rows).fetchall()
            self._shrink(connection)

        if vectors:
            self._guarded(work, otherwise=None, waits=waits)

    def erase(self, digests: Sequence[bytes]) -> None:
        """Delete the vectors of these texts, of every model. Raises `StoreUnavailable`."""
        self._database.erase(_ERASE, [(digest,) for digest in digests], rewrites=False)

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        self._database.close()

    def _guarded(self, work: Callable[[apsw.Connection], T], *, otherwise: T, waits: bool) -> T:
        """Return the result of `work`, or `otherwise` if the file cannot be used."""
        if self._bypassed:
            return otherwise
        try:
            return self._database.run(work, waits=waits)
        except apsw.BusyError as error:
            logger.debug("the vector cache is busy: %s", error)
        except (apsw.Error, OSError, UnicodeDecodeError) as error:
            self._database.close()
            self._bypassed = True
            logger.warning("continuing without the vector cache %s: %s", self._database.path, error)
        return otherwise

    def _shrink(self, connection: apsw.Connection) -> None:
        """Evict the least recently used vectors if the file is too large; ties are evicted in insertion order."""
        if _used_bytes(connection) <= self._max_bytes:
            return
        while _used_bytes(connection) > EVICTION_TARGET * self._max_bytes:
            connection.execute(_EVICT, (EVICT_ROWS,))
            if connection.changes() == 0:
                break
        connection.execute("PRAGMA incremental_vacuum").fetchall()


def _prepare(connection: apsw.Connection) -> None:
    connection.execute(_SCHEMA).fetchall()
    if "checksum" not in (row[1] for row in connection.execute("PRAGMA table_info(vectors)")):
        connection.execute(_ADD_CHECKSUM).fetchall()


def _used_bytes(connection: apsw.Connection) -> int:
    def pragma(name: str) -> int:
        return int(connection.pragma(name))

    return pragma("page_size") * (pragma("page_count") - pragma("freelist_count"))
