"""Ports of a PostgreSQL session: vectors and keywords."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from pgvector import Vector as PgVector

from weft.records import Filter, IndexedChunk, KeywordStatistics, Ranking, Vector
from weft.store.postgres import blocks, deltas, vectors
from weft.store.postgres import terms as postings
from weft.store.relational.session import ModelRow, Namespace, NamespaceRow
from weft.store.shared.half_precision import round_to_half
from weft.store.shared.twelve_bits import round_to_twelve


class PostgresVectors:
    """Vectors of a namespace: pgvector compares them all, or has an index of them."""

    def __init__(self, session: vectors.VectorSession) -> None:
        self._session = session
        self._fact_counts: dict[Namespace, tuple[int, int]] = {}

    def pack(self, vector: Vector) -> PgVector:
        return PgVector(vector)

    def unpack(self, value: Any) -> Vector:
        return np.asarray(value.to_numpy() if isinstance(value, PgVector) else value, dtype=np.float32)

    def pack_half(self, vector: Vector) -> PgVector:
        return PgVector(round_to_half(vector))

    def unpack_half(self, value: Any) -> Vector:
        return self.unpack(value)

    def pack_names(self, vectors: Sequence[Vector]) -> list[PgVector]:
        return [PgVector(round_to_twelve(vector)) for vector in vectors]

    def unpack_names(self, values: Sequence[Any]) -> list[Vector]:
        return [self.unpack(value) for value in values]

    def sketch(self, vector: Vector) -> None:
        return None

    def nearest(self, found: NamespaceRow, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        return vectors.search(self._session, found, vector, model=model, limit=limit, where=where)

    def nearest_entities(
        self, found: NamespaceRow, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        _, total = self._count_facts(found.key)
        values: dict[str, Any] = {"namespace": found.key, "model": model, "limit": limit}
        return vectors.search_facts(self._session, "search_fact_vectors", vector, total=total, **values)

    def nearest_facts(
        self, found: NamespaceRow, vector: Vector, *, model: int, at: int, limit: int
    ) -> list[tuple[str, float]]:
        total, _ = self._count_facts(found.key)
        values = {"namespace": found.key, "model": model, "at": at, "limit": limit}
        return vectors.search_facts(self._session, "search_fact_texts", vector, total=total, **values)

    def describe(self, found: NamespaceRow, model: ModelRow) -> str:
        return vectors.describe(found.chunks)

    def describe_entities(self, found: NamespaceRow, model: ModelRow) -> str:
        _, total = self._count_facts(found.key)
        return vectors.describe(total)

    def _count_facts(self, namespace: Namespace) -> tuple[int, int]:
        """Return the numbers of facts and of their entities; a snapshot counts them once."""
        if not self._session.is_snapshot or namespace not in self._fact_counts:
            ((facts, entities),) = self._session.run("count_facts", {"namespace": namespace})
            self._fact_counts[namespace] = facts, entities
        return self._fact_counts[namespace]


class PostgresKeywords:
    """Packed postings of a namespace."""

    def __init__(self, session: postings.TermSession) -> None:
        self._session = session

    def collect(self, namespace: Namespace) -> deltas.TermDeltas:
        return deltas.TermDeltas(self._session, namespace=namespace)

    def pack(self, item: IndexedChunk) -> tuple[str, str]:
        return item.chunk.text, json.dumps(dict(item.terms), ensure_ascii=False, sort_keys=True)

    def best(
        self,
        found: NamespaceRow,
        terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        statistics: KeywordStatistics | None = None,
    ) -> Ranking:
        return postings.search(self._session, found, terms, limit=limit, where=where, statistics=statistics)

    def read_ahead(self, found: NamespaceRow, terms: Sequence[str]) -> None:
        if self._session.is_snapshot and terms:
            postings.read_first(self._session, found.key, list(dict.fromkeys(terms)), most=postings.most_first(found))

    def counts(self, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
        return postings.count(self._session, namespace, terms)

    def conjunction(self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]) -> dict[str, set[int]]:
        return postings.find_chunks_with_terms(self._session, namespace, wanted)

    def find_terms(self, namespace: Namespace, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        values = {"ids": json.dumps(list(chunk_ids)), "terms": json.dumps(list(terms), ensure_ascii=False)}
        return {id: set(found) for id, found in self._session.run("terms_among", {"namespace": namespace, **values})}

    def describe(self, found: NamespaceRow) -> str:
        return "exact"

    def are_sound(self, namespace: Namespace) -> bool:
        return blocks.are_sound(self._session, namespace, pending=deltas.read_pending(self._session, namespace))

    def rebuild(self, namespace: Namespace) -> int:
        return blocks.rebuild(self._session, namespace)
