"""Connections to a SQLite file: one per thread, with pragmas and translated errors."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import apsw

from weft.errors import InputError, StoreCorrupt, StoreError, StoreFull, StoreUnavailable
from weft.store.relational.session import Turn
from weft.store.shared.file_checks import check_files
from weft.store.sqlite import schema
from weft.store.sqlite.index import reader
from weft.store.sqlite.index.builder import IndexBuilder
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.index.targets import find_targets
from weft.store.sqlite.packed_terms import add_packing_functions
from weft.store.sqlite.session import SqliteSession
from weft.system.private_files import make_private_file

BUSY_TIMEOUT_MS = 30_000
"""Maximum wait for another process that must end a transaction or close the file, in milliseconds."""

WRITER_TIMEOUT_MS = 60_000
"""
Maximum wait for another writer, in milliseconds.

A first load adds up to 16,384 chunks to the graph in one transaction: 49 s in a store of 450,000 chunks on ARM.
"""

BEGIN_TIMEOUT_MS = 500
"""Maximum wait of one attempt, in milliseconds. SQLite handles no Ctrl-C meanwhile."""

MAX_MAPPED_BYTES = 1 << 34
"""
Maximum number of bytes that queries read through a memory map; this is a fifth faster at 100,000 chunks.

Writers and table scans use no memory map, because all pages that they touch would stay in memory.
"""

PAGE_BYTES = 8192
"""
Page size of a new file and of a backup.

