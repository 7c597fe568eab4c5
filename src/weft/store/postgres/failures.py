"""The one place where an error of the driver or the server becomes ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from weft.errors import ConfigError, InputError, SchemaMismatch, StoreError, StoreUnavailable, WeftError
from weft.store.relational.retry import ConnectionLost

GONE = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.DatabaseDropped,
    errors.IdleSessionTimeout,
    errors.IdleInTransactionSessionTimeout,
)
"""What a server says when it ends a connection."""

CANNOT_CONNECT = (
    "connection failed",
    "connection is bad: connection to server",
    "failed to resolve host",
    "could not translate host name",
)
"""How the driver begins when there was no connection yet."""


def shown(dsn: str) -> str:
    """Return where a server is, without what must not be shown; refuse what is no address."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.Error:
        parts = {"host": "@"}
    host, port = str(parts.get("host", "localhost")), str(parts.get("port", 5432))
    # A host with @ is the end of a password. The driver would quote it.
    if "@" in host or not all(part.isdigit() for part in port.split(",")):
        raise ConfigError(
            "the address of the PostgreSQL server cannot be read",
            hint="postgresql://user:password@host:5432/database, with %XX for what is special in a password",
        )
    return f"{host}:{port}/{parts.get('dbname', '')}"


@contextmanager
def ours(where: str) -> Iterator[None]:
    """Raise our errors for theirs."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, UnicodeEncodeError) as error:
        raise _translate(error, where) from error


def is_lost(error: psycopg.Error, db: psycopg.Connection[Any]) -> bool:
    """Return whether an error means that the connection is gone, and its transaction with it."""
    return db.closed or isinstance(error, GONE)


def lost(where: str, error: psycopg.Error, *, is_committing: bool) -> StoreUnavailable:
    """Return what to raise for a connection that is gone; before the commit, everything can be done again."""
    if is_committing:
        return StoreUnavailable(
            f"the connection to {where} was lost while a change was committed, which may or may not be there",
            hint="run the same again: what is there already is not applied twice",
        )
    return ConnectionLost(
        f"the connection to {where} was lost: {_first_line(error)}",
        hint="run the same again: nothing of the last change was kept",
    )


def worn_out(where: str, connections: int) -> StoreUnavailable:
    """Return what to raise where all connections of this process stay in use."""
    return StoreUnavailable(f"all {connections} connections to {where} are in use", hint="try again")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _translate(error: Exception, where: str) -> WeftError:
    first = _first_line(error)
    match error:
        case UnicodeEncodeError():
            return InputError("the text holds half characters, which cannot be kept or looked up")
        case errors.ReadOnlySqlTransaction():
            return StoreUnavailable(
                f"{where} only reads: it is a replica, or set to read only",
                hint="give --db the server that is written to",
            )
        case errors.QueryCanceled():
            return StoreUnavailable(
                f"{where} stopped a statement that took too long",
                hint="raise statement_timeout on the server, or try again",
            )
        case errors.UndefinedTable() | errors.InvalidSchemaName() | errors.UndefinedColumn():
            return SchemaMismatch(f"{where} does not hold the tables of this version: {first}", hint="weft db migrate")
        case errors.InsufficientPrivilege():
            return StoreUnavailable(f"{where} refuses: {first}", hint="grant the role what docs/scaling.md lists")
        case errors.DiskFull():
            return StoreError(f"no space left on {where}", hint="free some space; nothing was lost")
        case errors.ProgramLimitExceeded():
            return InputError(f"a name or a source is too long for PostgreSQL: {first}", hint="shorten it")
        case errors.UntranslatableCharacter() | errors.CharacterNotInRepertoire():
            return InputError("the text holds a NUL character, which PostgreSQL cannot keep", hint="remove it")
        case errors.InvalidTextRepresentation():
            return InputError("the text holds half characters, which cannot be kept or looked up")
        case errors.DeadlockDetected() | errors.SerializationFailure() | errors.LockNotAvailable():
            return StoreUnavailable(f"{where} is busy: {first}", hint="try again")
        case PoolTimeout() | psycopg.OperationalError() | psycopg.InterfaceError():
            return _unreachable(error, first, where)
        case psycopg.DataError() if "NUL" in first:
            return InputError("the text holds a NUL character, which PostgreSQL cannot keep", hint="remove it")
        case _:
            return StoreError(f"PostgreSQL: {first}")


def _unreachable(error: Exception, first: str, where: str) -> StoreUnavailable:
    text = str(error)
    if (
        "password authentication failed" in text
        or "no password supplied" in text
        or ("role" in text and "not exist" in text)
    ):
        return StoreUnavailable(f"{where} does not let us in: {first}", hint="check user and password of --db")
    if "does not exist" in text and "database" in text:
        return StoreUnavailable(f"there is no database at {where}", hint="createdb, then weft db init")
    if "FATAL:" in text:
        said = text.partition("FATAL:")[2].strip().splitlines()[0]
        return StoreUnavailable(f"{where} refuses: {said}", hint="try again in a while, or ask who runs the server")
    if isinstance(error, PoolTimeout | psycopg.errors.ConnectionTimeout) or text.startswith(CANNOT_CONNECT):
        return StoreUnavailable(
            f"no PostgreSQL server answers at {where}", hint="check that it runs, and host and port of --db"
        )
    return StoreUnavailable(
        f"the connection to {where} was lost: {first}",
        hint="run the same again: what was committed is kept, nothing is applied twice",
    )
