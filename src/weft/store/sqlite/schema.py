"""Creation of the tables of a SQLite file, and the check of their version."""

from __future__ import annotations

import contextlib

import apsw

from weft.errors import InputError
from weft.store.shared.schema_version import check_version
from weft.store.sql_files import load_schema

VERSION = 32
"""Version of the tables, in `user_version`. Weft 0.2 had versions 1 to 30."""

UNFINISHED = 1000
"""Weft 0.2 added this to the version of a file whose migration was interrupted."""

APPLICATION_ID = 0x57454654
"""`WEFT`, in the header of every store."""


def prepare(db: apsw.Connection, path: str) -> None:
    """Create the tables of a new file. Raises `SchemaMismatch` for files of other versions, `InputError` for others."""
    version, application, _ = _state(db)
    if (version, application) == (VERSION, APPLICATION_ID):
        return
    try:
        db.execute("BEGIN IMMEDIATE")
        # Another process may have created the tables: read the state again under the lock.
        version, application, tables = _state(db)
        if application not in (0, APPLICATION_ID) or (application == 0 and tables):
            raise InputError(f"{path!r} is a SQLite file but not a Weft store", hint="pass another file with --db")
        if version:
            check_version(version % UNFINISHED, wanted=VERSION, where=repr(path))
        else:
            db.execute(load_schema("sqlite"))
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def read_version(path: str) -> int:
    """Return the version of the tables of an existing file, without changing it; 0 if it is empty."""
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return _state(db)[0]


def _state(db: apsw.Connection) -> tuple[int, int, int]:
    version = db.execute("PRAGMA user_version").get
    application = db.execute("PRAGMA application_id").get
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    return int(version), int(application), int(tables)
