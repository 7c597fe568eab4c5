"""The one place where an error of the driver or the server becomes ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from weft.errors import InputError, SchemaMismatch, StoreError, StoreUnavailable, WeftError


def shown(dsn: str) -> str:
    """Return where a server is, without what must not be shown."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.Error:
        return "the server"
    return f"{parts.get('host', 'localhost')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"


@contextmanager
def ours(where: str) -> Iterator[None]:
    """Raise our errors for theirs."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, UnicodeEncodeError) as error:
        raise _translate(error, where) from error


def _translate(error: Exception, where: str) -> WeftError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
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
    if isinstance(error, PoolTimeout) or "connection refused" in text.lower() or "could not translate" in text:
        return StoreUnavailable(
            f"no PostgreSQL server answers at {where}", hint="check that it runs, and host and port of --db"
        )
    return StoreUnavailable(
        f"the connection to {where} was lost: {first}",
        hint="run the same again: what was committed is kept, nothing is applied twice",
    )