A vector of 384 numbers takes 768 bytes. With float32, twice the size, pages of 4096 bytes were half empty and a file of
100,000 chunks was a quarter larger.
"""

MIN_PACKED_PAGES = 1024
"""Minimum number of pages of a file that `pack` rewrites: 8 MB, about 1,500 chunks."""

MAX_PACKED_PAGES = 1 << 17
"""Maximum number of pages of a file that `pack` rewrites: 1 GB. Other writers wait for it, here about ten seconds."""

DAMAGE_SECONDS = 2.0
"""Seconds to look for damage after an unexpected error. A larger file keeps the original error."""

MAX_CACHED_STATEMENTS = 256
"""Maximum number of prepared statements per connection; more than Weft has."""


class Connections:
    """
    Connections to one file, one per thread. Readers do not wait for each other.

    `:memory:` has a single connection, which threads use in turn.

    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = Path(path).absolute()
        """The same, also after the process has changed its working folder."""
        self.vector_problem = ""
        """Reason why sqlite-vec did not load; empty if it did."""
        self.is_read_only = path != ":memory:" and is_read_only(self.file)
        self._local = threading.local()
        self._shared = self._connect() if path == ":memory:" else None
        self._lock = threading.RLock()
        self._all: list[apsw.Connection] = [self._shared] if self._shared else []
        self._closed = False
        self.indexes = ReadIndexes(path, on_stale=self._request_index)
        self.index_builder = IndexBuilder(self.indexes, self)
        try:
            with self.bare() as db:
                self._packed_pages = int(db.execute("PRAGMA page_count").get)
                schema.prepare(db, path)
        except BaseException:
            self._close_all()  # an open connection would lock the file on Windows
            raise

    def _request_index(self) -> None:
        if not self.is_read_only:
            self.index_builder.request()

    def read(self, namespace: str = "", *, may_lag: bool = False) -> AbstractContextManager[SqliteSession]:
        """Open a session whose statements all see the same snapshot, or return the current session."""
        session = getattr(self._local, "session", None)
        return self._read() if session is None else nullcontext(session)

    def scan(self, namespace: str = "") -> AbstractContextManager[SqliteSession]:
        """Open a reading session without a memory map: pages read once do not stay in memory."""
        return self._read(mapped=0)

    @contextmanager
    def _read(self, *, mapped: int = MAX_MAPPED_BYTES) -> Iterator[SqliteSession]:
        with self._turn() as db, _translated_errors(self.path):
            is_writing = db.in_transaction
            if is_writing:
                yield self._session(db)
                return
            self._map(db, mapped)
            try:
                db.execute("BEGIN")
                self._local.session = self._session(db, reads=True)
                yield self._local.session
            finally:
                self._local.session = None
                _roll_back(db)

    def write(
        self, namespace: str = "", *, nested: bool = False, turn: Turn | None = "next", defer_indexes: bool = False
    ) -> AbstractContextManager[SqliteSession]:
        """
        Open a session that is committed unless an exception is raised. A file has one writer at a time.

        With `nested`, use the current transaction of this thread, if any.
        """
        return self._write_nested() if nested else self._write()

    @contextmanager
    def _write(self) -> Iterator[SqliteSession]:
        with self._turn() as db, _translated_errors(self.path):
            if db.in_transaction:
                message = "cannot open a write transaction inside another transaction of the same thread"
                raise StoreError(message, hint="end the outer transaction first")
            self._map(db, 0)
            with _committing(db):  # covers BEGIN too: Ctrl-C while it waits must not leave the transaction open
                _begin(db)
                yield self._session(db)
            if self.indexes.is_usable and find_targets(self._session(db), min_rows=reader.MIN_INDEXED_ROWS):
                self.index_builder.request(wrote=True)

    @contextmanager
    def _write_nested(self) -> Iterator[SqliteSession]:
        with self._turn() as db, self.read() if db.in_transaction else self._write() as session:
            yield session

    @contextmanager
    def try_write(self, namespace: str = "") -> Iterator[SqliteSession | None]:
        """Open a writing session; None if another writer is active or this thread already has a session."""
        with self._turn() as db, _translated_errors(self.path):
            if db.in_transaction or not _try_begin(db):
                yield None
                return
            with _committing(db):
                yield self._session(db)

    def prepare_vectors(self, dimension: int) -> None:
        """Do nothing. Vectors of any dimension are scanned or have a read index."""

    def pack(self) -> None:
        """
        Rewrite the file without gaps if it has at least doubled since it was opened or rewritten.

        Rows are inserted between others, which leaves pages partly empty: a tenth of a new file, and more of a large
        one. Another process that writes, or a full disk, only prevents this.
        """
        with self._turn() as db, contextlib.ExitStack() as after, contextlib.suppress(apsw.Error):
            after.callback(db.set_busy_timeout, BUSY_TIMEOUT_MS)
            pages = int(db.execute("PRAGMA page_count").get)
            is_due = max(MIN_PACKED_PAGES, 2 * self._packed_pages) <= pages <= MAX_PACKED_PAGES
            if is_due and self._shared is None and not db.in_transaction:
                self._packed_pages = pages
                db.execute("VACUUM")
                db.set_busy_timeout(0)  # a reader only prevents it; writers would wait for this one
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def create_indexes(self, namespace: str) -> None:
        """Do nothing. Read indexes are built beside the file, and no write waits for them."""

    @contextmanager
    def bare(self) -> Iterator[apsw.Connection]:
        """Open a connection outside any transaction, for VACUUM and pragmas."""
        with self._turn() as db, _translated_errors(self.path):
            yield db

    def close(self) -> None:
        """Extend the read indexes if this process has written, then close the connections of all threads."""
        if not self._closed:
            self.index_builder.close()
            self.indexes.close()
        self._close_all()

    def _close_all(self) -> None:
        with self._lock:
            self._closed = True
            while self._all:
                self._all.pop().close()

    def _session(self, db: apsw.Connection, *, reads: bool = False) -> SqliteSession:
        return SqliteSession(db, indexes=None if self.vector_problem else self.indexes, reads=reads)

    @contextmanager
    def _turn(self) -> Iterator[apsw.Connection]:
        if self._closed:
            raise StoreError("the store is closed", hint="open the store again")
        if self._shared is not None:
            with self._lock:
                yield self._shared
            return
        db = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = self._connect()
            with self._lock:
                self._all.append(db)
        yield db

    def _map(self, db: apsw.Connection, size: int) -> None:
        """Set the number of bytes that the connection of this thread maps into memory."""
        if getattr(self._local, "mapped", 0) != size:
            db.execute(f"PRAGMA mmap_size = {size}")
            self._local.mapped = size

    def _connect(self) -> apsw.Connection:
        with _translated_errors(self.path):
            with contextlib.suppress(OSError):  # SQLite raises the error with the reason
                if self.path != ":memory:":
                    check_files(self.path)
                    make_private_file(self.path)
            if (
                self.is_read_only
            ):  # no WAL can be made beside the file, which a reader needs unless the file is immutable
                name, flags = f"{self.file.as_uri()}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
                db = apsw.Connection(name, flags=flags, statementcachesize=MAX_CACHED_STATEMENTS)
            else:
                db = apsw.Connection(self.path, statementcachesize=MAX_CACHED_STATEMENTS)
                db.set_busy_timeout(BUSY_TIMEOUT_MS)
                db.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # takes effect only before the first write
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA cache_size = -65536")
            # One plan for all values: otherwise SQLite plans a statement again when other values are bound.
            db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            # Triggers and views of a file that a stranger made may only call functions that have no side effects.
            db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            add_packing_functions(db)
            self.vector_problem = _load_vector_functions(db)
            return db


