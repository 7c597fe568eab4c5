"""
Resident vectors: namespaces without an index keep all vectors in memory and compare each with the query.

A matrix belongs to one state of the file. A query that sees another state updates it first, with one statement that
reads new vectors. Only after a deletion are the numbers of the others read:

    resident     numbers 1 2 3 4      stamp: generation 7, last number 4
    file now     numbers 1 2   4 5    stamp: generation 9, last number 5
    `_extend`    vectors above 4: 1 new, but 4 + 1 != 4 rows in the file, so a row was deleted
    `_update`    reads the numbers 1 2 4 5, drops 3
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Ranking, Vector
from weft.store.relational.session import Namespace, Row, Session
from weft.store.shared.blobs import compare_vectors, read_matrix
from weft.store.sqlite.candidates import allowed_chunks, rank_numbers

MAX_RESIDENT_CHUNKS = 20_000
"""Maximum number of chunks of a namespace with resident vectors; larger namespaces have an index."""

MAX_RESIDENT_BYTES = 1 << 27
"""Maximum size of all matrices; the least recently used are dropped."""


@dataclass(frozen=True)
class ResidentMatrix:
    """The vectors of an embedder in one state of the file."""

    stamp: tuple[int, int]
    """Generation of the namespace, and the highest number of a vector."""
    numbers: NDArray[np.int64]
    """Number of each vector, ascending."""
    chunks: NDArray[np.int64]
    """Chunk number of each vector."""
    ids: NDArray[np.object_]
    """Id of the chunk of each vector."""
    matrix: NDArray[np.float32]

    def find_ids(self, chunks: Sequence[int]) -> dict[int, str]:
        """Return the ids of chunks by number; chunks without a vector are left out."""
        numbers, places = self._by_chunk
        wanted = np.array(chunks, np.int64)
        at = places.take(numbers.searchsorted(wanted), mode="clip")
        found = zip(chunks, self.chunks[at].tolist(), self.ids[at].tolist(), strict=True)
        return {chunk: id for chunk, known, id in found if chunk == known}

    @cached_property
    def _by_chunk(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Chunk numbers, ascending, and the place of each."""
        order = self.chunks.argsort(kind="stable")
        return self.chunks[order], order


@dataclass(frozen=True)
class ComparedVectors:
    """The vectors of an embedder, compared with one question."""

    resident: ResidentMatrix
    vector: Vector
    cosines: NDArray[np.float64]
    mean: float
    deviation: float


_NOTHING = ResidentMatrix(
    (-1, 0), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.object_), np.zeros((0, 0), np.float32)
)
"""Stands for vectors that were not read yet."""


