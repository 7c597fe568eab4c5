"""
Vector search in PostgreSQL: exact in small namespaces, an HNSW index over half-precision vectors in large ones.

All namespaces share the index. Among the vectors of the others it would rarely find those of a small namespace, so a
small one is always scanned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from weft.records import Filter, Hit, Ranking, Vector
from weft.store.postgres.filters import AllowedChunks, FilterSession, filter_chunks
from weft.store.postgres.terms import is_among
from weft.store.relational.session import Namespace, Row
from weft.store.shared.cosine_sample import CosineSample, summarise

MAX_EXACT_ROWS = 20_000
"""Maximum number of chunks or fact entities of a namespace for an exact search."""

SAMPLE_VECTORS = 2_000
"""Number of sampled vectors that estimate the mean and deviation of cosines in a large namespace."""

MAX_INDEX_DIMENSIONS = 4_000
"""Dimensions up to which pgvector can index half-precision vectors."""

MIN_EF_SEARCH, MAX_EF_SEARCH = 140, 1_000
"""Candidates of an index search (ef): twice the limit, within these bounds. A question asks for 70 chunks."""

ROWS_PER_CANDIDATE = 4
"""Vectors that are looked up and compared in the time in which the index finds one candidate."""

MAX_SCAN_TUPLES = 200_000
"""Rows that an index search visits at most."""

Samples = dict[tuple[Namespace, int], tuple[int, CosineSample]]
"""Number of chunks and statistics of sampled vectors, by namespace and embedder."""


class Statement(NamedTuple):
    """A statement with its values."""

    name: str
    values: Mapping[str, Any]
    dimension: int
    """Dimension of the index that it uses; 0 if it uses none."""


class _Session(FilterSession, Protocol):
    samples: Samples

    def run(self, name: str, values: Mapping[str, Any] = ..., *, dimension: int = 0) -> list[Row]: ...

    def set_index_scan(self, *, candidates: int) -> None: ...


def search(db: _Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
    """Rank the chunks that pass a filter by cosine."""
    ((_, _, total, _),) = db.run("find_namespace", {"name": namespace})
    is_exact = total <= MAX_EXACT_ROWS or len(vector) > MAX_INDEX_DIMENSIONS
    if not where:
        name, sent, dimension = unfiltered(db, namespace, vector, model=model, limit=limit)
        rows = db.run(name, sent, dimension=dimension)
    else:
        values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
        allowed = filter_chunks(db, namespace, where)
        if is_exact:
            rows = db.run("search_vector", {**values, "everything": False, "chunks": allowed.array})
        else:
            rows = _search_filtered(db, values, allowed, total=total, dimension=len(vector))
    if is_exact:
        return _with_statistics(rows)
    hits = tuple(Hit(id, rank, score) for rank, (id, score, *_) in enumerate(rows, start=1))
    return _with_sample(db, namespace, vector, hits, model=model, total=total)


def _search_filtered(
    db: _Session, values: Mapping[str, Any], allowed: AllowedChunks, *, total: int, dimension: int
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
        rows = _search_index(db, "search_vector_index", values, limit=candidates, dimension=dimension)
        numbers = np.array([number for *_, number in rows], dtype=np.int64)
        passed = is_among(numbers, allowed.ascending)
        kept = [row for row, passes in zip(rows, passed.tolist(), strict=True) if passes]
        if len(kept) >= limit:
            return kept[:limit]
    return db.run("search_vector_among", {**values, "chunks": allowed.array})


def unfiltered(db: _Session, namespace: Namespace, vector: Vector, *, model: int, limit: int) -> Statement:
    """Return the statement of a search without a filter."""
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
    ((_, _, total, _),) = db.run("find_namespace", {"name": namespace})
    if total <= MAX_EXACT_ROWS or len(vector) > MAX_INDEX_DIMENSIONS:
        return Statement("search_vector", {**values, "everything": True, "chunks": "{}"}, 0)
    return _index_search(db, "search_vector_index", values, limit=limit, dimension=len(vector))


def describe(db: _Session, namespace: Namespace) -> str:
    """Return the search method of chunk vectors."""
    ((_, _, total, _),) = db.run("find_namespace", {"name": namespace})
    return "exact" if total <= MAX_EXACT_ROWS else "server index"


def describe_facts(db: _Session, namespace: Namespace) -> str:
    """Return the search method of fact entities."""
    ((_, entities),) = db.run("count_facts", {"namespace": namespace})
    return "exact" if entities <= MAX_EXACT_ROWS else "server index"


def search_facts(
    db: _Session, namespace: Namespace, vector: Vector, *, model: int, limit: int
) -> list[tuple[str, float]]:
    """Return the keys of the nearest fact entities with their cosines."""
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
    ((_, entities),) = db.run("count_facts", {"namespace": namespace})
    if entities <= MAX_EXACT_ROWS or len(vector) > MAX_INDEX_DIMENSIONS:
        return [(key, score) for key, score in db.run("search_fact_vectors", values)]
    rows = _search_index(db, "search_fact_vectors_index", values, limit=limit, dimension=len(vector))
    return [(key, score) for key, score in rows]


def search_fact_texts(
    db: _Session, namespace: Namespace, vector: Vector, *, model: int, at: int, limit: int
) -> list[tuple[str, float]]:
    """Return the ids of the nearest facts valid at a time, with their cosines."""
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "at": at, "limit": limit}
    ((facts, _),) = db.run("count_facts", {"namespace": namespace})
    if facts <= MAX_EXACT_ROWS or len(vector) > MAX_INDEX_DIMENSIONS:
        return [(id, score) for id, score in db.run("search_fact_texts", values)]
    rows = _search_index(db, "search_fact_texts_index", values, limit=limit, dimension=len(vector))
    return [(id, score) for id, score in rows]


def _search_index(db: _Session, statement: str, values: Mapping[str, Any], *, limit: int, dimension: int) -> list[Row]:
    name, sent, _ = _index_search(db, statement, values, limit=limit, dimension=dimension)
    return db.run(name, sent, dimension=dimension)


def _index_search(db: _Session, statement: str, values: Mapping[str, Any], *, limit: int, dimension: int) -> Statement:
    """Return the statement of an index search, after setting the size of its scan."""
    candidates = min(max(2 * limit, MIN_EF_SEARCH), MAX_EF_SEARCH)
    db.set_index_scan(candidates=candidates)
    return Statement(statement, {**values, "limit": limit, "looks": max(candidates, limit)}, dimension)


def _with_sample(
    db: _Session, namespace: Namespace, vector: Vector, hits: tuple[Hit, ...], *, model: int, total: int
) -> Ranking:
    """Return a ranking whose mean and deviation are those of a sample."""
    mean, deviation = _sample(db, namespace, model=model, total=total).estimate(vector)
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=total)


def _sample(db: _Session, namespace: Namespace, *, model: int, total: int) -> CosineSample:
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
        found = np.array([db.unpack(vector) for (vector,) in rows], dtype=np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)  # rounding to float16 changes the length
        sample = summarise(found)
        db.samples[namespace, model] = (total, sample)
    return sample


def _with_statistics(rows: list[Row]) -> Ranking:
    """Return the ranking of rows that contain the mean, the mean square and the number of all cosines."""
    if not rows:
        return Ranking()
    _, _, mean, squares, count = rows[0]
    deviation = math.sqrt(max(0.0, squares - mean * mean))
    hits = tuple(Hit(id, rank, score) for rank, (id, score, *_) in enumerate(rows, start=1))
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=count)
