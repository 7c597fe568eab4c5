"""Translation of errors of the driver and the server into errors of Weft."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from weft.errors import (
    AccessDenied,
    ConfigError,
    InputError,
    SchemaMismatch,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WeftError,
)
from weft.store.relational.retry import ConnectionLost

CONNECTION_ENDED = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.DatabaseDropped,
    errors.IdleSessionTimeout,
    errors.IdleInTransactionSessionTimeout,
)
"""Errors with which a server ends a connection."""

CONNECT_MESSAGES = (
    "connection failed",
    "connection is bad: connection to server",
    "failed to resolve host",
    "could not translate host name",
)
"""Beginnings of the driver's error messages before a connection exists."""

_NODE = re.compile(r"(?:remote node |executing command on )(?:[^\s@]{1,99}@)?([^\s@]{1,255}:[0-9]{1,5})")

NODE_LOST_STATES = ("08", "57P01", "57P02", "57P03")
"""Beginnings of the SQLSTATE of an error of a node that does not answer."""

NODE_LOST_MESSAGES = (
    "server closed the connection unexpectedly",
    "SSL SYSCALL error: EOF detected",
    "SSL connection has been closed unexpectedly",
)
"""Messages of such errors that have no SQLSTATE of their own; Citus calls them internal errors then."""

NODE_REFUSALS = ("password authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist")
"""Parts of the messages with which a node of Citus refuses a connection of the coordinator."""

RETRY_HINT = "run the command again in a few seconds"


def display_address(dsn: str) -> str:
    """Return host, port and database of an address, without credentials. Raises `ConfigError` if it is malformed."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.Error:
        parts = {"host": "@"}
    host, port = str(parts.get("host", "localhost")), str(parts.get("port", 5432))
    # A host with @ contains the end of an unescaped password, which the driver would quote in its error.
    if "@" in host or not all(part.isdigit() for part in port.split(",")):
        raise ConfigError(
            "malformed PostgreSQL address",
            hint="use postgresql://user:password@host:5432/database; write special characters of the password as %XX",
        )
    return f"{host}:{port}/{parts.get('dbname', '')}"


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """Translate errors of the driver and the server into errors of Weft."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, UnicodeEncodeError) as error:
        raise _translate(error, where) from error


def is_lost(error: psycopg.Error, db: psycopg.Connection[Any]) -> bool:
    """Return True if an error ended the connection and its transaction."""
    return db.closed or isinstance(error, CONNECTION_ENDED)


def connection_lost(where: str, error: psycopg.Error, *, is_committing: bool) -> StoreUnavailable:
    """Return the error for a lost connection: `ConnectionLost`, which may be retried, except during a commit."""
    if is_committing:
        return StoreUnavailable(
            f"the connection to {where} was lost during a commit; the change may or may not be applied",
            hint="run the command again; a change is not applied twice",
        )
    return ConnectionLost(
        f"the connection to {where} was lost: {_first_line(error)}",
        hint="run the command again; the last change was rolled back",
    )


def pool_exhausted(where: str, connections: int) -> StoreUnavailable:
    """Return the error for a pool without a free connection."""
    return StoreUnavailable(f"all {connections} connections to {where} are in use", hint=RETRY_HINT)


def failed_node(error: psycopg.Error) -> str:
    """
    Return host and port of the Citus node that does not answer; empty for all other errors.

    Citus names the node in every error that a node reports, such as a name that is too long for an index.

    | field of the error | example |
    | --- | --- |
    | message | connection to the remote node postgres@worker1:5432 failed with the following error: … |
    | context | while executing command on worker1:5432 |

    """
    is_lost_by_message = any(message in str(error) for message in NODE_LOST_MESSAGES)
    if not (error.sqlstate or "").startswith(NODE_LOST_STATES) and not is_lost_by_message:
        return ""
    texts = (str(error), error.diag.context or "")
    found = next((match for text in texts if (match := _NODE.search(text))), None)
    return found[1] if found else ""


def node_unreachable(where: str, node: str, namespace: str, error: psycopg.Error) -> StoreUnavailable:
    """Return the error for a node of a Citus cluster that does not answer; other namespaces are not affected."""
    what = f"namespace {namespace!r}" if namespace else "its namespaces"
    first = _first_line(error)
    _, _, reason = first.partition("following error: ")
    reason = reason.replace("FATAL:", "").strip() or first
    if any(part in reason for part in NODE_REFUSALS):
        return StoreUnavailable(
            f"node {node} of the cluster {where} refused the login: {reason}; {what} cannot be reached",
            hint="add the password of the role to pg_dist_authinfo on every node (docs/cluster.md)",
        )
    return StoreUnavailable(
        f"node {node} of the cluster {where} does not respond: {reason}; {what} cannot be reached",
        hint="start the node or its standby; namespaces on other nodes are available",
    )


