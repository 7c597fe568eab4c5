"""Vectors of a read index: segments with a mask of live chunks, compared one by one or found by HNSW graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.rank.fuse import number_hits
from weft.records import Hit, Ranking, Vector
from weft.store.postgres.index.keyword_segments import Mask, is_among
from weft.store.read_index.chunk_ids import unpack_ids
from weft.store.read_index.hnsw import HnswSegments
from weft.store.shared.blobs import compare_vectors

SPARE_CANDIDATES = 8
"""Candidates requested beyond the limit, because some may be dead; a second attempt requests four times as many."""

HEADER_BYTES = 4
"""Bytes before the numbers of a vector in the binary format of pgvector."""


@dataclass(frozen=True, slots=True)
class VectorSegment:
    """Vectors of chunks, some of which may be dead."""

    numbers: NDArray[Any]
    """Chunk numbers, ascending."""
    ids: NDArray[Any]
    """Packed chunk ids."""
    matrix: NDArray[Any]
    """Rows of unit length as float32, or rows as the server stores them as float16."""
    live: Mask

    def without(self, chunks: NDArray[np.int64]) -> VectorSegment:
        """Return the segment with some chunks dead; `chunks` ascends."""
        return replace(self, live=self.live & ~is_among(self.numbers, chunks))

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the places of the live chunks among these, which ascend."""
        return np.flatnonzero(self.live & is_among(self.numbers, numbers))

    def compare(self, vector: Vector, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the cosines of the chunks at some places."""
        rows = self.matrix if len(places) == len(self.numbers) else self.matrix[places]
        return compare_vectors(rows if rows.dtype == np.float32 else to_unit_length(rows), vector)


def read_vectors(values: Sequence[bytes], *, dimension: int) -> NDArray[np.float32]:
    """Return vectors in the binary format of pgvector as rows. Raises `ValueError` if one has another dimension."""
    width = HEADER_BYTES + 4 * dimension
    content = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), width)
    matrix: NDArray[np.float32] = content[:, HEADER_BYTES:].copy().view(">f4").astype(np.float32)
    return matrix


def to_unit_length(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Return the rows as float32 of unit length; rounding to half precision changes the length."""
    matrix = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    matrix /= np.where(lengths > 0, lengths, 1)[:, None]
    return matrix


def compare_all(
    segments: Sequence[VectorSegment], vector: Vector, *, limit: int, allowed: NDArray[np.int64] | None
) -> Ranking:
    """Rank the live chunks by cosine, comparing all; `allowed` chunks only, by numbers that ascend. Ties by id."""
    ids, scores, every = [np.zeros(0, "S25")], [np.zeros(0)], [np.zeros(0)]
    for segment in segments:
        places = np.flatnonzero(segment.live)
        cosines = segment.compare(vector, places)
        every.append(cosines)
        if allowed is not None:
            chosen = is_among(segment.numbers[places], allowed)
            places, cosines = places[chosen], cosines[chosen]
        ids.append(segment.ids[places])
        scores.append(cosines)
    hits = best_hits(np.concatenate(ids), np.concatenate(scores), limit=limit)
    if not hits:
        return Ranking()
    compared = np.concatenate(every)
    return Ranking(hits=hits, mean=float(compared.mean()), deviation=float(compared.std()), count=len(compared))


def compare_some(
    segments: Sequence[VectorSegment], vector: Vector, *, limit: int, chunks: NDArray[np.int64]
) -> tuple[Hit, ...]:
    """Return the nearest of some chunks, whose numbers ascend; ties by id."""
    ids, scores = [np.zeros(0, "S25")], [np.zeros(0)]
    for segment in segments:
        places = segment.places(chunks)
        ids.append(segment.ids[places])
        scores.append(segment.compare(vector, places))
    return best_hits(np.concatenate(ids), np.concatenate(scores), limit=limit)


def search_graphs(
    segments: Sequence[VectorSegment], graphs: HnswSegments, vector: Vector, *, limit: int, graphed: int
) -> tuple[Hit, ...] | None:
    """
    Return the nearest chunks; the first `graphed` segments have graphs, the others are compared completely.

    None if too many candidates are dead.
    """
    others = segments[graphed:]
    size = sum(len(segment.numbers) for segment in segments[:graphed])
    for count in (limit + SPARE_CANDIDATES, 4 * (limit + SPARE_CANDIDATES)):
        candidates = np.sort(np.array([*graphs.nearest(vector, count=count)], dtype=np.int64))
        found = sum(len(segment.places(candidates)) for segment in segments[:graphed])
        if found >= limit or count >= size:
            rest = [segment.numbers[segment.live] for segment in others]
            chunks = np.unique(np.concatenate([candidates, *rest]))
            return compare_some(segments, vector, limit=limit, chunks=chunks)
    return None


def best_hits(ids: NDArray[Any], scores: NDArray[np.float64], *, limit: int) -> tuple[Hit, ...]:
    """Return the best chunks, ties by id."""
    if len(scores) > limit:
        kth = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        ids, scores = ids[scores >= kth], scores[scores >= kth]
    ordered = sorted(zip((-scores).tolist(), unpack_ids(ids), strict=True))[:limit]
    return tuple(number_hits([id for _, id in ordered], [-score for score, _ in ordered]))
