"""One transaction on a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from weft.records import Filter, Problem, Ranking, Vector
from weft.store.relational.session import NO_VALUES, Namespace, Row, SearchMethods, read_models
from weft.store.shared.twelve_bits import pack_twelve, unpack_twelve
from weft.store.sql_files import load_queries
from weft.store.sqlite import vectors
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.index.targets import Target
from weft.store.sqlite.nominations import number_names, write_nominations
from weft.store.sqlite.packed_terms import pack_term_counts
from weft.store.sqlite.postings import (
    TermChanges,
    derive_postings,
    document_frequencies,
    find_chunks_with_terms,
    read_postings,
    search_postings,
)

_SQL = load_queries("sqlite")

CACHED_STATEMENTS = frozenset({"find_namespace", "list_models", "namespace_state"})
"""Statements with few rows that nearly every call runs first; a reading session runs each of them once."""


class SqliteSession:
    """Runs statements by name on a connection that is inside a transaction."""

    def __init__(self, db: apsw.Connection, *, indexes: ReadIndexes | None, reads: bool = False) -> None:
        """
        Start a session. `indexes` is None if sqlite-vec did not load.

        A session that only `reads` sees one state, so it caches the rows of `CACHED_STATEMENTS` and document
        frequencies.
        """
        self._db = db
        self._indexes = indexes
        self._cache: dict[tuple[Any, ...], list[Row]] | None = {} if reads else None
        self._namespace_keys: dict[str, int] = {}
        self._frequencies: dict[tuple[Namespace, str], int] = {}

    # ── statements ──────────────────────────────────────────────────────────────────────────────

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> list[Row]:
        if name in CACHED_STATEMENTS and self._cache is not None:
            key = (name, *values.values())
            if key not in self._cache:
                self._cache[key] = self._db.execute(_SQL[name], values).fetchall()
            return self._cache[key]
        rows: list[Row] = self._db.execute(_SQL[name], values).fetchall()
        return rows

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        yield from self._db.execute(_SQL[name], values)

    def one(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Any:
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
        key = self._namespace_keys.get(name)
        if key is None:
            key = int(self.one("find_namespace", {"name": name}) or 0)
            if self._cache is not None:
                self._namespace_keys[name] = key
        return key

    def lock(self, name: str) -> None:
        """Do nothing: a file has one writer at a time."""

    def number_keys(self, namespace: Namespace, keys: Collection[str]) -> Mapping[str, int]:
        return {key: number for key, (number, _) in number_names(self, namespace, keys).items()}

    def write_nominations(self, namespace: Namespace, rows: Sequence[dict[str, Any]]) -> None:
        write_nominations(self, namespace, rows)

    def release_keys(self, namespace: Namespace, keys: Collection[str] | None = None) -> None:
        if keys is None:
            self.run("delete_all_unused_names", {"namespace": namespace})
        elif keys:
            values = {"namespace": namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
            self.run("delete_unused_names", values)

    # ── vectors ─────────────────────────────────────────────────────────────────────────────────

    def pack(self, vector: Vector) -> bytes:
        return vector.astype("<f4").tobytes()

    def unpack(self, value: bytes) -> Vector:
        return np.frombuffer(value, "<f4", count=len(value) // 4)

    def pack_half(self, vector: Vector) -> bytes:
        return vector.astype("<f2").tobytes()

    def unpack_half(self, value: bytes) -> Vector:
        return np.frombuffer(value, "<f2", count=len(value) // 2).astype(np.float32)

    def pack_names(self, vectors: Sequence[Vector]) -> list[bytes]:
        return pack_twelve(vectors)

    def unpack_names(self, values: Sequence[bytes]) -> list[Vector]:
        return unpack_twelve(values)

    def sketch(self, vector: Vector) -> bytes:
        return np.packbits(vector > 0).tobytes()

    def search_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        options: dict[str, Any] = {"model": model, "limit": limit, "where": where}
        found = None
        if self._indexes and not self._has_written():
            found = self._indexes.search_vectors(self, namespace, vector, **options)
        return vectors.search(self, namespace, vector, **options) if found is None else found

    def describe_search(self, namespace: Namespace, *, model: int | None) -> SearchMethods:
        if self._indexes is None:
            exact = "exact" if model else ""
            return SearchMethods(vectors=exact, keywords="exact", entities=exact)
        keywords = self._indexes.describe(self, Target("keywords", namespace, namespace))
        if model is None:
            return SearchMethods(vectors="", keywords=keywords, entities="")
        dimension = next(row.model.dimension for row in read_models(self, namespace) if row.number == model)
        chunks = self._indexes.describe(self, Target("vectors", namespace, model, dimension))
        entities = self._indexes.describe(self, Target("entities", namespace, model, dimension))
        return SearchMethods(vectors=chunks, keywords=keywords, entities=entities)

    def search_fact_vectors(
        self, namespace: Namespace, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        if self._indexes is None:
            return vectors.search_facts_with_numpy(self, vector, model=model, limit=limit)
        options: dict[str, Any] = {"model": model, "limit": limit}
        found = None if self._has_written() else self._indexes.search_entities(self, namespace, vector, **options)
        return vectors.search_facts(self, vector, **options) if found is None else found

    def search_fact_texts(
        self, namespace: Namespace, vector: Vector, *, model: int, at: int, limit: int
    ) -> list[tuple[str, float]]:
        return vectors.search_fact_texts(self, vector, model=model, at=at, limit=limit, exact=self._indexes is None)

    # ── keywords ────────────────────────────────────────────────────────────────────────────────

    def term_changes(self, namespace: Namespace) -> TermChanges:
        return TermChanges(self, namespace=namespace)

    def pack_terms(self, terms: Mapping[str, int], text: str) -> bytes | str:
        return pack_term_counts(terms, text)

    def expect_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> None:
        """Do nothing: this process searches."""

    def search_keyword(
        self,
        namespace: Namespace,
        terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        chunks: int,
        length: int,
        frequencies: Mapping[str, int] | None = None,
    ) -> Ranking:
        options: dict[str, Any] = {"limit": limit, "where": where, "frequencies": frequencies}
        options |= {"total": chunks, "mean_length": length / chunks}
        found = None
        if self._indexes and not self._has_written():
            found = self._indexes.search_keywords(self, namespace, terms, **options)
        return search_postings(self, namespace, terms, **options) if found is None else found

    def count_terms(self, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
        counts = {} if self._cache is None else self._frequencies
        missing = [term for term in terms if (namespace, term) not in counts]
        if missing:
            values = {"namespace": namespace, "terms": json.dumps(missing, ensure_ascii=False)}
            counts.update(((namespace, term), 0) for term in missing)
            counts.update(((namespace, term), count) for term, count in self.run("term_counts", values))
        return {term: count for term in terms if (count := counts[namespace, term])}

    def find_chunks_with_terms(
        self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
    ) -> dict[str, set[int]]:
        terms = {term for groups in wanted.values() for group in groups for term in group}
        counts = self.count_terms(namespace, terms)
        return find_chunks_with_terms(self, namespace=namespace, wanted=wanted, counts=counts)

    # ── consistency ─────────────────────────────────────────────────────────────────────────────

    def find_damage(self) -> list[Problem]:
        lines = [str(line) for (line,) in self._db.execute("PRAGMA integrity_check(20)") if line != "ok"]
        return [Problem(where="file", what=line, repairable=False) for line in lines]

    def count_orphans(self, table: str) -> int:
        return sum(1 for _ in self._db.execute(f"PRAGMA foreign_key_check ({table})"))

    def drop_orphans(self, table: str) -> None:
        self.run(f"delete_lost_{table}")

    def are_terms_sound(self, namespace: Namespace) -> bool:
        derived, key = derive_postings(self, namespace), {"namespace": namespace}
        counts: dict[str, int] = dict(self.run("all_term_counts", key))
        unnumbered = self.one("count_unnumbered_terms", key)
        return not unnumbered and read_postings(self, namespace) == derived and counts == document_frequencies(derived)

    def rebuild_terms(self, namespace: Namespace) -> int:
        derived, key = derive_postings(self, namespace), {"namespace": namespace}
        for statement in ("delete_postings", "delete_terms", "number_missing_terms"):
            self.run(statement, key)
        for (term, block), entries in derived.items():
            self.run("write_posting", {**key, "term": term, "block": block, "entries": entries})
        rows = [{**key, "term": term, "chunks": count} for term, count in document_frequencies(derived).items()]
        self.run_many("add_term", rows)
        return len(derived)

    def _has_written(self) -> bool:
        """Return True if this transaction has written. Its rows may be rolled back and must not be indexed."""
        return self._db.txn_state("main") == apsw.SQLITE_TXN_WRITE