def is_read_only(file: Path) -> bool:
    """
    Return True if nobody can change a file: no write permission for it and its folder, or a read-only file system.

    Root may write to any file, so the permissions are read too. With rows in a WAL the file is not complete.
    """
    try:
        modes = file.stat().st_mode, file.parent.stat().st_mode
        has_wal = Path(f"{file}-wal").exists() and Path(f"{file}-wal").stat().st_size > 0
    except OSError:
        return False
    if has_wal or not stat.S_ISREG(modes[0]):
        return False
    if hasattr(os, "statvfs") and os.statvfs(file).f_flag & os.ST_RDONLY:
        return True
    allowed = os.access(file, os.W_OK), os.access(file.parent, os.W_OK)
    return not any(mode & 0o222 and may_write for mode, may_write in zip(modes, allowed, strict=True))


def _begin(db: apsw.Connection) -> None:
    """Begin a write transaction. Raises `apsw.BusyError` after `WRITER_TIMEOUT_MS`."""
    deadline = time.monotonic() + WRITER_TIMEOUT_MS / 1000
    db.set_busy_timeout(min(BEGIN_TIMEOUT_MS, WRITER_TIMEOUT_MS))
    try:
        while not db.in_transaction:
            try:
                db.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
    finally:
        db.set_busy_timeout(BUSY_TIMEOUT_MS)


def _try_begin(db: apsw.Connection) -> bool:
    """Begin a write transaction unless another writer is active; return True if it began."""
    db.set_busy_timeout(0)
    try:
        db.execute("BEGIN IMMEDIATE")
    except (apsw.BusyError, apsw.ReadOnlyError):
        return False
    finally:
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
    return True


@contextmanager
def _committing(db: apsw.Connection) -> Iterator[None]:
    try:
        yield
        db.execute("COMMIT")
    finally:
        _roll_back(db)


def _roll_back(db: apsw.Connection) -> None:
    """Roll back an open transaction. A session that Ctrl-C left open may end after its connection is closed."""
    with contextlib.suppress(apsw.ConnectionClosedError):
        if db.in_transaction:
            db.execute("ROLLBACK")


def _load_vector_functions(db: apsw.Connection) -> str:
    """Load sqlite-vec; return the reason if that fails, else an empty string."""
    try:
        import sqlite_vec

        db.enable_load_extension(True)
        try:
            db.load_extension(sqlite_vec.loadable_path())
        finally:
            db.enable_load_extension(False)
    except (ImportError, OSError, AttributeError, apsw.Error) as error:
        return str(error) or type(error).__name__
    return ""


