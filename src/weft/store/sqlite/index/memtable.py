"""
In-memory buffer of rows not yet indexed (memtable).

It contains the rows of a target above the highest number of its segments. Each query adds the rows committed since the
last one, so a row is read once. All threads of a process share it:

    file        ... 140498 140499 140500 | 140501 140502 140503      140502 deleted since
    segments    ... ------------- high ' |
    memtable                               140501 140502
    query                                  reads 140503, ranks three rows, the file drops 140502

A memtable may contain rows that a transaction does not see: deleted ones, and newer ones that another thread has read.
The caller looks the candidates up in the file, so neither reaches a result.
"""

from __future__ import annotations

import threading
from array import array
from collections import defaultdict
from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import term_scores
from weft.records import Vector
from weft.store.index_files.chunk_ids import pack_ids
from weft.store.index_files.maxscore import RankedChunks
from weft.store.relational.json_columns import read_object
from weft.store.relational.session import Row, Session
from weft.store.shared.blobs import read_matrix
from weft.store.sqlite.index.targets import Target, count_rows, last_number, read_rows

MAX_MEMTABLE_ROWS = 16_384
"""Maximum number of rows of a memtable; with more unindexed rows, the file is scanned instead."""


class _Rows(Protocol):
    def add(self, rows: list[Row]) -> None: ...


Rows = TypeVar("Rows", bound=_Rows)


class Memtable(Generic[Rows]):
    """Rows of a target above the highest number that its segments cover."""

    def __init__(self, target: Target, rows: Rows, *, low: int) -> None:
        self._target = target
        self._rows = rows
        self._high = low
        """Highest number that was read."""
        self._count = 0
        self._lock = threading.Lock()

    def read(self, db: Session) -> Rows | None:
        """Return at least all rows that a transaction sees; None if there are more than `MAX_MEMTABLE_ROWS`."""
        last = last_number(db, self._target)
        if last <= self._high:
            return self._rows
        with self._lock:
            if self._count + count_rows(db, self._target, low=self._high, high=last) > MAX_MEMTABLE_ROWS:
                return None
            rows = read_rows(db, self._target, low=self._high, high=last, limit=MAX_MEMTABLE_ROWS)
            if rows:
                self._rows.add(rows)
                self._count += len(rows)
            self._high = max(self._high, last)
        return self._rows


class VectorRows:
    """Vectors by number."""

    def __init__(self, target: Target) -> None:
        self._dtype = target.dtype
        self._state = np.zeros(0, np.int64), np.zeros((0, target.dimension), np.float32)
        """Numbers and matrix. Both are replaced together, so readers need no lock."""
        self._ids: dict[int, str] = {}

    def __len__(self) -> int:
        numbers, _ = self._state
        return len(numbers)

    def add(self, rows: list[Row]) -> None:
        """Add rows of number, vector and id."""
        numbers, matrix = self._state
        vectors = read_matrix([row[1] for row in rows], dimension=matrix.shape[1], dtype=self._dtype)  # hot loop
        added = np.array([row[0] for row in rows], np.int64)  # hot loop
        self._ids |= {number: id for number, _, id in rows}
        self._state = np.concatenate([numbers, added]), np.concatenate([matrix, vectors])

    def nearest(self, vector: Vector, *, count: int) -> dict[int, str]:
        """Return the numbers of the nearest vectors with their chunk ids or entity keys, unordered."""
        numbers, matrix = self._state
        if len(numbers) > count:
            cosines = np.einsum("ij,j->i", matrix, vector.astype(np.float32))
            numbers = numbers[np.argpartition(cosines, len(cosines) - count)[len(cosines) - count :]]
        return {number: self._ids[number] for number in numbers.tolist()}


class TermRows:
    """Postings by term: places of chunks in this memtable, and frequencies."""

    def __init__(self) -> None:
        self._places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._frequencies: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._numbers, self._lengths = array("q"), array("I")
        self._ids: list[str] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, rows: list[Row]) -> None:
        """Add rows of number, terms as JSON, length and chunk id."""
        with self._lock:
            for number, text, length, id in rows:
                for term, frequency in read_object(text, what=f"the terms of chunk {id!r}").items():
                    self._places[term].append(len(self._numbers))
                    self._frequencies[term].append(min(frequency, 255))
                self._numbers.append(number)
                self._lengths.append(min(length, 65_535))
                self._ids.append(id)

    def rank(
        self, weights: Mapping[str, float], *, mean_length: float, allowed: NDArray[np.int64] | None
    ) -> RankedChunks:
        """Return all chunks that contain a term, with BM25 scores summed in the order of the terms."""
        if not self._numbers:
            has = np.zeros((0, -(-len(weights) // 8)), dtype=np.uint8)
            return RankedChunks(np.zeros(0, np.int64), pack_ids([]), np.zeros(0), has)
        with self._lock:
            numbers, lengths = np.array(self._numbers), np.array(self._lengths)
            scores, has = np.zeros(len(numbers)), np.zeros((len(numbers), len(weights)), dtype=bool)
            for row, (term, weight) in enumerate(weights.items()):
                if term in self._places:
                    places = np.array(self._places[term])
                    has[places, row] = True
                    frequency = np.array(self._frequencies[term], dtype=np.float64)
                    length = lengths[places].astype(np.float64)
                    scores[places] += term_scores(frequency, length, weight=weight, mean_length=mean_length)
        if allowed is not None:
            scores[~np.isin(numbers, allowed)] = 0.0
        matching = (scores > 0).nonzero()[0]
        ids = pack_ids([self._ids[place] for place in matching])
        return RankedChunks(numbers[matching], ids, scores[matching], np.packbits(has[matching], axis=1))
