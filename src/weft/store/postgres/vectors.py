"""
Ranks by cosine: small namespaces by comparing every vector, large ones by an index over half vectors.

An index shared by many namespaces finds nothing of a small one among the others' vectors, so a small one never uses it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Hit, Ranking, Vector
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Row, Session

EXACT = 20_000
"""Chunks of a namespace up to which every vector is compared."""

SAMPLED = 2_000
"""Vectors of a large namespace from which the mean and the deviation of cosines are taken."""

MAX_INDEXED = 4_000
"""Dimensions up to which there can be an index over half vectors."""

Samples = dict[tuple[Namespace, int], tuple[int, NDArray[np.float32]]]
"""By namespace and embedder: how many chunks there were, and the vectors that were taken."""


class _Session(Session, Protocol):
    samples: Samples

    def run(self, name: str, values: Mapping[str, Any] = ..., *, dimension: int = 0) -> list[Row]: ...

    def set_local(self, name: str, value: str) -> None: ...


def search(db: _Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
    """Rank the chunks that pass a filter."""
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
    chosen = [row[0] for row in db.run("filter_chunks", {"namespace": namespace, **bind(where)})] if where else []
    total = db.run("find_namespace", {"name": namespace})[0][2]
    if total <= EXACT or len(vector) > MAX_INDEXED:
        rows = db.run("search_vector", {**values, "everything": not where, "numbers": json.dumps(chosen)})
        return _with_spread(rows)
    if where and len(chosen) <= EXACT:
        rows = db.run("search_vector_among", {**values, "numbers": json.dumps(chosen)})
    else:
        rows = _by_index(
            db, "search_vector_index", values, limit=limit * (1 if not where else 20), dimension=len(vector)
        )
        if where:
            allowed = {id for _, id in db.run("chunk_ids", {"namespace": namespace, "numbers": json.dumps(chosen)})}
            rows = [row for row in rows if row[0] in allowed][:limit]
    cosines = _sample(db, namespace, model=model, total=total) @ vector.astype(np.float32)
    hits = tuple(Hit(row[0], rank, row[1]) for rank, row in enumerate(rows, start=1))
    return Ranking(hits=hits, mean=float(cosines.mean()), deviation=float(cosines.std()), count=total)


def describe(db: _Session, namespace: Namespace) -> str:
    """Return what answers questions by vectors."""
    total = db.run("find_namespace", {"name": namespace})[0][2]
    return "exact" if total <= EXACT else "index of the server"


def describe_facts(db: _Session, namespace: Namespace) -> str:
    """Return what finds the entities of facts."""
    entities = db.run("count_facts", {"namespace": namespace})[0][1]
    return "exact" if entities <= EXACT else "index of the server"


def search_facts(
    db: _Session, namespace: Namespace, vector: Vector, *, model: int, limit: int
) -> list[tuple[str, float]]:
    """Rank the entities of facts."""
    values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
    entities = db.run("count_facts", {"namespace": namespace})[0][1]
    if entities <= EXACT or len(vector) > MAX_INDEXED:
        return [(key, score) for key, score in db.run("search_fact_vectors", values)]
    rows = _by_index(db, "search_fact_vectors_index", values, limit=limit, dimension=len(vector))
    return [(key, score) for key, score in rows]


def _by_index(db: _Session, name: str, values: Mapping[str, Any], *, limit: int, dimension: int) -> list[Row]:
    looks = min(max(2 * limit, 100), 1000)
    db.set_local("hnsw.ef_search", str(looks))
    db.set_local("hnsw.iterative_scan", "'relaxed_order'")
    db.set_local("hnsw.max_scan_tuples", "200000")
    return db.run(name, {**values, "limit": limit, "looks": max(looks, limit)}, dimension=dimension)


def _sample(db: _Session, namespace: Namespace, *, model: int, total: int) -> NDArray[np.float32]:
    """Return vectors from all over a namespace, taken again when it has grown or shrunk by a tenth."""
    known = db.samples.get((namespace, model))
    if known is None or abs(known[0] - total) > known[0] / 10:
        values = {"namespace": namespace, "model": model, "every": max(1, total // SAMPLED), "limit": 2 * SAMPLED}
        rows = db.run("sample_vectors", values)
        known = (total, np.array([db.unpack(row[0]) for row in rows], dtype=np.float32))
        db.samples[namespace, model] = known
    return known[1]


def _with_spread(rows: list[Row]) -> Ranking:
    if not rows:
        return Ranking()
    _, _, mean, squares, count = rows[0]
    deviation = math.sqrt(max(0.0, squares - mean * mean))
    hits = tuple(Hit(row[0], rank, row[1]) for rank, row in enumerate(rows, start=1))
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=count)
