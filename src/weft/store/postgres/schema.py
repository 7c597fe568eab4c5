"""Makes the tables of a server, spreads them where Citus is there, and brings older ones up to date."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow

from weft.errors import SchemaMismatch, StoreUnavailable
from weft.store.postgres.vectors import MAX_INDEXED
from weft.store.sql_files import load_migrations, load_schema

logger = logging.getLogger(__name__)

LOCK = 0x57454654
"""`WEFT`: who changes tables holds this."""

PGVECTOR = (0, 8)
"""The oldest version whose index scans go on until they have found enough of one namespace."""

POSTGRES = 140000

_TABLE = re.compile(r"CREATE TABLE (weft\.\w+)")
_MARK = "/* by namespace */"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """What a server has."""

    version: int
    """Of our schema; 0: there is none."""
    has_citus: bool
    pgvector: str
    """Its version; empty: it is not installed."""


def newest() -> int:
    """Return the version of the schema that this package knows."""
    return max(load_migrations("postgres"))


def read_state(db: psycopg.Connection[TupleRow]) -> ServerState:
    """Look at what is there."""
    extensions: dict[str, str] = dict(db.execute("SELECT extname, extversion FROM pg_extension").fetchall())
    version = 0
    if db.execute("SELECT to_regclass('weft.schema_version')").fetchone() != (None,):
        row = db.execute("SELECT version FROM weft.schema_version").fetchone()
        version = row[0] if row else 0
    return ServerState(version=version, has_citus="citus" in extensions, pgvector=extensions.get("vector", ""))


def prepare(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """Make the tables of an empty database; refuse one that is older or newer than this package."""
    version = read_state(db).version
    if version == 0:
        create(db, where=where)
        return
    _refuse_newer(version, where=where)
    if version < newest():
        raise SchemaMismatch(
            f"{where} has schema {version}, this version needs {newest()}", hint="weft db migrate, while nobody writes"
        )


def _refuse_newer(version: int, *, where: str) -> None:
    if version > newest():
        raise SchemaMismatch(
            f"{where} was made by a newer Weft (schema {version}, this one knows {newest()})",
            hint="pip install --upgrade weft-search",
        )


def create(db: psycopg.Connection[TupleRow], *, where: str, partitions: int = 0) -> bool:
    """Make all tables in one transaction; return whether that was necessary."""
    _require(db, where=where)
    with _alone(db):
        state = read_state(db)
        if state.version:
            return False
        with db.transaction():
            for statement in statements(load_schema("postgres"), partitions=partitions):
                if state.has_citus and statement.startswith("ALTER TABLE"):
                    _distribute(db, _TABLE.findall(load_schema("postgres")))
                    state = ServerState(version=0, has_citus=False, pgvector=state.pgvector)
                db.execute(statement)
            db.execute("INSERT INTO weft.schema_version (version, step) VALUES (%s, 0)", [newest()])
    return True


def migrate(db: psycopg.Connection[TupleRow], *, where: str) -> list[str]:
    """Bring older tables up to date, a statement at a time, each in its own transaction; return what was done."""
    done: list[str] = []
    state = read_state(db)
    if state.version == 0:
        raise SchemaMismatch(f"{where} has no tables yet", hint="weft db init")
    _refuse_newer(state.version, where=where)
    has_citus = state.has_citus
    with _alone(db):
        for number, text in load_migrations("postgres").items():
            version, step = db.execute("SELECT version, step FROM weft.schema_version").fetchone() or (0, 0)
            if number <= version:
                continue
            for place, statement in enumerate(statements(text), start=1):
                if place <= step:
                    continue
                with db.transaction():
                    db.execute(statement)
                    if has_citus and (table := _TABLE.match(statement)):
                        _distribute(db, [table[1]])
                    db.execute("UPDATE weft.schema_version SET step = %s", [place])
            db.execute("UPDATE weft.schema_version SET version = %s, step = 0", [number])
            logger.info("migrated %s to schema %d", where, number)
            done.append(f"schema {number}")
    return done


def statements(text: str, *, partitions: int = 0) -> Iterator[str]:
    """Yield the statements of a file; with partitions, tables are split by namespace."""
    for part in _without_comments(text).split(";\n"):
        statement = part.strip()
        if not statement:
            continue
        table = _TABLE.match(statement)
        if table is None or _MARK not in statement or not partitions:
            yield statement.replace(_MARK, "")
            continue
        yield statement.replace(_MARK, "PARTITION BY HASH (namespace)")
        for place in range(partitions):
            bounds = f"WITH (MODULUS {partitions}, REMAINDER {place})"
            yield f"CREATE TABLE {table[1]}_{place} PARTITION OF {table[1]} FOR VALUES {bounds}"


def spread_tables() -> set[str]:
    """Return the tables that go by namespace; of the others each node has all."""
    pattern = rf"{_TABLE.pattern} \([^;]*{re.escape(_MARK)}"
    return {match[1] for match in re.finditer(pattern, _without_comments(load_schema("postgres")))}


def index_vectors(db: psycopg.Connection[TupleRow], dimension: int) -> None:
    """Make the indexes over vectors of a dimension, where they are missing, possible, and we may."""
    if not 0 < dimension <= MAX_INDEXED:
        return
    for table in ("chunk_vector", "fact_vector"):
        name = f"{table}_hnsw_{int(dimension)}"
        if db.execute("SELECT to_regclass(%s)", [f"weft.{name}"]).fetchone() != (None,):
            continue
        try:
            db.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON weft.{table} "
                f"USING hnsw ((vector::halfvec({int(dimension)})) halfvec_cosine_ops) "
                f"WHERE vector_dims(vector) = {int(dimension)}"
            )
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):
            continue  # somebody else was as fast
        except psycopg.errors.InsufficientPrivilege:
            logger.warning("no index over vectors of dimension %d: the role may not make one", dimension)


def is_spread(db: psycopg.Connection[TupleRow]) -> bool:
    """Tell whether Citus keeps the tables on its nodes; those that were made before it came stay where they were."""
    if not read_state(db).has_citus:
        return False
    found = db.execute("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'weft.namespace'::regclass").fetchone()
    return found is not None


def count_partitions(db: psycopg.Connection[TupleRow]) -> int:
    """Return into how many parts tables are split by namespace; 0 where they are not."""
    row = db.execute("SELECT count(*) FROM pg_inherits WHERE inhparent = 'weft.document'::regclass").fetchone()
    return int(row[0]) if row else 0


def measure(db: psycopg.Connection[TupleRow]) -> int:
    """Return how many bytes the tables take with their indexes, on all nodes."""
    sizes = (
        "SELECT coalesce(sum(pg_total_relation_size(c.oid::regclass)), 0)::bigint FROM pg_class AS c "
        "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'"
    )
    row = db.execute(sizes.replace("pg_total", "citus_total") if read_state(db).has_citus else sizes).fetchone()
    return int(row[0]) if row else 0


def _distribute(db: psycopg.Connection[TupleRow], tables: Sequence[str]) -> None:
    """Spread the tables by namespace over the nodes of Citus, everything of a namespace on one; they are empty yet."""
    marked = spread_tables()
    for table in tables:
        if table not in marked:
            db.execute("SELECT create_reference_table(%s)", [table])
        elif table == "weft.namespace":
            db.execute("SELECT create_distributed_table(%s, 'namespace')", [table])
        else:
            db.execute("SELECT create_distributed_table(%s, 'namespace', colocate_with => 'weft.namespace')", [table])


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*", "", text)


def _require(db: psycopg.Connection[TupleRow], *, where: str) -> None:
    """See that the server can hold us, and that it knows vectors."""
    if db.info.server_version < POSTGRES:
        raise StoreUnavailable(f"{where} is PostgreSQL {db.info.server_version // 10000}", hint="14 or newer is needed")
    if not read_state(db).pgvector:
        try:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreUnavailable(
                f"{where} has no extension `vector`", hint="let its owner run: CREATE EXTENSION vector"
            ) from error
        except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
            raise StoreUnavailable(
                f"{where} has no pgvector installed", hint="install pgvector 0.8 or newer on the server"
            ) from error
    version = read_state(db).pgvector
    if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR:
        raise StoreUnavailable(
            f"{where} has pgvector {version}", hint="0.8 or newer is needed: ALTER EXTENSION vector UPDATE"
        )


@contextmanager
def _alone(db: psycopg.Connection[TupleRow]) -> Iterator[None]:
    db.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    try:
        yield
    finally:
        db.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
