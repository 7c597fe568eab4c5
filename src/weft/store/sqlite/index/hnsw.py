"""Segments of vectors: graphs of usearch, in which neighbours are found in about the same time at any size."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector
from weft.store.sqlite.index.chunk_ids import ChunkNames, unpack_ids

LOOKS = 120
"""Vectors that a search keeps in view at least."""

SHARE = 64
"""Vectors that each of several segments is asked for at least."""

LINKS, TRIED = 16, 128
"""Links of a vector to others, and how many are looked at to choose them."""

EARLY = 8
"""One vector in so many is put in before the others."""

AT_ONCE, COMPARED = 256, 8_192
"""Vectors that are put in without a break, and those that are compared so."""


class Neighbours:
    """The segments of an index, mapped into memory."""

    def __init__(self, files: Sequence[Sequence[Path]]) -> None:
        """
        Open the graph of each segment, and the file of the ids of its chunks where it has one.

        Raises `OSError`, `RuntimeError` or `ValueError` where one cannot be read.
        """
        self._paths = [path for path, *_ in files]
        self._names = [ChunkNames(path) for _, *names in files for path in names]
        self._free = [self._open()]
        self._lock = threading.Lock()

    def look(self, vector: Vector, *, looks: int) -> dict[int, str]:
        """
        Return the numbers of the nearest vectors of all segments, in no order, with the ids of their chunks.

        Raises `ValueError` where a file of ids is damaged.
        """
        indexes = self._take()
        try:
            numbers, distances = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
            # Each of several holds a part of the nearest: twice its share is enough. Where it holds all, they begin so.
            wanted = min(looks, max(SHARE, 2 * looks // max(1, len(indexes))))
            for index in indexes:
                index.expansion_search = max(LOOKS, wanted)
                matches = index.search(vector.astype(np.float32), wanted, threads=1)
                numbers.append(matches.keys.astype(np.int64))
                distances.append(matches.distances)
        finally:
            with self._lock:
                self._free.append(indexes)
        ids = [names.find(found) for names, found in zip(self._names, numbers[1:], strict=False)]
        together = np.concatenate(numbers)
        chosen: Any = slice(None)
        if len(together) > looks:
            chosen = np.argpartition(np.concatenate(distances), looks - 1)[:looks]
        best: list[int] = together[chosen].tolist()
        return dict(zip(best, unpack_ids(np.concatenate(ids)[chosen]), strict=True)) if ids else dict.fromkeys(best, "")

    def _take(self) -> list[Any]:
        """Return views that no other thread searches: they are not made for two at once, and cost little."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._open()

    def _open(self) -> list[Any]:
        from usearch.index import Index

        indexes = [Index.restore(str(path), view=True) for path in self._paths]
        if None in indexes:
            raise OSError("a segment is no index of vectors")
        return indexes


def make_graph(dimension: int) -> Any:
    """Return a graph without vectors."""
    from usearch.index import Index

    # Vectors become units, so that squared distances order them as cosines do; on bytes they take less time.
    return Index(ndim=dimension, metric="l2sq", dtype="i8", connectivity=LINKS, expansion_add=TRIED)


def add_vectors(graph: Any, numbers: Sequence[int], vectors: NDArray[np.float16]) -> Iterator[int]:
    """Put vectors in, by number, some at a time; yield how many."""
    keys, order = np.array(numbers, dtype=np.uint64), arrange(vectors)
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        # By one thread: where two add at once, now and then a vector is linked to by no other and never found.
        graph.add(keys[some], vectors[some], threads=1)
        yield len(some)


def arrange(vectors: NDArray[np.float16]) -> NDArray[np.int64]:
    """
    Return an order in which near vectors follow each other, after some from everywhere.

    What a search looks at together then lies together, and a graph is built and searched in less time. The ways
    between far vectors lead through the early ones: without them, more of the nearest would be missed.
    """
    heads = vectors[np.linspace(0, len(vectors) - 1, math.isqrt(len(vectors))).astype(np.int64)].astype(np.float32)
    nearest = np.zeros(len(vectors), np.int64)
    for start in range(0, len(vectors), COMPARED):
        some = slice(start, start + COMPARED)
        nearest[some] = np.argmax(vectors[some].astype(np.float32) @ heads.T, axis=1)
    order = np.argsort(nearest, kind="stable")
    is_early = np.arange(len(order)) % EARLY == 0
    return np.concatenate([order[is_early], order[~is_early]])