def writer_busy(where: str, namespace: str, seconds: float) -> StoreUnavailable:
    """Return the error for a writer that another writer of the namespace kept waiting."""
    return StoreUnavailable(
        f"another writer of namespace {namespace!r} on {where} did not finish within {seconds:g} s",
        hint="wait until it ends, or end its connection on the server, then run the command again",
    )


def not_administrator(where: str, role: str, action: str) -> AccessDenied:
    """Return the error for a role that may not act on all namespaces, because of row security."""
    return AccessDenied(
        f"the role {role!r} on {where} may not {action}", hint="set --db to the owner of the tables (docs/scaling.md)"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _translate(error: Exception, where: str) -> WeftError:
    first = _first_line(error)
    match error:
        case UnicodeEncodeError():
            return InputError("the text contains unpaired surrogates", hint="remove the surrogates from the text")
        case errors.ReadOnlySqlTransaction():
            return StoreUnavailable(
                f"{where} is read-only: a replica, or read-only by configuration",
                hint="set --db to the primary server",
            )
        case errors.QueryCanceled():
            return StoreUnavailable(
                f"{where} cancelled a statement that took too long",
                hint="raise statement_timeout on the server, or run the command again",
            )
        case errors.UndefinedTable() | errors.UndefinedColumn():
            return SchemaMismatch(
                f"the tables on {where} do not match this version: {first}",
                hint="run weft db init in another database, and index again",
            )
        case errors.InsufficientPrivilege():
            return StoreUnavailable(
                f"{where} refused: {first}", hint="grant the role the privileges listed in docs/scaling.md"
            )
        case errors.DiskFull():
            return StoreFull(f"no space left on {where}", hint="free disk space; no data was lost")
        case errors.ProgramLimitExceeded():
            return InputError(
                f"a name or a source is too long for PostgreSQL: {first}", hint="shorten the name or the source"
            )
        case errors.UntranslatableCharacter() | errors.CharacterNotInRepertoire():
            return InputError(
                "the text contains a NUL character, which PostgreSQL cannot store",
                hint="remove the NUL character from the text",
            )
        case errors.InvalidTextRepresentation():
            return InputError("the text contains unpaired surrogates", hint="remove the surrogates from the text")
        case errors.DeadlockDetected() | errors.SerializationFailure() | errors.LockNotAvailable():
            return StoreUnavailable(f"{where} is busy: {first}", hint=RETRY_HINT)
        case PoolTimeout() | psycopg.OperationalError() | psycopg.InterfaceError():
            return _unreachable(error, first, where)
        case psycopg.DataError() if "NUL" in first:
            return InputError(
                "the text contains a NUL character, which PostgreSQL cannot store",
                hint="remove the NUL character from the text",
            )
        case _:
            return StoreError(f"PostgreSQL failed: {first}", hint="read the log of the PostgreSQL server")


def _unreachable(error: Exception, first: str, where: str) -> StoreUnavailable:
    text = str(error)
    if (
        "password authentication failed" in text
        or "no password supplied" in text
        or ("role" in text and "not exist" in text)
    ):
        return StoreUnavailable(f"{where} refused the login: {first}", hint="correct the user and the password in --db")
    if "does not exist" in text and "database" in text:
        return StoreUnavailable(f"no such database: {where}", hint="run createdb, then weft db init")
    if "FATAL:" in text:
        _, _, reason = text.partition("FATAL:")
        first = reason.strip().splitlines()[0]
        return StoreUnavailable(
            f"{where} refused: {first}", hint="run the command again in a few minutes, or ask the server administrator"
        )
    if isinstance(error, PoolTimeout | psycopg.errors.ConnectionTimeout) or text.startswith(CONNECT_MESSAGES):
        return StoreUnavailable(
            f"no PostgreSQL server responds at {where}",
            hint="start the server, or correct the host and the port in --db",
        )
    return StoreUnavailable(
        f"the connection to {where} was lost: {first}",
        hint="run the command again; committed changes are kept and not applied twice",
    )
