"""
Creation of the tables of a SQLite file, and migration of older ones.

A migration is a file of SQL. Comments divide a long one into steps; each step is one transaction:

    -- once                    the statements up to the next comment
    -- batch: chunk.number     the same, repeated for `:after` < number <= `:until`: at most `MAX_BATCH_ROWS` rows

The first step sets `user_version` to `UNFINISHED` plus the schema, so older versions refuse the file. Table `migration`
has the next step and the last number of its finished batches. The next process that opens the file continues there.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import apsw

from weft.errors import InputError, SchemaMismatch, StoreUnavailable
from weft.store.sql_files import load_migrations, load_schema
from weft.store.sqlite.migration_functions import add_migration_functions

logger = logging.getLogger(__name__)

APPLICATION_ID = 0x57454654
"""`WEFT`, in the header of every store."""

UNFINISHED = 1000
"""Added to the number of the schema while the file is between two schemas."""

MAX_BATCH_ROWS = 2000
"""Maximum number of rows converted in one transaction, such as chunks with all their nominations: below a second."""

Progress = Callable[[int, int], None]
"""Called after each transaction with the number of converted rows and the total."""

_BATCH = "SELECT count(*), max({1}) FROM (SELECT {1} FROM {0} WHERE {1} > :after ORDER BY {1} LIMIT :limit)"
_REST = "SELECT count(*) FROM {0} WHERE {1} > :after"

_MARK = re.compile(r"^-- (?:once|batch: (\w+)\.(\w+))\n", re.MULTILINE)


class Step(NamedTuple):
    """Part of a migration that runs in one transaction, or in one for each batch."""

    statements: str
    table: str = ""
    """Table whose rows are batched; empty: no batches."""
    column: str = ""


class Position(NamedTuple):
    """Progress of a file: the schema to which it is migrated, and the next step."""

    schema: int
    step: int
    after: int
    """Last number of the finished batches of the step."""


class Change(NamedTuple):
    """Result of a migration."""

    before: int
    """Schema of the file before."""
    after: int
    free_bytes: int
    """Bytes of the file that `weft compact` frees."""


def prepare(db: apsw.Connection, path: str, *, on_step: Progress | None = None) -> Change | None:
    """
    Create the tables of a new file, or migrate an older one; return None if nothing was migrated.

    Raises for other files, for newer schemas, and if another process uses a file that has to be migrated.
    """
    newest = max(load_migrations("sqlite"))
    version, application, _ = _state(db)
    if version == newest and application == APPLICATION_ID:
        return None
    with _transaction(db):
        # Another process may have created the tables: read the state again under the lock.
        version, application, tables = _state(db)
        if application not in (0, APPLICATION_ID) or (application == 0 and tables):
            raise InputError(f"{path!r} is a SQLite file but not a Weft store", hint="pass another file with --db")
        if version % UNFINISHED > newest:
            raise SchemaMismatch(
                f"{path!r} was created by a newer Weft (schema {version}, this version supports {newest})",
                hint="run pip install --upgrade weft-search",
            )
        if version == 0:
            db.execute(load_schema("sqlite"))
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {newest}")
    return None if version in (0, newest) else _migrate(db, path, on_step=on_step or (lambda done, total: None))


def read_version(path: str) -> int:
    """Return the last complete schema of an existing file, without changing it; 0 if it is empty."""
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return _complete_schema(_state(db)[0])


def read_steps(statements: str) -> list[Step]:
    """Return the steps of a migration."""
    first, *parts = _MARK.split(statements)
    steps = [Step(text, table or "", column or "") for table, column, text in zip(*[iter(parts)] * 3, strict=True)]
    return [Step(first), *steps] if not steps or _has_statement(first) else steps


def _migrate(db: apsw.Connection, path: str, *, on_step: Progress) -> Change:
    add_migration_functions(db)
    migrations = load_migrations("sqlite")
    with _alone(db, path), _without_foreign_keys(db):
        before = _complete_schema(_state(db)[0])
        position = _read_position(db)
        done, total = 0, _count_rows(db, position)
        while position is not None:
            logger.info("migrating %s to schema %d, step %d", path, position.schema, position.step + 1)
            position, rows = _advance(db, position, read_steps(migrations[position.schema]))
            done += rows
            on_step(done, max(done, total))
        free = int(db.execute("PRAGMA freelist_count").get) * int(db.execute("PRAGMA page_size").get)
    return Change(before=before, after=max(migrations), free_bytes=free)


def _advance(db: apsw.Connection, position: Position, steps: list[Step]) -> tuple[Position | None, int]:
    """Run one transaction of a step; return the next position and the number of converted rows."""
    step = steps[position.step]
    rows, until = 1, position.after  # a step without batches counts as one row
    with _transaction(db):
        if step.table:
            values = {"after": position.after, "limit": MAX_BATCH_ROWS}
            ((rows, until),) = db.execute(_BATCH.format(*step[1:]), values)
        if rows:
            db.execute(step.statements, {"after": position.after, "until": until})
        is_last = not step.table or rows < MAX_BATCH_ROWS
        following = _next(position, len(steps)) if is_last else position._replace(after=until)
        _write_position(db, following)
    return following, rows


def _next(position: Position, steps: int) -> Position | None:
    if position.step + 1 < steps:
        return Position(position.schema, position.step + 1, 0)
    is_newest = position.schema == max(load_migrations("sqlite"))
    return None if is_newest else Position(position.schema + 1, 0, 0)


def _read_position(db: apsw.Connection) -> Position | None:
    version = _state(db)[0]
    if version == max(load_migrations("sqlite")):
        return None
    if version < UNFINISHED:
        return Position(version + 1, 0, 0)
    ((step, after),) = db.execute("SELECT step, after FROM migration")
    return Position(version - UNFINISHED, step, after)


def _write_position(db: apsw.Connection, position: Position | None) -> None:
    """Record the next step in the transaction of the finished one. Between two schemas there is nothing to record."""
    if position is None or (position.step == 0 and position.after == 0):
        db.execute("DROP TABLE IF EXISTS migration")
        version = max(load_migrations("sqlite")) if position is None else position.schema - 1
    else:
        db.execute("CREATE TABLE IF NOT EXISTS migration (step INTEGER NOT NULL, after INTEGER NOT NULL) STRICT")
        db.execute("DELETE FROM migration")
        db.execute("INSERT INTO migration VALUES (?, ?)", (position.step, position.after))
        version = UNFINISHED + position.schema
    db.execute(f"PRAGMA user_version = {version}")


def _count_rows(db: apsw.Connection, position: Position | None) -> int:
    """Return the number of rows that the remaining batches convert, without columns that later steps create."""
    total = 0
    for schema, statements in load_migrations("sqlite").items():
        for number, step in enumerate(read_steps(statements)):
            if position is None or (schema, number) < position[:2]:
                continue
            after = position.after if (schema, number) == position[:2] else 0
            if not step.table:
                total += 1
            elif db.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (step.table, step.column)).get:
                total += int(db.execute(_REST.format(*step[1:]), {"after": after}).get)
    return total


@contextmanager
def _without_foreign_keys(db: apsw.Connection) -> Iterator[None]:
    """Keep rows that refer to a table which a step replaces: dropping it would delete them."""
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        db.execute("PRAGMA foreign_keys = ON")


@contextmanager
def _alone(db: apsw.Connection, path: str) -> Iterator[None]:
    """Lock the file against all other processes, which could write old rows between two transactions."""
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        with _transaction(db):  # takes the lock
            pass
    except apsw.BusyError as error:
        _release(db)
        raise StoreUnavailable(
            f"cannot migrate {path!r}: another process uses the file",
            hint="end that process, then run the command again",
        ) from error
    try:
        yield
    finally:
        _release(db)


def _release(db: apsw.Connection) -> None:
    db.execute("PRAGMA locking_mode = NORMAL")
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # the next read releases the lock


@contextmanager
def _transaction(db: apsw.Connection) -> Iterator[None]:
    try:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _state(db: apsw.Connection) -> tuple[int, int, int]:
    version = db.execute("PRAGMA user_version").get
    application = db.execute("PRAGMA application_id").get
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    return int(version), int(application), int(tables)


def _complete_schema(version: int) -> int:
    return version - UNFINISHED - 1 if version >= UNFINISHED else version


def _has_statement(text: str) -> bool:
    return any(line and not line.startswith("--") for line in text.splitlines())
