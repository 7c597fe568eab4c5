"""
Vectors of namespaces that are too small for an index, kept in memory: all are compared, in about a millisecond.

What is kept is what one state of the file holds. A question that sees another state has it brought up to date first,
which reads the vectors that are new and the numbers of the others.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Ranking, Vector
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.blobs import read_matrix
from weft.store.sqlite.candidates import allowed_chunks, rank_numbers

LARGEST = 20_000
"""Chunks of a namespace up to which its vectors are kept."""

MOST = 1 << 27
"""Bytes of vectors that are kept; those of namespaces that were not asked for long go first."""


@dataclass(frozen=True, slots=True)
class _Held:
    stamp: tuple[int, int]
    numbers: NDArray[np.int64]
    chunks: NDArray[np.int64]
    """Of each vector: its number, ascending, and that of its chunk."""
    matrix: NDArray[np.float32]


class HeldVectors:
    """The vectors of each embedder of each namespace."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _Held] = OrderedDict()
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
    ) -> Ranking:
        """Rank the chunks that pass a filter by cosine."""
        held = self._read(db, model=model, dimension=len(vector), generation=generation)
        if not len(held.numbers):
            return Ranking()
        # Not by `@`: its threads wait for each other longer than this takes.
        cosines = np.einsum("ij,j->i", held.matrix, vector.astype(np.float32)).astype(np.float64)
        chunks, scores = held.chunks, cosines
        allowed = allowed_chunks(db, namespace, where)
        if allowed is not None:
            chosen = np.isin(chunks, np.fromiter(allowed, np.int64, len(allowed)))
            chunks, scores = chunks[chosen], cosines[chosen]
        hits = rank_numbers(db, namespace, chunks, scores, limit=limit)
        return Ranking(hits=hits, mean=float(cosines.mean()), deviation=float(cosines.std()), count=len(cosines))

    def forget(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._known.clear()

    def _read(self, db: Session, *, model: int, dimension: int, generation: int) -> _Held:
        """Return what the transaction sees. The number of an embedder that is gone may be that of another by now."""
        stamp = generation, int(db.one("last_vectors", {"scope": model}))
        with self._lock:
            known = self._known.get(model)
            if known is None or known.stamp != stamp:
                if known is None or not len(known.numbers) or known.matrix.shape[1] != dimension:
                    known = _read(db, stamp, model=model, dimension=dimension, after=0)
                else:
                    known = _extend(db, known, stamp, model=model) or _update(db, known, stamp, model=model)
                self._known[model] = known
            self._known.move_to_end(model)
            while len(self._known) > 1 and sum(one.matrix.nbytes for one in self._known.values()) > MOST:
                self._known.popitem(last=False)
        return known


def _read(db: Session, stamp: tuple[int, int], *, model: int, dimension: int, after: int) -> _Held:
    """Return the vectors with numbers after one."""
    rows = db.run("vectors_after", {"model": model, "after": after})
    numbers, chunks = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
    matrix = read_matrix([row[2] for row in rows], dimension=dimension)
    return _Held(stamp, numbers, chunks, matrix)


def _extend(db: Session, known: _Held, stamp: tuple[int, int], *, model: int) -> _Held | None:
    """Return what is known with what is newer; None where something is gone, or not yet there for this transaction."""
    if stamp[1] < known.stamp[1]:
        return None
    new = _read(db, stamp, model=model, dimension=known.matrix.shape[1], after=known.stamp[1])
    if len(known.numbers) + len(new.numbers) != db.one("count_vectors", {"model": model}):
        return None
    if not len(new.numbers):
        return _Held(stamp, known.numbers, known.chunks, known.matrix)
    numbers, chunks = np.concatenate([known.numbers, new.numbers]), np.concatenate([known.chunks, new.chunks])
    return _Held(stamp, numbers, chunks, np.concatenate([known.matrix, new.matrix]))


def _update(db: Session, known: _Held, stamp: tuple[int, int], *, model: int) -> _Held:
    """A vector never changes under its number, so that what is known of it stays true."""
    rows: NDArray[Any] = np.array(db.run("vector_chunks", {"model": model}), dtype=np.int64).reshape(-1, 2)
    numbers, chunks = rows[np.argsort(rows[:, 0])].T
    stays = np.isin(known.numbers, numbers, assume_unique=True)
    missing = np.setdiff1d(numbers, known.numbers, assume_unique=True)
    read = db.run("vectors_at", {"numbers": json.dumps(missing.tolist())}) if len(missing) else []
    together = np.concatenate([known.numbers[stays], np.array([row[0] for row in read], np.int64)])
    added = read_matrix([row[2] for row in read], dimension=known.matrix.shape[1])
    matrix = np.concatenate([known.matrix[stays], added])
    order = np.argsort(together)
    return _Held(stamp, numbers, chunks, matrix[order] if np.any(np.diff(order) < 0) else matrix)
