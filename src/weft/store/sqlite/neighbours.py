"""Segments of vectors: graphs of usearch, in which neighbours are found in about the same time at any size."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weft.records import Vector

LOOKS = 96
"""Vectors that a search keeps in view at least."""

SHARE = 64
"""Vectors that each of several segments is asked for at least."""


class Neighbours:
    """The segments of an index, mapped into memory."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Open them. Raises `OSError`, `RuntimeError` or `ValueError` where one cannot be read."""
        self._paths = paths
        self._free = [self._open()]
        self._lock = threading.Lock()

    def look(self, vector: Vector, *, looks: int) -> list[int]:
        """Return the numbers of the vectors found nearest, of all segments together."""
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
        order = np.argsort(np.concatenate(distances), kind="stable")[:looks]
        found: list[int] = np.concatenate(numbers)[order].tolist()
        return found

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

    return Index(ndim=dimension, metric="ip", dtype="i8", connectivity=16, expansion_add=64)


def add_vectors(graph: Any, rows: Sequence[tuple[int, Vector]]) -> None:
    """Put vectors in, by number."""
    numbers = np.array([number for number, _ in rows], dtype=np.uint64)
    # By one thread: where two add at once, now and then a vector is linked to by no other and never found.
    graph.add(numbers, np.stack([vector for _, vector in rows]), threads=1)


def save_graph(graph: Any, path: Path) -> None:
    """Write a graph into a file."""
    graph.save(str(path))
