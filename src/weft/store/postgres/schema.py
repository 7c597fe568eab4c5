"""
Tables of a PostgreSQL server: creation, the check of their version, and distribution over Citus nodes.

`namespace` is the first column of every key, so all rows of a namespace can live on one node:

    statement in schema.sql                                one server, partitions=2       Citus
    CREATE TABLE weft.document (...) /* by namespace */    PARTITION BY HASH (namespace)  create_distributed_table
                                                           + document_0, document_1       by namespace, colocated
    CREATE TABLE weft.api_key (...)                        one table                      create_reference_table:
                                                                                          a copy on every node

With Citus, tables are distributed while empty: after the last CREATE TABLE, before the first ALTER TABLE.

Row security is added last (`row_security.sql`). Partitions have it too, without a policy, so that they can only be
reached through their table. With Citus it is not forced on the owner: shards are copied as the owner, and rows that the
owner does not see would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow

from weft.errors import StoreUnavailable
from weft.store.postgres.citus import distribute, require_coordinator
from weft.store.shared.schema_version import check_version
from weft.store.sql_files import load_schema, load_script

VERSION = 18
"""Version of the tables. Weft 0.2 had versions 1 to 17."""

LOCK_KEY = 0x57454654
"""`WEFT`: key of the advisory lock that changes of tables take."""

MIN_PGVECTOR_VERSION = (0, 8)
"""First version whose index scans continue until they have found enough rows of one namespace."""

MIN_SERVER_VERSION = 140000
"""PostgreSQL 14, as `server_version_num`."""

CLOSED = "ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
"""Actions that hide all rows of a table without a policy."""

FORCE = "FORCE ROW LEVEL SECURITY"
"""End of a statement that applies row security to the owner of a table, too."""

_TABLE = re.compile(r"CREATE TABLE (weft\.\w+)")
_MARK = "/* by namespace */"
"""Comment in schema.sql after tables that are partitioned or distributed by namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """Schema and extensions of a server."""

    version: int
    """Version of the schema; 0 if there is none."""
    has_citus: bool
    pgvector: str
    """Version of pgvector; empty if it is not installed."""


def read_state(db: psycopg.Connection[TupleRow]) -> ServerState:
    """Return the state of a server."""
    extensions: dict[str, str] = dict(db.execute("SELECT extname, extversion FROM pg_extension").fetchall())
    version = 0
    if db.execute("SELECT to_regclass('weft.schema_version')").fetchone() != (None,):
        (version,) = db.execute("SELECT version FROM weft.schema_version").fetchone() or (0,)
    return ServerState(version=version, has_citus="citus" in extensions, pgvector=extensions.get("vector", ""))


