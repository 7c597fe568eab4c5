"""
Exact vector search in a SQLite file.

Vectors of chunks are compared with numpy, in batches. Vectors of facts are compared with sqlite-vec, or with numpy if
sqlite-vec cannot be loaded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Ranking, Vector
from weft.store.relational.session import Namespace, Row, Session
from weft.store.shared.blobs import compare_vectors, read_matrix
from weft.store.sqlite.candidates import allowed_chunks, rank_numbers

SCAN_BATCH_VECTORS = 4096
"""Number of vectors that a scan converts and compares at once: 6 MB of float32 at 384 dimensions."""

MIN_COMPARED_ENTITIES = 2048
"""
Number of fact entities with the most similar sign bits whose vectors are compared; all if there are fewer.

Of 2,500 titles under granite-30m, the nearest three above the threshold had at worst rank 175 by sign bits.
"""


def search(db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
    """Rank the chunks that pass a filter by cosine, comparing all vectors."""
    allowed = allowed_chunks(db, namespace, where)
    chunks, cosines = _compare(db.stream("all_vectors", {"model": model}), vector)
    if not len(chunks):
        return Ranking()
    mean, deviation = float(cosines.mean()), float(cosines.std())
    total = len(cosines)
    if allowed is not None:
        chosen = np.isin(chunks, np.fromiter(allowed, np.int64, len(allowed)))
        chunks, cosines = chunks[chosen], cosines[chosen]
    hits = rank_numbers(db, namespace, chunks, cosines, limit=limit)
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=total)


def search_chunks(
    db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, chunks: Collection[int]
) -> list[tuple[str, float]]:
    """Return the nearest of given chunks, by number, with their cosines; ties by id."""
    rows = db.stream("chunk_vectors", {"model": model, "numbers": json.dumps(sorted(chunks))})
    numbers, cosines = _compare(rows, vector)
    return [(hit.chunk_id, hit.score) for hit in rank_numbers(db, namespace, numbers, cosines, limit=limit)]


def _compare(rows: Iterator[Row], vector: Vector) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the chunk numbers of rows and the cosines of their vectors. Memory does not grow with the vectors."""
    numbers, cosines = [np.zeros(0, np.int64)], [np.zeros(0)]
    while part := list(islice(rows, SCAN_BATCH_VECTORS)):
        numbers.append(np.array([row[0] for row in part], np.int64))  # hot loop
        matrix = read_matrix([row[1] for row in part], dimension=len(vector))
        cosines.append(compare_vectors(matrix, vector))
    return np.concatenate(numbers), np.concatenate(cosines)


def search_facts(
    db: Session, vector: Vector, *, model: int, limit: int, at: int | None = None, exact: bool = False
) -> list[tuple[str, float]]:
    """
    Return the keys of the nearest fact entities with their cosines; ties by key. Sign bits preselect the candidates.

    With a time `at`, return the ids of the nearest facts valid then; ties by id. `exact` works without sqlite-vec.
    """
    values: dict[str, Any] = {"model": model} if at is None else {"model": model, "at": at}
    if exact:
        rows = db.run("all_fact_vectors" if at is None else "valid_fact_text_vectors", values)
        scores = sorted((-float(db.vectors.unpack(other) @ vector), id) for id, other in rows)
        return [(id, -score) for score, id in scores[:limit]]
    values |= {"vector": db.vectors.pack(vector), "limit": limit}
    values |= {"sketch": db.vectors.sketch(vector), "looks": max(MIN_COMPARED_ENTITIES, limit)}
    return [(id, score) for id, score in db.run("search_fact_vectors" if at is None else "search_fact_texts", values)]
