"""Exact vector search in a SQLite file: with sqlite-vec, or with numpy if sqlite-vec cannot be loaded."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from weft.records import Filter, Hit, Ranking, Vector
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.blobs import read_matrix
from weft.store.sqlite.candidates import allowed_chunks, best_chunks

MIN_COMPARED_ENTITIES = 2048
"""
Number of fact entities with the most similar sign bits whose vectors are compared; all if there are fewer.

Of 2,500 titles under granite-30m, the nearest three above the threshold had at worst rank 175 by sign bits.
"""


def search(db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
    """Rank the chunks that pass a filter by cosine, with a statement that compares all vectors."""
    allowed = allowed_chunks(db, namespace, where)
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
    chosen = {"everything": allowed is None, "numbers": json.dumps(sorted(allowed or ()))}
    rows = db.run("search_vector", {**values, **chosen})
    if not rows:
        return Ranking()
    _, _, mean, squares, count = rows[0]
    deviation = math.sqrt(max(0.0, squares - mean * mean))
    hits = tuple(Hit(id, rank, score) for rank, (id, score, *_) in enumerate(rows, start=1))
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=count)


def search_with_numpy(
    db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter
) -> Ranking:
    """Rank the chunks that pass a filter by cosine, without sqlite-vec."""
    allowed = allowed_chunks(db, namespace, where)
    rows = db.run("all_vectors", {"model": model})
    if not rows:
        return Ranking()
    matrix = read_matrix([blob for _, blob in rows], dimension=len(vector))
    cosines = (matrix @ vector.astype(np.float32)).astype(np.float64)
    scores = np.full(max(number for number, _ in rows) + 1, -2.0)
    for (number, _), cosine in zip(rows, cosines.tolist(), strict=True):
        if allowed is None or number in allowed:
            scores[number] = cosine
    hits = best_chunks(db, namespace, scores, limit=limit, least=-2.0)
    return Ranking(hits=hits, mean=float(cosines.mean()), deviation=float(cosines.std()), count=len(rows))


def search_facts(db: Session, vector: Vector, *, model: int, limit: int) -> list[tuple[str, float]]:
    """Return the keys of the nearest fact entities with their cosines; sign bits preselect the candidates."""
    preselection = {"sketch": db.sketch(vector), "looks": max(MIN_COMPARED_ENTITIES, limit)}
    rows = db.run("search_fact_vectors", {"model": model, "vector": db.pack(vector), "limit": limit, **preselection})
    return [(key, score) for key, score in rows]


def search_facts_with_numpy(db: Session, vector: Vector, *, model: int, limit: int) -> list[tuple[str, float]]:
    """Return the keys of the nearest fact entities with their cosines, without sqlite-vec; ties by key."""
    rows = db.run("all_fact_vectors", {"model": model})
    scores = sorted((-float(db.unpack(other) @ vector), key) for key, other in rows)
    return [(key, -score) for score, key in scores[:limit]]


def search_fact_texts(
    db: Session, vector: Vector, *, model: int, at: int, limit: int, exact: bool
) -> list[tuple[str, float]]:
    """Return the ids of the nearest facts valid at a time, with their cosines; `exact` works without sqlite-vec."""
    values: dict[str, Any] = {"model": model, "at": at}
    if exact:
        rows = db.run("valid_fact_text_vectors", values)
        scores = sorted((-float(db.unpack(other) @ vector), id) for id, other in rows)
        return [(id, -score) for score, id in scores[:limit]]
    values |= {"vector": db.pack(vector), "limit": limit}
    values |= {"sketch": db.sketch(vector), "looks": max(MIN_COMPARED_ENTITIES, limit)}
    return [(id, score) for id, score in db.run("search_fact_texts", values)]
