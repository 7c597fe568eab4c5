"""Database on a PostgreSQL server, with all its namespaces."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from weft.errors import InputError, StoreUnavailable
from weft.records import ApiKey, Problem
from weft.store.postgres import citus, schema, vectors
from weft.store.postgres.connect import Connections
from weft.store.postgres.vector_indexes import CHUNK_TABLES, FACT_TABLES, VectorIndex
from weft.store.relational.check.documents import find_problems, repair_namespace
from weft.store.relational.check.json_values import find_unreadable_keys, revoke_unreadable_keys
from weft.store.relational.keys import RelationalKeys
from weft.store.relational.store import RelationalStore

logger = logging.getLogger(__name__)


class PostgresKeys(RelationalKeys):
    """API keys on a server. Any role can match and count them, an administrator can list and change them."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._server = connections

    def write(self, key: ApiKey) -> None:
        self._server.require_administrator("manage keys")
        super().write(key)

    def all(self) -> list[ApiKey]:
        self._server.require_administrator("manage keys")
        return super().all()

    def find(self, ids: Sequence[str]) -> dict[str, ApiKey]:
        self._server.require_administrator("manage keys")
        return super().find(ids)

    def forget(self, ids: Sequence[str]) -> int:
        self._server.require_administrator("manage keys")
        return super().forget(ids)


class PostgresDatabase:
    """Database on a server or a Citus cluster. An empty database gets its tables when it is first opened."""

    def __init__(self, dsn: str, *, replica: str = "") -> None:
        self._connections = Connections(dsn, replica=replica)
        try:
            with self._connections.bare() as db:
                schema.prepare(db, where=self._connections.where)
                self._connections.has_citus = citus.is_distributed(db)
        except BaseException:
            self._connections.close()
            raise

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def keys(self) -> PostgresKeys:
        return PostgresKeys(self._connections)

    def store(self, namespace: str) -> RelationalStore:
        return RelationalStore(self._connections, namespace=namespace)

    def prefetch(self, *, resident: bool = False) -> None:
        return

    def namespaces(self) -> list[str]:
        self._connections.require_administrator("list namespaces")
        names, unreachable = self._reachable_names()
        for line in unreachable:
            logger.warning("%s", line)
        return [name for name in names if self._has_content(name)]

    def drop(self, namespace: str) -> bool:
        with self._connections.write(namespace) as db:
            db.run("delete_namespace", {"name": namespace})
            return db.changes() > 0

    def check(self) -> list[Problem]:
        self._connections.require_administrator("check all namespaces")
        with self._connections.bare() as server:
            problems = citus.find_problems(server)
        with self._connections.read() as db:
            problems += find_unreadable_keys(db)
        names, unreachable = self._reachable_names()
        problems += [Problem(where="cluster", what=what, repairable=False) for what in unreachable]
        for name in names:
            try:
                problems += self._check_namespace(name)
            except StoreUnavailable as error:
                problems.append(Problem(where=f"namespace {name!r}", what=f"not checked: {error}", repairable=False))
        return problems

    def _check_namespace(self, name: str) -> list[Problem]:
        with self._connections.scan(name) as db:
            found = db.namespace(name)
            return find_problems(db, name, name, chunks=found.chunks, length=found.length) if found else []

    def compare(self) -> list[Problem]:
        return []  # indexes of the server are part of its transactions

    def repair(self) -> list[str]:
        self._connections.require_administrator("repair all namespaces")
        with self._connections.bare() as server:
            done = citus.exempt_owner(server)
        with self._connections.write() as db:
            done += revoke_unreadable_keys(db)
        for name in self._names():
            with self._connections.write(name) as db:
                done += repair_namespace(db, name, name)
        return done

    def backup(self, target: Path) -> None:
        raise InputError(
            "a PostgreSQL database cannot be backed up by Weft",
            hint="run pg_dump --schema=weft, or weft copy --to FILE",
        )

    def size(self) -> int:
        with self._connections.bare() as db:
            return citus.measure(db)

    def compact(self) -> None:
        for name in self._names():
            self._connections.fold(name)
        with self._connections.bare() as db:
            for (table,) in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'weft'").fetchall():
                db.execute(f'VACUUM (ANALYZE) weft."{table}"')

    def create_vector_indexes(self, *, with_small: bool = False) -> list[VectorIndex]:
        """
        Create the vector indexes that are missing, beside readers and writers.

        An index of chunk vectors is created if a namespace is too large for an exact search, or `with_small`.
        """
        self._connections.require_administrator("create vector indexes")
        indexes = []
        for dimension, chunks in sorted(self._largest_by_dimension().items()):
            is_large = with_small or chunks > vectors.MAX_EXACT_ROWS
            tables = (*CHUNK_TABLES, *FACT_TABLES) if is_large else FACT_TABLES
            if not is_large:
                indexes += [VectorIndex(table=table, dimension=dimension, state="small") for table in CHUNK_TABLES]
            indexes += self._connections.create_vector_indexes(dimension, tables=tables)
        return indexes

    def _largest_by_dimension(self) -> dict[int, int]:
        """Return the chunks of the largest namespace of each dimension."""
        largest: dict[int, int] = {}
        for name in self._names():
            with self._connections.read(name) as db:
                found = db.namespace(name)
            for row in found.models if found else ():
                dimension = row.model.dimension
                largest[dimension] = max(largest.get(dimension, 0), found.chunks if found else 0)
        return largest

    def close(self) -> None:
        self._connections.close()

    def _names(self) -> list[str]:
        with self._connections.read() as db:
            return [name for (name,) in db.run("list_namespaces")]

    def _reachable_names(self) -> tuple[list[str], list[str]]:
        """Return the namespaces, and a line for each node of a cluster that does not answer for its own."""
        try:
            return self._names(), []
        except StoreUnavailable:
            if not self._connections.has_citus:
                raise
        with self._connections.bare() as db:
            return citus.list_reachable_namespaces(db)

    def _has_content(self, name: str) -> bool:
        """Return True if a namespace has or had chunks or facts, or if its node does not answer."""
        try:
            with self._connections.read(name) as db:
                found = db.namespace(name)
                return found is not None and (found.chunks > 0 or bool(db.one("has_content", {"namespace": name})))
        except StoreUnavailable:
            return True
