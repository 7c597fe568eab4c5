"""One transaction on a SQLite file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from weft.records import Filter, Problem, Ranking, Vector
from weft.store.queries import load_queries
from weft.store.relational.session import NOTHING, Namespace, Row
from weft.store.sqlite import vectors
from weft.store.sqlite.derived import VectorIndexes
from weft.store.sqlite.postings import TermChanges, derive_postings, find_holders, read_postings, search_postings

_SQL = load_queries("sqlite")


class SqliteSession:
    """Runs statements by name on a connection that is inside a transaction."""

    def __init__(self, db: apsw.Connection, *, indexes: VectorIndexes | None) -> None:
        """Without `indexes` there is no sqlite-vec either."""
        self._db = db
        self._indexes = indexes

    # ── statements ──────────────────────────────────────────────────────────────────────────────

    def run(self, name: str, values: Mapping[str, Any] = NOTHING) -> list[Row]:
        rows: list[Row] = self._db.execute(_SQL[name], values).fetchall()
        return rows

    def stream(self, name: str, values: Mapping[str, Any] = NOTHING) -> Iterator[Row]:
        yield from self._db.execute(_SQL[name], values)

    def one(self, name: str, values: Mapping[str, Any] = NOTHING) -> Any:
        rows = self.run(name, values)
        return rows[0][0] if rows else None

    def run_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self._db.executemany(_SQL[name], rows)

    def changes(self) -> int:
        return self._db.changes()

    def total_changes(self) -> int:
        return self._db.total_changes()

    def namespace_key(self, name: str) -> int:
        return self.one("find_namespace", {"name": name}) or 0

    def lock(self, name: str) -> None:
        """There is one writer of a file at a time."""

    # ── vectors ─────────────────────────────────────────────────────────────────────────────────

    def pack(self, vector: Vector) -> bytes:
        return vector.astype("<f4").tobytes()

    def unpack(self, value: bytes) -> Vector:
        return np.frombuffer(value, "<f4", count=len(value) // 4)

    def sketch(self, vector: Vector) -> bytes:
        return np.packbits(vector > 0).tobytes()

    def search_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        if self._indexes is None:
            return vectors.search_with_numpy(self, namespace, vector, model=model, limit=limit, where=where)
        found = self._indexes.search(self, namespace, vector, model=model, limit=limit, where=where)
        if found is None:
            return vectors.search(self, namespace, vector, model=model, limit=limit, where=where)
        return found

    def describe_search(self, namespace: Namespace, *, model: int) -> str:
        return self._indexes.describe(self, namespace, model=model) if self._indexes else "exact"

    def search_fact_vectors(
        self, namespace: Namespace, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        search = vectors.search_facts if self._indexes else vectors.search_facts_with_numpy
        return search(self, vector, model=model, limit=limit)

    # ── words ───────────────────────────────────────────────────────────────────────────────────

    def term_changes(self, namespace: Namespace) -> TermChanges:
        return TermChanges(self, namespace=namespace)

    def search_keyword(
        self, namespace: Namespace, terms: Sequence[str], *, limit: int, where: Filter, chunks: int, length: int
    ) -> Ranking:
        return search_postings(
            self, namespace, terms, limit=limit, where=where, mean_length=length / chunks, total=chunks
        )

    def find_holders(
        self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
    ) -> dict[str, set[int]]:
        return {
            name: set(find_holders(self, namespace=namespace, groups=groups).tolist())
            for name, groups in wanted.items()
        }

    # ── soundness ───────────────────────────────────────────────────────────────────────────────

    def find_damage(self) -> list[Problem]:
        lines = [str(row[0]) for row in self._db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
        return [Problem(where="file", what=line, repairable=False) for line in lines]

    def count_lost(self, table: str) -> int:
        return sum(1 for _ in self._db.execute(f"PRAGMA foreign_key_check ({table})"))

    def drop_lost(self, table: str) -> None:
        self.run(f"delete_lost_{table}")

    def are_terms_sound(self, namespace: Namespace) -> bool:
        return read_postings(self, namespace) == derive_postings(self, namespace)

    def rebuild_terms(self, namespace: Namespace) -> int:
        derived = derive_postings(self, namespace)
        self.run("delete_postings", {"namespace": namespace})
        for (term, block), entries in derived.items():
            self.run("write_posting", {"namespace": namespace, "term": term, "block": block, "entries": entries})
        return len(derived)
