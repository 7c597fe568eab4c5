"""
Vector search in PostgreSQL: exact in small namespaces, an HNSW index over half-precision vectors in large ones.

All namespaces share the index. Among the vectors of the others it would rarely find those of a small namespace, so a
small one is always scanned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from pgvector import Vector as PgVector

from weft.records import Filter, Hit, Ranking, Vector
from weft.store.postgres.filters import AllowedChunks, FilterSession, filter_chunks
from weft.store.postgres.terms import is_among
from weft.store.relational.session import Namespace, NamespaceRow, Row
from weft.store.shared.cosine_sample import CosineSample, summarise

MAX_EXACT_ROWS = 20_000
"""Maximum number of chunks or fact entities of a namespace for an exact search."""

SAMPLE_VECTORS = 2_000
"""Number of sampled vectors that estimate the mean and deviation of cosines in a large namespace."""

MAX_INDEX_DIMENSIONS = 4_000
"""Dimensions up to which pgvector can index half-precision vectors."""

MIN_EF_SEARCH, MAX_EF_SEARCH = 140, 1_000
"""Bounds of the candidates of an index search (ef). A question asks for 70 chunks."""

MIN_EF_ROWS = 100_000
"""Vectors up to which the least number of candidates is enough. Four times as many need twice as many candidates."""

ROWS_PER_CANDIDATE = 4
"""Vectors that are looked up and compared in the time in which the index finds one candidate."""

MAX_SCAN_TUPLES = 200_000
"""Rows that an index search visits at most."""

Samples = dict[tuple[Namespace, int], tuple[int, CosineSample]]
"""Number of chunks and statistics of sampled vectors, by namespace and embedder."""


class VectorSession(FilterSession, Protocol):
    """Transaction that searches vectors."""

    samples: Samples

    def run(self, name: str, values: Mapping[str, Any] = ..., *, dimension: int = 0) -> list[Row]: ...

    def set_index_scan(self, *, candidates: int) -> None: ...


def search(db: VectorSession, found: NamespaceRow, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
    """Rank the chunks that pass a filter by cosine."""
    namespace, total = found.key, found.chunks
    is_exact = total <= MAX_EXACT_ROWS or len(vector) > MAX_INDEX_DIMENSIONS
    values = {"namespace": namespace, "model": model, "vector": PgVector(vector), "limit": limit}
    allowed = filter_chunks(db, found, where) if where else None
    if is_exact:
        chunks = allowed.array if allowed else "{}"
        rows = db.run("search_vector", {**values, "everything": allowed is None, "chunks": chunks})
    elif allowed is None:
        rows = _search_index(db, "search_vector_index", values, limit=limit, total=total, dimension=len(vector))
    else:
        rows = _search_filtered(db, values, allowed, total=total, dimension=len(vector))
    hits = tuple(Hit(id, rank, score) for rank, (id, score, *_) in enumerate(rows, start=1))
    if is_exact:
        return _with_statistics(rows, hits)
    mean, deviation = _sample(db, namespace, model=model, total=total).estimate(vector)
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=total)


def _search_filtered(
    db: VectorSession, values: Mapping[str, Any], allowed: AllowedChunks, *, total: int, dimension: int
) -> list[Row]:
    """
    Return the nearest chunks that pass a filter, in a large namespace.

    The index is asked for twice as many candidates as should contain `limit` of these chunks. All of these chunks are
    compared if they are few, if that is faster, and if too few of the candidates pass, as with a filter that keeps
    distant chunks.
    """
    limit: int = values["limit"]
    candidates = 2 * limit * total // max(allowed.total, 1) + 1
    if allowed.total > max(MAX_EXACT_ROWS, ROWS_PER_CANDIDATE * candidates):
        rows = _search_index(db, "search_vector_index", values, limit=candidates, total=total, dimension=dimension)
        numbers = np.array([number for *_, number in rows], dtype=np.int64)
        passed = is_among(numbers, allowed.ascending)
        kept = [row for row, passes in zip(rows, passed.tolist(), strict=True) if passes]
        if len(kept) >= limit:
            return kept[:limit]
    return db.run("search_vector_among", {**values, "chunks": allowed.array})


def describe(total: int) -> str:
    """Return the search method of this number of vectors."""
    return "exact" if total <= MAX_EXACT_ROWS else "server index"


def search_facts(
    db: VectorSession, statement: str, vector: Vector, *, total: int, **values: Any
) -> list[tuple[str, float]]:
    """Return the keys or ids of the nearest of `total` rows with their cosines. Many rows have an index."""
    values["vector"] = PgVector(vector)
    if total <= MAX_EXACT_ROWS or len(vector) > MAX_INDEX_DIMENSIONS:
        rows = db.run(statement, values)
    else:
        limit, dimension = values["limit"], len(vector)
        rows = _search_index(db, f"{statement}_index", values, limit=limit, total=total, dimension=dimension)
    return [(key, score) for key, score in rows]


def _search_index(
    db: VectorSession, statement: str, values: Mapping[str, Any], *, limit: int, total: int, dimension: int
) -> list[Row]:
    """Run an index search after setting the size of its scan."""
    candidates = count_candidates(limit, total=total)
    db.set_index_scan(candidates=candidates)
    return db.run(statement, {**values, "limit": limit, "looks": max(candidates, limit)}, dimension=dimension)


def count_candidates(limit: int, *, total: int) -> int:
    """
    Return the candidates of an index search for `limit` of `total` vectors.

    Twice the limit, and more in a large namespace, where a search of the same effort ends in the wrong place more
    often (decision 0096).
    """
    grown = round(MIN_EF_SEARCH * math.sqrt(total / MIN_EF_ROWS))
    return min(max(2 * limit, MIN_EF_SEARCH, grown), MAX_EF_SEARCH)


def _sample(db: VectorSession, namespace: Namespace, *, model: int, total: int) -> CosineSample:
    """
    Return the statistics of a sample of the vectors of a namespace.

    The sample is renewed after the namespace has changed by a tenth.
    """
    count, sample = db.samples.get((namespace, model), (0, None))
    if sample is None or abs(count - total) > count / 10:
        values = {
            "namespace": namespace,
            "model": model,
            "every": max(1, total // SAMPLE_VECTORS),
            "limit": 2 * SAMPLE_VECTORS,
        }
        rows = db.run("sample_vectors", values)
        found = np.array([db.vectors.unpack(vector) for (vector,) in rows], dtype=np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)  # rounding to float16 changes the length
        sample = summarise(found)
        db.samples[namespace, model] = (total, sample)
    return sample


def _with_statistics(rows: list[Row], hits: tuple[Hit, ...]) -> Ranking:
    """Return the ranking of hits whose rows contain the mean, the mean square and the number of all cosines."""
    if not rows:
        return Ranking()
    _, _, mean, squares, count = rows[0]
    deviation = math.sqrt(max(0.0, squares - mean * mean))
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=count)
