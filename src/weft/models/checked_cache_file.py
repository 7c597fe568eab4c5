"""SQLite file of cached entries: shared between processes, each entry with a checksum, replaced if damaged."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import apsw

from weft.errors import StoreUnavailable
from weft.system.private_files import make_private_file, make_private_folder

logger = logging.getLogger(__name__)

T = TypeVar("T")

CHECKSUM_BYTES = 8
ERASE_SECONDS = 10.0
"""Seconds within which an erasure is repeated while another process uses the file."""
RETRY_SECONDS = 0.05

DAMAGE = (
    apsw.NotADBError,
    apsw.CorruptError,
    apsw.SQLError,  # another SQLite file, or a damaged schema
    apsw.FormatError,
    apsw.MismatchError,
    apsw.TooBigError,
    UnicodeDecodeError,
)
"""Errors of a damaged file. Errors of a locked, full or unwritable one are not among them."""


def entry_checksum(*values: object) -> bytes:
    """
    Return the BLAKE2b checksum of the key and value of an entry.

    The key is part of it: a damaged index may lead to the entry of another key.
    """
    hasher = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()


class CheckedCacheFile:
    """A connection to a cache file, opened on first use. Thread-safe: one call at a time."""

    def __init__(
        self, path: Path, *, name: str, prepare: Callable[[apsw.Connection], None], busy_milliseconds: int
    ) -> None:
        self.path = path
        self._name = name
        self._prepare = prepare
        """Creates the tables, or migrates those of an older version."""
        self._busy_milliseconds = busy_milliseconds
        self._lock = Lock()
        self._connection: apsw.Connection | None = None
        self._inode = 0
        self._has_logged_entries = False

    def run(self, work: Callable[[apsw.Connection], T], *, waits: bool = True) -> T:
        """
        Return the result of `work`, which may be called twice: a damaged file is moved aside and replaced.

        Raises `apsw.Error` or `OSError` if the file cannot be used, and `apsw.BusyError` at once if another thread or
        process uses it and the call does not wait.
        """
        if not self._lock.acquire(blocking=waits):
            raise apsw.BusyError("another thread uses the file")
        try:
            try:
                return work(self._open(waits=waits))
            except DAMAGE as error:
                self._move_aside(error)
                return work(self._open(waits=waits))
        finally:
            self._lock.release()

    def log_damaged_entries(self, count: int) -> None:
        """Log once that entries had a wrong checksum."""
        if count and not self._has_logged_entries:
            self._has_logged_entries = True
            logger.warning("%s %s has damaged entries (%d found); they are replaced", self._name, self.path, count)

    def erase(self, statement: str, rows: Sequence[tuple[Any, ...]], *, rewrites: bool) -> None:
        """
        Delete entries, overwrite their bytes and empty the WAL. Nothing happens without a file.

        With `rewrites` the whole file is written anew, because earlier versions of a page may keep bytes of an entry.
        It is repeated while another process uses the file, which it does for moments only. Raises `StoreUnavailable` if
        it still does after `ERASE_SECONDS`.
        """

        def work(connection: apsw.Connection) -> bool:
            connection.execute("PRAGMA secure_delete = ON").fetchall()
            with connection:
                connection.executemany(statement, rows)
            if rewrites:
                connection.execute("VACUUM").fetchall()
            ((is_busy, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return bool(is_busy)

        if not self.path.exists() or not rows:
            return
        end = time.monotonic() + ERASE_SECONDS
        while True:
            try:
                is_busy = self.run(work)
            except apsw.BusyError:
                is_busy = True
            if not is_busy or time.monotonic() > end:
                break
            time.sleep(RETRY_SECONDS)
        if is_busy:
            what = f"cannot erase entries of {self._name} {str(self.path)!r}: another process uses it"
            raise StoreUnavailable(what, hint="end that process, then repeat the command")

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self._lock:
            self._drop_connection()

    def _open(self, *, waits: bool) -> apsw.Connection:
        busy_milliseconds = self._busy_milliseconds if waits else 0
        if self._connection is None:
            make_private_folder(self.path.parent)
            make_private_file(self.path)
            self._inode = self.path.stat().st_ino
            connection = apsw.Connection(str(self.path))
            try:
                connection.set_busy_timeout(busy_milliseconds)
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        self._connection.set_busy_timeout(busy_milliseconds)
        return self._connection

    def _move_aside(self, error: Exception) -> None:
        """Rename a damaged file, so that it can be examined. Another process may have done so already."""
        self._drop_connection()
        if self.path.stat().st_ino != self._inode:
            return
        aside = self.path.with_name(f"{self.path.name}.corrupt")
        self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        logger.warning("%s was corrupt (%s); it was renamed to %s and replaced", self._name, error, aside)

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()
