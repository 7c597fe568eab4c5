"""
What is newer than an index, kept in memory: read once, and then only what has been added since.

Like an index, a tail can hold too much but nothing wrong: who asks looks in the file which rows are still there.
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
from weft.store.relational.json_columns import read_object
from weft.store.relational.session import Row, Session
from weft.store.sqlite.index.chunk_ids import pack_ids
from weft.store.sqlite.index.maxscore import Ranked
from weft.store.sqlite.index.targets import Target, count_rows, last_number, read_rows

MOST = 16_384
"""Rows up to which a tail is kept; with more, the file is searched as if there were no index."""


class _Rows(Protocol):
    def add(self, rows: list[Row]) -> None: ...


Held = TypeVar("Held", bound=_Rows)


class Tail(Generic[Held]):
    """The rows of a target above the last number that its index covers."""

    def __init__(self, target: Target, held: Held, *, low: int) -> None:
        self._target = target
        self._held = held
        self._read = low
        self._count = 0
        self._lock = threading.Lock()

    def read(self, db: Session) -> Held | None:
        """Return all rows that a transaction can see, and maybe more; None where there are too many."""
        last = last_number(db, self._target)
        if last <= self._read:
            return self._held
        with self._lock:
            if self._count + count_rows(db, self._target, low=self._read, high=last) > MOST:
                return None
            rows = read_rows(db, self._target, low=self._read, high=last, limit=MOST)
            if rows:
                self._held.add(rows)
                self._count += len(rows)
            self._read = max(self._read, last)
        return self._held


class VectorTail:
    """Vectors by number."""

    def __init__(self, dimension: int) -> None:
        self._state = np.zeros(0, np.int64), np.zeros((0, dimension), np.float32)
        self._ids: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._state[0])

    def add(self, rows: list[Row]) -> None:
        numbers, matrix = self._state
        new = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1)
        more = np.array([row[0] for row in rows], np.int64)
        self._ids |= {row[0]: row[2] for row in rows}
        self._state = np.concatenate([numbers, more]), np.concatenate([matrix, new])

    def look(self, vector: Vector, *, looks: int) -> dict[int, str]:
        """Return the numbers of the nearest with the ids of their chunks, or keys of entities, in no order."""
        numbers, matrix = self._state
        if len(numbers) > looks:
            cosines = np.einsum("ij,j->i", matrix, vector.astype(np.float32))
            numbers = numbers[np.argpartition(cosines, len(cosines) - looks)[len(cosines) - looks :]]
        return {number: self._ids[number] for number in numbers.tolist()}


class TermTail:
    """Postings by term: places of chunks, and how often they hold it."""

    def __init__(self) -> None:
        self._places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._frequencies: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._numbers, self._lengths = array("q"), array("I")
        self._ids: list[str] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, rows: list[Row]) -> None:
        with self._lock:
            for number, text, length, id in rows:
                for term, frequency in read_object(text, what=f"the terms of chunk {id!r}").items():
                    self._places[term].append(len(self._numbers))
                    self._frequencies[term].append(min(frequency, 255))
                self._numbers.append(number)
                self._lengths.append(min(length, 65_535))
                self._ids.append(id)

    def rank(self, weights: Mapping[str, float], *, mean_length: float, allowed: NDArray[np.int64] | None) -> Ranked:
        """Return all chunks that hold a term, with their scores, added up in the order of the terms."""
        if not self._numbers:
            return Ranked(np.zeros(0, np.int64), pack_ids([]), np.zeros(0))
        with self._lock:
            numbers, lengths = np.array(self._numbers), np.array(self._lengths)
            scores = np.zeros(len(numbers))
            for term, weight in weights.items():
                if term in self._places:
                    places = np.array(self._places[term])
                    frequency = np.array(self._frequencies[term], dtype=np.float64)
                    length = lengths[places].astype(np.float64)
                    scores[places] += term_scores(frequency, length, weight=weight, mean_length=mean_length)
        if allowed is not None:
            scores[~np.isin(numbers, allowed)] = 0.0
        held = (scores > 0).nonzero()[0]
        return Ranked(numbers[held], pack_ids([self._ids[place] for place in held]), scores[held])