def read_version(path: str) -> int:
    """Return the version of the tables of an existing file, without changing it; 0 if it is empty."""
    check_files(path)
    with _translated_errors(path):
        return schema.read_version(path)


@contextmanager
def copy_errors(target: Path) -> Iterator[None]:
    """Translate errors while writing a copy; the messages name the copy instead of the source file."""
    try:
        yield
    except apsw.FullError as error:
        hint = "free disk space or choose another path; no data was lost"
        raise StoreFull(f"no space left for {str(target)!r}", hint=hint) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, OSError) as error:
        hint = f"make the folder {str(target.parent)!r} writable, or choose another path"
        raise StoreError(f"cannot write {str(target)!r}", hint=hint) from error
    except apsw.IOError as error:
        raise StoreError(
            f"cannot write {str(target)!r}: {error}", hint="check the disk for errors, or choose another path"
        ) from error


@contextmanager
def _translated_errors(path: str) -> Iterator[None]:
    """Translate errors of the driver into errors of Weft."""
    try:
        yield
    except apsw.NotADBError as error:
        raise InputError(f"{path!r} is not a SQLite file", hint="pass another file with --db") from error
    except apsw.CorruptError as error:
        raise StoreCorrupt(f"{path!r} is damaged: {error}", hint="run `weft repair`, or restore a backup") from error
    except apsw.BusyError as error:
        raise StoreUnavailable(
            f"{path!r} is busy: another process is writing",
            hint="run the command again after that process has finished",
        ) from error
    except apsw.FullError as error:
        raise StoreFull(f"no space left for {path!r}", hint="free disk space; no data was lost") from error
    except apsw.ReadOnlyError as error:
        hint = "make the file and its folder writable, or pass another file with --db"
        raise StoreUnavailable(f"cannot write {path!r}", hint=hint) from error
    except apsw.CantOpenError as error:
        raise StoreUnavailable(f"cannot open {path!r}", hint=_remedy(Path(path))) from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:  # WAL needs 32 kB, even to read
            raise StoreFull(
                f"no space left in the folder of {path!r}", hint="free disk space; no data was lost"
            ) from error
        hint = "check the disk for errors and its quota, then run the command again; committed data is kept"
        raise StoreError(f"cannot read or write {path!r}: {error}", hint=hint) from error
    except UnicodeDecodeError as error:
        what = f"{path!r} is damaged: it contains text that is not UTF-8"
        raise StoreCorrupt(what, hint="run `weft repair`, or restore a backup") from error
    except UnicodeEncodeError as error:
        raise InputError("the text contains unpaired surrogates", hint="remove the surrogates from the text") from error
    except apsw.Error as error:
        raise StoreError(f"SQLite failed: {error}", hint="run `weft check` to find damage") from error
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        if damage := _find_damage(path):  # rows of damaged pages are missing, or have values of any type
            raise StoreCorrupt(
                f"{path!r} is damaged: {damage}", hint="run `weft repair`, or restore a backup"
            ) from error
        raise


def _find_damage(path: str) -> str:
    """Return the first finding of SQLite in a file, or an empty string. The search ends after `DAMAGE_SECONDS`."""
    if not Path(path).is_file():
        return ""
    deadline = time.monotonic() + DAMAGE_SECONDS
    try:
        with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as db:
            db.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
            found = str(db.execute("PRAGMA integrity_check(1)").get)
        return "" if found == "ok" else found
    except apsw.CorruptError as error:
        return str(error)
    except apsw.Error:
        return ""


def _remedy(path: Path) -> str:
    """Return the hint for a file that cannot be opened."""
    try:
        if not path.parent.is_dir():
            return f"create the folder {str(path.parent)!r}"
        if path.is_dir():
            return "set --db to a file in this folder"
    except OSError as error:
        return f"pass another file with --db: {error.strerror}"
    return "make the file and its folder writable, or pass another file with --db"
