"""Database in one SQLite file, with all its namespaces."""

from __future__ import annotations

from pathlib import Path

from weft.errors import InputError, StoreCorrupt, StoreUnavailable
from weft.records import Problem
from weft.store.relational.keys import RelationalKeys
from weft.store.relational.store import RelationalStore
from weft.store.sqlite.connect import Connections, copy_errors
from weft.store.sqlite.index import reader
from weft.store.sqlite.index.targets import find_targets
from weft.system.temporary_files import temporary_file


class SqliteDatabase:
    """Embedded database: one file, with a WAL file in the same folder while it is open."""

    def __init__(self, path: str) -> None:
        self._connections = Connections(path)

    @property
    def notes(self) -> tuple[str, ...]:
        found: list[str] = []
        if problem := self._connections.vector_problem:
            found.append(f"vectors of facts are scanned with numpy because sqlite-vec did not load: {problem}")
        return tuple(found)

    @property
    def keys(self) -> RelationalKeys:
        return RelationalKeys(self._connections)

    def store(self, namespace: str) -> RelationalStore:
        return RelationalStore(self._connections, namespace=namespace)

    def prefetch(self, *, resident: bool = False) -> None:
        self._connections.indexes.prefetch(resident=resident)

    def namespaces(self) -> list[str]:
        with self._connections.read() as db:
            return [name for (name,) in db.run("list_namespaces")]

    def drop(self, namespace: str) -> bool:
        with self._connections.write() as db:
            db.run("delete_namespace", {"name": namespace})
            dropped = db.changes() > 0
            remaining = find_targets(db, min_rows=reader.MIN_INDEXED_ROWS)
        self._connections.indexes.retain(remaining)
        return dropped

    # The checks and the rules that they read with are imported where they run: opening a store takes half as long.
    def check(self) -> list[Problem]:
        from weft.store.relational.check.documents import find_orphans, find_problems
        from weft.store.relational.check.json_values import find_unreadable_keys

        with self._connections.scan() as db:
            problems = db.integrity.damage()
            if problems:
                return problems
            problems = find_orphans(db) + find_unreadable_keys(db)
            for namespace, name, chunks, length in db.run("all_namespaces"):
                problems += find_problems(db, namespace, name, chunks=chunks, length=length)
            return problems

    def compare(self) -> list[Problem]:
        from weft.store.sqlite.index.verify import compare

        with self._connections.read() as db:
            return compare(db, self._connections.indexes)

    def repair(self) -> list[str]:
        from weft.store.relational.check.documents import drop_orphans, repair_namespace
        from weft.store.relational.check.json_values import revoke_unreadable_keys

        self._connections.indexes.clear()
        with self._connections.bare() as db:
            db.execute("REINDEX")
        with self._connections.write() as db:
            if damage := db.integrity.damage():  # rows of damaged pages have values of any type
                raise StoreCorrupt(
                    f"{self._connections.path!r} is damaged beyond repair: {damage[0].what}",
                    hint="restore a backup, or index the documents into a new file",
                )
            done = drop_orphans(db) + revoke_unreadable_keys(db)
            for namespace, name, *_ in db.run("all_namespaces"):
                done += repair_namespace(db, namespace, name)
            return done

    def backup(self, target: Path) -> None:
        with copy_errors(target):
            if target.exists():
                raise InputError(f"{str(target)!r} already exists", hint="choose another file name")
            if not target.parent.is_dir():
                hint = f"create the folder {str(target.parent)!r}"
                raise InputError(f"cannot write {str(target)!r}", hint=hint)
        with self._connections.bare() as db, copy_errors(target), temporary_file(target) as partial:
            db.execute("VACUUM INTO :target", {"target": str(partial)})
            partial.replace(target)

    def size(self) -> int:
        path = Path(self._connections.path)
        return path.stat().st_size + self._connections.indexes.folder.size() if path.is_file() else 0

    def compact(self) -> None:
        self._connections.indexes.clear()  # read indexes contain data of deleted texts, and can be rebuilt
        with self._connections.bare() as db:
            db.execute("VACUUM")
            ((is_busy, *_),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:  # the old pages were not overwritten, because another process reads them
            what = f"cannot compact {self._connections.path!r}: another process is reading it, so deleted text remains"
            raise StoreUnavailable(what, hint="end that process, then run weft compact again")

    def close(self) -> None:
        self._connections.close()