class ResidentVectors:
    """Vectors in memory, by embedder; an embedder belongs to one namespace."""

    def __init__(self) -> None:
        self._by_model: OrderedDict[int, ResidentMatrix] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self,
        db: Session,
        namespace: Namespace,
        vector: Vector,
        *,
        model: int,
        limit: int,
        where: Filter,
        generation: int,
        kept: dict[int, ComparedVectors] | None = None,
    ) -> Ranking:
        """
        Rank the chunks that pass a filter by cosine.

        `kept` is what the transaction has seen, by model: the same question is compared once, with any filter.
        """
        known = kept.get(model) if kept else None
        resident = known.resident if known else None
        if resident is None:
            resident = self._current(db, namespace, model=model, dimension=len(vector), generation=generation)
        if not len(resident.numbers):
            return Ranking()
        if known is None or not np.array_equal(known.vector, vector):
            cosines = compare_vectors(resident.matrix, vector)
            known = ComparedVectors(resident, vector, cosines, float(cosines.mean()), float(cosines.std()))
        if kept is not None:
            kept[model] = known
        db.chunk_ids.know(resident.find_ids)
        chunks, scores = resident.chunks, known.cosines
        allowed = allowed_chunks(db, namespace, where)
        if allowed is not None:
            chosen = np.isin(chunks, np.fromiter(allowed, np.int64, len(allowed)))
            chunks, scores = chunks[chosen], scores[chosen]
        hits = rank_numbers(db, namespace, chunks, scores, limit=limit)
        return Ranking(hits=hits, mean=known.mean, deviation=known.deviation, count=len(known.cosines))

    def clear(self) -> None:
        """Drop all vectors."""
        with self._lock:
            self._by_model.clear()

    def _current(
        self, db: Session, namespace: Namespace, *, model: int, dimension: int, generation: int
    ) -> ResidentMatrix:
        """Return the vectors that the transaction sees. The number of a deleted embedder may be reused."""
        with self._lock:
            known = self._by_model.get(model)
            if known is None or not len(known.numbers) or known.matrix.shape[1] != dimension:
                known = _NOTHING
            is_changed = known.stamp[0] != generation  # rows may have been deleted
            values = {"model": model, "after": known.stamp[1], "counted": is_changed and known is not _NOTHING}
            rows = db.run("vectors_after", values)
            stamp = generation, int(rows[0][0])
            if known.stamp != stamp:
                known = _extend(known, stamp, rows, dimension=dimension) or _update(
                    db, namespace, known, stamp, model=model
                )
                self._by_model[model] = known
            self._by_model.move_to_end(model)
            while len(self._by_model) > 1 and self._bytes() > MAX_RESIDENT_BYTES:
                self._by_model.popitem(last=False)
        return known

    def _bytes(self) -> int:
        return sum(resident.matrix.nbytes for resident in self._by_model.values())


def _extend(
    known: ResidentMatrix, stamp: tuple[int, int], rows: Sequence[Row], *, dimension: int
) -> ResidentMatrix | None:
    """Return the known vectors and those of `rows`; None if known ones are not in the transaction's state."""
    last, total = rows[0][:2]
    new = rows if rows[0][2] is not None else []
    if last < known.stamp[1] or (total is not None and len(known.numbers) + len(new) != total):
        return None
    if not new:
        return replace(known, stamp=stamp)
    numbers, chunks = (np.array([row[place] for row in new], np.int64) for place in (2, 3))  # hot loop
    ids = np.array([row[4] for row in new], np.object_)
    matrix = read_matrix([row[5] for row in new], dimension=dimension)  # hot loop
    if known is _NOTHING:
        return ResidentMatrix(stamp, numbers, chunks, ids, matrix)
    return ResidentMatrix(
        stamp,
        np.concatenate([known.numbers, numbers]),
        np.concatenate([known.chunks, chunks]),
        np.concatenate([known.ids, ids]),
        np.concatenate([known.matrix, matrix]),
    )


def _update(
    db: Session, namespace: Namespace, known: ResidentMatrix, stamp: tuple[int, int], *, model: int
) -> ResidentMatrix:
    """Return the vectors of any other state. A vector never changes under its number, so known ones are reused."""
    rows: NDArray[Any] = np.array(db.run("vector_chunks", {"model": model}), dtype=np.int64).reshape(-1, 2)
    numbers, chunks = rows[np.argsort(rows[:, 0])].T
    is_kept = np.isin(known.numbers, numbers, assume_unique=True)
    is_new = ~np.isin(numbers, known.numbers, assume_unique=True)
    ids, matrix = np.empty(len(numbers), np.object_), np.empty((len(numbers), known.matrix.shape[1]), np.float32)
    ids[~is_new], matrix[~is_new] = known.ids[is_kept], known.matrix[is_kept]
    if is_new.any():
        added = chunks[is_new].tolist()
        found = db.chunk_ids.find(namespace, added)
        vectors = {
            number: vector
            for number, _, vector in db.run("vectors_at", {"numbers": json.dumps(numbers[is_new].tolist())})
        }
        ids[is_new] = [found[chunk] for chunk in added]
        matrix[is_new] = read_matrix(
            [vectors[number] for number in numbers[is_new].tolist()], dimension=matrix.shape[1]
        )
    return ResidentMatrix(stamp, numbers, chunks, ids, matrix)