def prepare(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Create the tables of an empty database. Raises `SchemaMismatch` for an older or newer schema."""
    version = read_state(db).version
    if version == 0:
        create(db, where=where)
        return
    check_version(version, wanted=VERSION, where=where)
    require_coordinator(db, where=where)


def create(db: psycopg.Connection[TupleRow], *, where: str, partitions: int = 0) -> bool:
    """Create all tables in one transaction; return False if they exist."""
    _check_server(db, where=where)
    if read_state(db).version:
        return False
    script = [*statements(load_schema("postgres"), partitions=partitions, vector_schema=_vector_schema(db))]
    with _changing(db):  # a transaction of its own: the other nodes of Citus see the schema after its commit
        db.execute(script[0])
    with _changing(db):
        state = read_state(db)
        if state.version:
            return False
        tables_end = next(place for place, one in enumerate(script) if one.startswith("ALTER TABLE"))
        if state.has_citus:
            db.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        for statement in script[1:tables_end]:
            db.execute(statement)
        if state.has_citus:
            distribute(db, tables(), by_namespace=distributed_tables())
        for statement in script[tables_end:]:
            db.execute(statement)
        for statement in security_statements(partitions=partitions):
            if not (state.has_citus and statement.endswith(FORCE)):
                db.execute(statement)
        db.execute("INSERT INTO weft.schema_version (version) VALUES (%s)", [VERSION])
    return True


def statements(text: str, *, partitions: int = 0, vector_schema: str = "public") -> Iterator[str]:
    """Yield the statements of a file; with `partitions`, marked tables are partitioned by namespace."""
    for statement in split_statements(text.replace("vector_schema", vector_schema)):
        table = _TABLE.match(statement)
        if table is None or _MARK not in statement or not partitions:
            yield statement.replace(_MARK, "")
            continue
        yield statement.replace(_MARK, "PARTITION BY HASH (namespace)")
        for place in range(partitions):
            bounds = f"WITH (MODULUS {partitions}, REMAINDER {place})"
            yield f"CREATE TABLE {table[1]}_{place} PARTITION OF {table[1]} FOR VALUES {bounds}"


def security_statements(*, partitions: int = 0) -> Iterator[str]:
    """Yield the statements that give all tables and their partitions row security."""
    spread = sorted(distributed_tables())
    for statement in split_statements(load_script("postgres", "row_security")):
        is_repeated = "{table}" in statement
        yield from (statement.replace("{table}", table) for table in (spread if is_repeated else [""]))
    for table in spread:
        yield from (f"ALTER TABLE {table}_{place} {CLOSED}" for place in range(partitions))


def split_statements(text: str) -> Iterator[str]:
    """
    Yield the statements of a script without comments and semicolons. Bodies of functions stand between `$$`.

    The scripts of this package have no semicolon and no `--` in a quoted text; a test compares with a parser.
    """
    statement = ""
    for place, part in enumerate(_without_comments(text).split("$$")):
        if place % 2:
            statement += f"$${part}$$"
            continue
        *ends, rest = part.split(";")
        for end in ends:
            yield (statement + end).strip()
            statement = ""
        statement += rest
    if statement.strip():
        yield statement.strip()


def tables() -> list[str]:
    """Return all tables, in an order in which they can be created."""
    return _TABLE.findall(load_schema("postgres"))


def distributed_tables() -> set[str]:
    """Return the tables that are distributed by namespace; the others are copied to every node."""
    pattern = rf"{_TABLE.pattern} \([^;]*{re.escape(_MARK)}"
    return {match[1] for match in re.finditer(pattern, _without_comments(load_schema("postgres")))}


def may_administer(db: psycopg.Connection[TupleRow]) -> bool:
    """Return True if the role may list namespaces and manage keys: the owner, its members, and exempt roles."""
    asked = (
        "SELECT pg_has_role(c.relowner, 'USAGE') OR NOT row_security_active(c.oid) FROM pg_class AS c "
        "WHERE c.oid = 'weft.namespace'::regclass"
    )
    return db.execute(asked).fetchone() == (True,)


def count_partitions(db: psycopg.Connection[TupleRow]) -> int:
    """Return the number of partitions of a table; 0 if tables are not partitioned."""
    counting = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'weft.document'::regclass"
    (count,) = db.execute(counting).fetchone() or (0,)
    return int(count)


def _vector_schema(db: psycopg.Connection[TupleRow]) -> str:
    """Return the quoted schema of pgvector."""
    found = db.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'").fetchone()
    (name,) = found or ("public",)
    return str(name)


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*", "", text)


def _check_server(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Check the versions of server and pgvector, which is installed if missing. Raises `StoreUnavailable`."""
    if db.info.server_version < MIN_SERVER_VERSION:
        major = db.info.server_version // 10000
        raise StoreUnavailable(f"{where} is PostgreSQL {major}", hint="upgrade the server to PostgreSQL 14 or newer")
    if not read_state(db).pgvector:
        try:
            with _changing(db):
                db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreUnavailable(
                f"{where} has no extension `vector`", hint="run as the owner of the database: CREATE EXTENSION vector"
            ) from error
        except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
            raise StoreUnavailable(
                f"{where} has no pgvector installed", hint="install pgvector 0.8 or newer on the server"
            ) from error
    version = read_state(db).pgvector
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_PGVECTOR_VERSION:
        raise StoreUnavailable(
            f"{where} has pgvector {version}",
            hint="install pgvector 0.8 or newer, then run ALTER EXTENSION vector UPDATE",
        )


@contextmanager
def _changing(db: psycopg.Connection[TupleRow]) -> Iterator[None]:
    """
    Begin a transaction that changes tables, one process at a time.

    A lock of the session would stay: a pooler may send the statement that ends it over another connection.
    """
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
        yield
