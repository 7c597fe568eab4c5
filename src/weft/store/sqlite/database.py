"""A SQLite file with all its namespaces."""

from __future__ import annotations

from pathlib import Path

from weft.errors import InputError
from weft.records import Problem
from weft.store.sqlite.connect import Connections
from weft.store.sqlite.keys import SqliteKeys
from weft.store.sqlite.soundness import find_problems, mend
from weft.store.sqlite.statements import run
from weft.store.sqlite.store import SqliteStore


class SqliteDatabase:
    """The embedded database: one file, WAL beside it while it is open."""

    def __init__(self, path: str) -> None:
        self._connections = Connections(path)

    @property
    def notes(self) -> tuple[str, ...]:
        problem = self._connections.vector_problem
        return (f"vectors are scanned by numpy, because sqlite-vec did not load: {problem}",) if problem else ()

    @property
    def keys(self) -> SqliteKeys:
        return SqliteKeys(self._connections)

    def store(self, namespace: str) -> SqliteStore:
        return SqliteStore(self._connections, namespace=namespace)

    def namespaces(self) -> list[str]:
        with self._connections.read() as db:
            return [row[0] for row in run(db, "list_namespaces")]

    def drop(self, namespace: str) -> bool:
        with self._connections.write() as db:
            run(db, "delete_namespace", {"name": namespace})
            return db.changes() > 0

    def check(self) -> list[Problem]:
        with self._connections.read() as db:
            return find_problems(db)

    def repair(self) -> list[str]:
        with self._connections.bare() as db:
            db.execute("REINDEX")
        with self._connections.write() as db:
            return mend(db)

    def backup(self, target: Path) -> None:
        if target.exists():
            raise InputError(f"{str(target)!r} exists already", hint="choose another name")
        partial = target.with_name(target.name + ".partial")
        partial.unlink(missing_ok=True)
        with self._connections.bare() as db:
            db.execute("VACUUM INTO :target", {"target": str(partial)})
        partial.replace(target)

    def compact(self) -> None:
        with self._connections.bare() as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        self._connections.close()
