"""
Vector segments: HNSW graphs of usearch, memory-mapped.

Each vector is a node linked to near vectors. A search starts at an entry node, follows links towards the query and
keeps a list of the nearest vectors seen so far. It ends when no unvisited neighbour is nearer than the end of that
list. The time hardly depends on the number of vectors.

    usearch parameter   constant               meaning
    connectivity        CONNECTIVITY           links per vector
    expansion_add       EXPANSION_ADD          length of the list while a vector is added (efConstruction)
    expansion_search    MIN_EXPANSION_SEARCH   length of the list during a search (ef)

Vectors are added in this order (`arrange`), here with clusters A, B, C and one early vector in three:

    cluster order   A A A B B B C C C
    early           A     B     C          first: links between far clusters go through these
    rest              A A   B B   C C      then cluster by cluster: near vectors are near in memory

Measurements: docs/decisions/0019-read-indexes.md.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector
from weft.store.index_files.chunk_ids import ChunkIds, unpack_ids

CONNECTIVITY = 16
"""
Links per vector.

With 24 or 32, recall@10 at 100,000 chunks is 0.988 instead of 0.976, and search is a fifth slower.
"""

EXPANSION_ADD = 128
"""Candidates examined to choose the links of a new vector."""

MIN_EXPANSION_SEARCH = 120
"""Minimum number of candidates of a search; recall@10 is 0.978 at a million chunks. 256 would take twice as long."""

MIN_SEGMENT_CANDIDATES = 64
"""Minimum number of vectors requested from each segment if an index has several segments."""

EARLY_STRIDE = 8
"""One vector in eight is added before the others."""

ADD_BATCH_VECTORS = 8
"""
Vectors added at once: about 3 ms.

usearch keeps the interpreter lock meanwhile, so other threads wait. With 256 vectors they got a twentieth of the time.
"""

COMPARE_BATCH_VECTORS = 8_192
"""Vectors compared with the cluster heads at once, which bounds memory."""


@cache
def is_available() -> bool:
    """Return True if usearch is installed, by the extra `scale`."""
    return find_spec("usearch") is not None


class HnswSegments:
    """Segments of a vector index."""

    def __init__(self, files: Sequence[Sequence[NDArray[np.uint8]]]) -> None:
        """
        Open the graph and, if there is one, the chunk ids of each segment. The contents must be verified.

        Raises `OSError`, `RuntimeError` or `ValueError` if one cannot be read.
        """
        self._contents = [graph for graph, *_ in files]
        self._ids = [ChunkIds(content) for _, *id_files in files for content in id_files]
        self._idle = [self._open()]
        self._lock = threading.Lock()

    def nearest(self, vector: Vector, *, count: int) -> dict[int, str]:
        """
        Return the numbers of the nearest vectors of all segments with their chunk ids, unordered.

        The ids are empty if the segments have no id files. Raises `ValueError` if an id file is damaged.
        """
        graphs = self._take()
        try:
            numbers, distances = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
            # A segment contains a part of the nearest vectors, so twice its share suffices. If one segment contains
            # all of them, the first `wanted` are still right.
            wanted = min(count, max(MIN_SEGMENT_CANDIDATES, 2 * count // max(1, len(graphs))))
            for graph in graphs:
                graph.expansion_search = max(MIN_EXPANSION_SEARCH, wanted)
                matches = graph.search(vector.astype(np.float32), wanted, threads=1)
                numbers.append(matches.keys.astype(np.int64))
                distances.append(matches.distances)
        finally:
            with self._lock:
                self._idle.append(graphs)
        ids = [segment.find(found) for segment, found in zip(self._ids, numbers[1:], strict=False)]
        merged = np.concatenate(numbers)
        chosen: Any = slice(None)
        if len(merged) > count:
            chosen = np.argpartition(np.concatenate(distances), count - 1)[:count]
        best: list[int] = merged[chosen].tolist()
        return dict(zip(best, unpack_ids(np.concatenate(ids)[chosen]), strict=True)) if ids else dict.fromkeys(best, "")

    def _take(self) -> list[Any]:
        """Return views that no other thread uses: a view is not thread-safe, and opening one is cheap."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _open(self) -> list[Any]:
        from usearch.index import Index

        graphs = [Index.restore(content.data, view=True) for content in self._contents]
        if None in graphs:
            raise OSError("a segment is not a usearch index")
        return graphs


def make_graph(dimension: int) -> Any:
    """Return an empty graph."""
    from usearch.index import Index

    # Vectors have unit length, so squared distances order them as cosines do; on int8 they are faster to compute.
    return Index(ndim=dimension, metric="l2sq", dtype="i8", connectivity=CONNECTIVITY, expansion_add=EXPANSION_ADD)


def add_vectors(graph: Any, numbers: Sequence[int], vectors: NDArray[np.float16]) -> Iterator[int]:
    """Add vectors under their numbers in batches; yield the size of each batch."""
    keys, order = np.array(numbers, dtype=np.uint64), arrange(vectors)
    for start in range(0, len(order), ADD_BATCH_VECTORS):
        batch = order[start : start + ADD_BATCH_VECTORS]
        # One thread: with two, a few vectors end up without incoming links and are never found.
        graph.add(keys[batch], vectors[batch], threads=1)
        yield len(batch)


def arrange(vectors: NDArray[np.float16]) -> NDArray[np.int64]:
    """
    Return an insertion order: a sample of all vectors first, then the others cluster by cluster.

    Vectors that a search visits together are then near in memory, which makes building and searching faster. Without
    the early vectors, links between far clusters would be missing and recall would be lower.
    """
    heads = vectors[np.linspace(0, len(vectors) - 1, math.isqrt(len(vectors))).astype(np.int64)].astype(np.float32)
    nearest = np.zeros(len(vectors), np.int64)
    for start in range(0, len(vectors), COMPARE_BATCH_VECTORS):
        batch = slice(start, start + COMPARE_BATCH_VECTORS)
        nearest[batch] = np.argmax(vectors[batch].astype(np.float32) @ heads.T, axis=1)
    order = np.argsort(nearest, kind="stable")
    is_early = np.arange(len(order)) % EARLY_STRIDE == 0
    return np.concatenate([order[is_early], order[~is_early]])
