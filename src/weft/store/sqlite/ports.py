"""Ports of a SQLite session: vectors, keywords, numbers of names, integrity of the file."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

import apsw
import numpy as np

from weft.records import Filter, IndexedChunk, KeywordStatistics, Problem, Ranking, Vector
from weft.store.relational.session import CandidateRow, Integrity, ModelRow, Names, Namespace, NamespaceRow, Session
from weft.store.shared.packed_text import pack_term_counts
from weft.store.shared.twelve_bits import pack_twelve, unpack_twelve
from weft.store.sqlite import vectors
from weft.store.sqlite.index.reader import MIN_INDEXED_ROWS, ReadIndexes
from weft.store.sqlite.index.resident_vectors import ComparedVectors
from weft.store.sqlite.index.targets import Target
from weft.store.sqlite.name_candidates import NameNumbers, write_candidates
from weft.store.sqlite.postings import (
    KeptPostings,
    TermChanges,
    derive_postings,
    document_frequencies,
    find_chunks_with_terms,
    find_terms,
    read_postings,
    read_terms,
    search_postings,
)


class SqliteVectors:
    """Vectors of a file: read indexes of large namespaces, scans of small ones."""

    def __init__(self, session: Session, db: apsw.Connection, indexes: ReadIndexes | None, *, reads: bool) -> None:
        """`indexes` is None if sqlite-vec did not load. With `reads`, the transaction sees one state."""
        self._session = session
        self._db = db
        self._indexes = indexes
        self._kept: dict[int, ComparedVectors] | None = {} if reads else None

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

    def nearest(self, found: NamespaceRow, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        options: dict[str, Any] = {"model": model, "limit": limit, "where": where}
        ranking = None
        if self._indexes and not has_written(self._db):
            ranking = self._indexes.search_vectors(self._session, found, vector, **options, kept=self._kept)
        return vectors.search(self._session, found.key, vector, **options) if ranking is None else ranking

    def nearest_entities(
        self, found: NamespaceRow, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        options: dict[str, Any] = {"model": model, "limit": limit}
        rows = None
        if self._indexes and not has_written(self._db):
            rows = self._indexes.search_entities(self._session, found, vector, **options)
        return (
            vectors.search_facts(self._session, vector, **options, exact=self._indexes is None)
            if rows is None
            else rows
        )

    def nearest_facts(
        self, found: NamespaceRow, vector: Vector, *, model: int, at: int, limit: int
    ) -> list[tuple[str, float]]:
        is_exact = self._indexes is None
        return vectors.search_facts(self._session, vector, model=model, at=at, limit=limit, exact=is_exact)

    def describe(self, found: NamespaceRow, model: ModelRow) -> str:
        return self._describe(Target("vectors", found.key, model.number, model.model.dimension), found)

    def describe_entities(self, found: NamespaceRow, model: ModelRow) -> str:
        return self._describe(Target("entities", found.key, model.number, model.model.dimension), found)

    def _describe(self, target: Target, found: NamespaceRow) -> str:
        return self._indexes.describe(self._session, target, found) if self._indexes else "exact"


class SqliteKeywords:
    """Packed postings of a file, with read indexes in large namespaces."""

    def __init__(self, session: Session, db: apsw.Connection, indexes: ReadIndexes | None, *, reads: bool) -> None:
        """With `reads`, the transaction sees one state, so document frequencies and postings are kept."""
        self._session = session
        self._db = db
        self._indexes = indexes
        self._kept: dict[tuple[Namespace, str], int] | None = {} if reads else None
        self._postings: dict[Namespace, KeptPostings] | None = {} if reads else None

    def collect(self, namespace: Namespace) -> TermChanges:
        return TermChanges(self._session, namespace=namespace)

    def pack(self, item: IndexedChunk) -> tuple[bytes | str, bytes | str]:
        text = item.chunk.text
        return item.packed or (text, pack_term_counts(item.terms, text))

    def best(
        self,
        found: NamespaceRow,
        terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        statistics: KeywordStatistics | None = None,
    ) -> Ranking:
        known = statistics or found
        options: dict[str, Any] = {"limit": limit, "where": where}
        options |= {"total": known.chunks, "mean_length": known.length / known.chunks}
        options["frequencies"] = statistics.counts if statistics else None
        ranking = None
        if self._indexes and not has_written(self._db):
            ranking = self._indexes.search_keywords(self._session, found, terms, **options)
        if ranking is not None:
            return ranking
        kept = self._kept_postings(found.key)
        ranking = search_postings(self._session, found.key, terms, **options, kept=kept)
        self._keep_counts(found.key, terms)
        return ranking

    def read_ahead(self, found: NamespaceRow, terms: Sequence[str]) -> None:
        kept = self._kept_postings(found.key)
        if kept is not None and found.chunks < MIN_INDEXED_ROWS:
            read_terms(self._session, found.key, terms, kept=kept, with_lengths=True)
            self._keep_counts(found.key, terms)

    def _keep_counts(self, namespace: Namespace, terms: Sequence[str]) -> None:
        """Keep the document frequencies of terms whose postings have been read."""
        kept = self._kept_postings(namespace)
        if self._kept is not None and kept is not None:
            self._kept.update(((namespace, term), len(kept.terms[term][0])) for term in terms)

    def counts(self, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
        counts = {} if self._kept is None else self._kept
        missing = [term for term in terms if (namespace, term) not in counts]
        if missing:
            values = {"namespace": namespace, "terms": json.dumps(missing, ensure_ascii=False)}
            counts.update(((namespace, term), 0) for term in missing)
            counts.update(((namespace, term), count) for term, count in self._session.run("term_counts", values))
        return {term: count for term in terms if (count := counts[namespace, term])}

    def conjunction(self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]) -> dict[str, set[int]]:
        counts = self.counts(namespace, {term for groups in wanted.values() for group in groups for term in group})
        kept = self._kept_postings(namespace)
        return find_chunks_with_terms(self._session, namespace=namespace, wanted=wanted, counts=counts, kept=kept)

    def find_terms(self, namespace: Namespace, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        return find_terms(self._session, namespace, chunk_ids, terms)

    def _kept_postings(self, namespace: Namespace) -> KeptPostings | None:
        return None if self._postings is None else self._postings.setdefault(namespace, KeptPostings())

    def describe(self, found: NamespaceRow) -> str:
        if self._indexes is None:
            return "exact"
        return self._indexes.describe(self._session, Target("keywords", found.key, found.key), found)

    def are_sound(self, namespace: Namespace) -> bool:
        db, key = self._session, {"namespace": namespace}
        derived = derive_postings(db, namespace)
        counts: dict[str, int] = dict(db.run("all_term_counts", key))
        unnumbered = db.one("count_unnumbered_terms", key)
        return not unnumbered and read_postings(db, namespace) == derived and counts == document_frequencies(derived)

    def rebuild(self, namespace: Namespace) -> int:
        db, key = self._session, {"namespace": namespace}
        derived = derive_postings(db, namespace)
        for statement in ("delete_postings", "delete_terms", "number_missing_terms"):
            db.run(statement, key)
        for (term, block), entries in derived.items():
            db.run("write_posting", {**key, "term": term, "block": block, "entries": entries})
        rows = [{**key, "term": term, "chunks": count} for term, count in document_frequencies(derived).items()]
        db.run_many("add_term", rows)
        return len(derived)


class SqliteNames(Names):
    """Keys of names as numbers."""

    def __init__(self, db: Session) -> None:
        super().__init__(db)
        self._numbers = NameNumbers(db)

    def numbers(self, namespace: Namespace, keys: Collection[str]) -> Mapping[str, int]:
        return self._numbers.find(namespace, keys)

    def created(self, namespace: Namespace) -> Set[str]:
        return self._numbers.created[namespace]

    def write_candidates(self, namespace: Namespace, rows: Sequence[CandidateRow]) -> None:
        write_candidates(self._db, namespace, rows, names=self._numbers)

    def release(self, namespace: Namespace, keys: Collection[str] | None = None) -> None:
        self._numbers.forget()
        if keys is None:
            self._db.run("delete_all_unused_names", {"namespace": namespace})
        elif keys:
            values = {"namespace": namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
            self._db.run("delete_unused_names", values)


class SqliteIntegrity(Integrity):
    """Checks of the file by SQLite itself."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def damage(self) -> list[Problem]:
        lines = [str(line) for (line,) in self._db.execute("PRAGMA integrity_check(20)") if line != "ok"]
        return [Problem(where="file", what=line, repairable=False) for line in lines]

    def count_orphans(self, table: str) -> int:
        return sum(1 for _ in self._db.execute(f"PRAGMA foreign_key_check ({table})"))

    def drop_orphans(self, table: str) -> None:
        for _, _, parent, column, key, *_ in self._db.execute(f"PRAGMA foreign_key_list ({table})").fetchall():
            present = f"SELECT {_quoted(key)} FROM {_quoted(parent)}"  # noqa: S608 - a stranger may have named them
            self._db.execute(f"DELETE FROM {table} WHERE {_quoted(column)} NOT IN ({present})")  # noqa: S608


def _quoted(name: object) -> str:
    """Return a name of the schema for a statement."""
    return '"' + str(name).replace('"', '""') + '"'


def has_written(db: apsw.Connection) -> bool:
    """Return True if a transaction has written. Its rows may be rolled back and must not be indexed."""
    return db.txn_state("main") == apsw.SQLITE_TXN_WRITE
