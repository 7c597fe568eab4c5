"""Ranks by cosine in a SQLite file: by sqlite-vec, or by numpy where that cannot be loaded."""

from __future__ import annotations

import json
import math

import numpy as np

from weft.records import Filter, Hit, Ranking, Vector
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.blobs import read_matrix
from weft.store.sqlite.candidates import allowed_chunks, best_chunks

LOOKS = 2048
"""
Entities whose sketch is closest to a question's, and whose vectors are compared; with fewer, all are.

Of 2,500 titles under granite-30m, those above the floor among the closest three stood at place 175 at worst.
"""


def search(db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
    """Rank chunks by a statement that compares all vectors."""
    allowed = allowed_chunks(db, namespace, where)
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
    chosen = {"everything": allowed is None, "numbers": json.dumps(sorted(allowed or ()))}
    rows = db.run("search_vector", {**values, **chosen})
    if not rows:
        return Ranking()
    _, _, mean, squares, count = rows[0]
    deviation = math.sqrt(max(0.0, squares - mean * mean))
    hits = tuple(Hit(row[0], rank, row[1]) for rank, row in enumerate(rows, start=1))
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=count)


def search_with_numpy(
    db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter
) -> Ranking:
    """Do the same without sqlite-vec."""
    allowed = allowed_chunks(db, namespace, where)
    rows = db.run("all_vectors", {"model": model})
    if not rows:
        return Ranking()
    matrix = read_matrix([row[1] for row in rows], dimension=len(vector))
    cosines = (matrix @ vector.astype(np.float32)).astype(np.float64)
    scores = np.full(max(row[0] for row in rows) + 1, -2.0)
    for (number, _), cosine in zip(rows, cosines.tolist(), strict=True):
        if allowed is None or number in allowed:
            scores[number] = cosine
    hits = best_chunks(db, namespace, scores, limit=limit, least=-2.0)
    return Ranking(hits=hits, mean=float(cosines.mean()), deviation=float(cosines.std()), count=len(rows))


def search_facts(db: Session, vector: Vector, *, model: int, limit: int) -> list[tuple[str, float]]:
    """Rank entities of facts: sketches choose whom to look at."""
    chosen = {"sketch": db.sketch(vector), "looks": max(LOOKS, limit)}
    rows = db.run("search_fact_vectors", {"model": model, "vector": db.pack(vector), "limit": limit, **chosen})
    return [(key, score) for key, score in rows]


def search_facts_with_numpy(db: Session, vector: Vector, *, model: int, limit: int) -> list[tuple[str, float]]:
    """Do the same without sqlite-vec."""
    rows = db.run("all_fact_vectors", {"model": model})
    scores = [(key, float(db.unpack(other) @ vector)) for key, other in rows]
    return sorted(scores, key=lambda item: (-item[1], item[0]))[:limit]
