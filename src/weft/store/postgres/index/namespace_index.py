"""
Read index of a namespace at one version.

An index is immutable. `follow` returns another one, which shares the segments of the fill and has one more segment in
memory with the rows of the changed chunks:

    version   segments of the fill        segments of changes
    (11, …)   chunks 1 to 90
    (12, …)   1 to 90, 81 and 90 dead     81
    (13, …)   1 to 90, 81 and 90 dead     81, dead     81 95
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Ranking, Vector
from weft.store.postgres.change_log import Version, read_changes
from weft.store.postgres.filters import FilterSession, filter_chunks
from weft.store.postgres.index import keyword_segments, vector_segments
from weft.store.postgres.index.keyword_segments import KeywordSegment
from weft.store.postgres.index.vector_segments import VectorSegment, read_vectors, to_unit_length
from weft.store.read_index.chunk_ids import pack_ids
from weft.store.read_index.hnsw import HnswSegments
from weft.store.read_index.postings_merge import invert_chunks
from weft.store.relational.session import Namespace, Row

MAX_CHANGE_SEGMENTS = 8
"""Segments of changes that a search asks at most; more are merged into one."""

MIN_REFILLED_CHUNKS = 2_048
"""
Changed chunks from which an index is filled again, if they are more than one in eight.

At the latest it is filled again at half of `MAX_CHANGED_CHUNKS`, so that it can follow meanwhile.
"""

REFILL_DIVISOR = 8

MAX_CHANGED_CHUNKS = 16_384
"""Maximum number of changed chunks in memory; with more, the server answers until the index is filled again."""


class IndexSession(FilterSession, Protocol):
    """Session that an index is read with."""

    def version(self, namespace: Namespace) -> Version:
        """Return the version of a namespace that the snapshot sees."""

    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a statement whose rows are sent in binary format."""


@dataclass(frozen=True, slots=True)
class NamespaceIndex:
    """Vectors and postings of all chunks of a namespace at one version."""

    version: Version
    model: int
    """Number of the embedder; 0: none."""
    dimension: int
    keywords: tuple[KeywordSegment, ...]
    """Segments of the fill, then segments of changes."""
    vectors: tuple[VectorSegment, ...]
    graphs: HnswSegments | None = None
    """Graphs of the vector segments of the fill; None if vectors are compared one by one."""
    filled: tuple[int, int] = (0, 0)
    """Number of keyword and of vector segments of the fill."""
    changed: Mapping[int, Row] = field(default_factory=dict)
    """Rows of `indexed_terms` of the changed chunks that still exist, by number."""
    origin: Version | None = None
    """Version of the files that the index was opened from; None if it is in memory only."""

    @property
    def chunks(self) -> int:
        """Number of chunks in the segments of the fill, dead ones included."""
        return sum(len(segment.live) for segment in self.keywords[: self.filled[0]])

    @property
    def is_worn(self) -> bool:
        """True if so many chunks have changed that the index should be filled again."""
        dead = sum(int(np.count_nonzero(~segment.live)) for segment in self.keywords[: self.filled[0]])
        limit = min(max(MIN_REFILLED_CHUNKS, self.chunks // REFILL_DIVISOR), MAX_CHANGED_CHUNKS // 2)
        return max(len(self.changed), dead) > limit

    @property
    def size(self) -> int:
        """Bytes in memory, nearly."""
        arrays = [array for part in self.vectors for array in (part.matrix, part.numbers, part.ids)]
        for segment in self.keywords:
            arrays += [segment.postings.places, segment.postings.frequencies, segment.postings.codes]
            arrays += [segment.postings.common_frequencies, segment.postings.common_codes, segment.postings.ids]
        return sum(array.nbytes for array in arrays)

    # ── searching ───────────────────────────────────────────────────────────────────────────────

    def search_keywords(
        self, db: FilterSession, namespace: Namespace, terms: Sequence[str], *, limit: int, where: Filter, **counts: Any
    ) -> Ranking:
        """Rank the chunks that pass a filter by BM25. `counts` are the total of chunks and the mean length."""
        allowed = _allowed(db, namespace, where)
        return keyword_segments.search(self.keywords, terms, limit=limit, allowed=allowed, **counts)

    def count_terms(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term; absent terms are left out."""
        return keyword_segments.count_terms(self.keywords, terms)

    def find_chunks(self, groups: Sequence[Collection[str]]) -> set[int]:
        """Return the numbers of the chunks that contain a term of each group."""
        return keyword_segments.find_chunks(self.keywords, groups)

    def search_vectors(
        self,
        db: FilterSession,
        namespace: Namespace,
        vector: Vector,
        *,
        limit: int,
        where: Filter,
        total: int,
        max_exact: int,
    ) -> Ranking | None:
        """
        Rank the chunks that pass a filter by cosine; None if the server has to.

        Up to `max_exact` of a `total` of chunks, all are compared. Rankings by graphs have no statistics.
        """
        allowed = _allowed(db, namespace, where)
        if self.graphs is None or total <= max_exact:
            return vector_segments.compare_all(self.vectors, vector, limit=limit, allowed=allowed)
        if allowed is None:
            graphed = self.filled[1]
            hits = vector_segments.search_graphs(self.vectors, self.graphs, vector, limit=limit, graphed=graphed)
        elif len(allowed) <= max_exact:
            hits = vector_segments.compare_some(self.vectors, vector, limit=limit, chunks=allowed)
        else:
            hits = None
        return None if hits is None else Ranking(hits=hits)

    # ── following ───────────────────────────────────────────────────────────────────────────────

    def follow(self, db: IndexSession, namespace: Namespace, *, max_chunks: int) -> NamespaceIndex | None:
        """Return the index at the version that a snapshot sees; None if the log leads to no such index."""
        version = db.version(namespace)
        numbers = read_changes(db, namespace, after=self.version, until=version)
        if numbers is None or len(numbers) > max_chunks:
            return None
        if not numbers:
            return replace(self, version=version)
        values = {"namespace": namespace, "numbers": numbers, "model": self.model}
        rows: dict[int, Row] = {row[0]: row for row in db.run("indexed_terms_at", values)}
        vectors: dict[int, bytes] = dict(db.run_binary("indexed_vectors_at", values)) if self.model else {}
        kept = {number: row for number, row in self.changed.items() if number not in {*numbers}}
        if len(kept) + len(rows) > MAX_CHANGED_CHUNKS:
            return None
        followed = self._without(np.array(numbers, np.int64))
        followed = followed._with(rows, vectors)
        followed = replace(followed, version=version, changed={**kept, **rows})
        return followed._merged() if len(followed.keywords) - self.filled[0] > MAX_CHANGE_SEGMENTS else followed

    def _without(self, numbers: NDArray[np.int64]) -> NamespaceIndex:
        keywords = tuple(segment.without(numbers) for segment in self.keywords)
        return replace(self, keywords=keywords, vectors=tuple(segment.without(numbers) for segment in self.vectors))

    def _with(self, rows: Mapping[int, Row], vectors: Mapping[int, bytes]) -> NamespaceIndex:
        """Return the index with one more segment of each kind."""
        keywords, matrices = self.keywords, self.vectors
        if rows:
            postings = invert_chunks([rows[number] for number in sorted(rows)], mean=self._mean)
            keywords = (*keywords, KeywordSegment(postings, np.ones(len(rows), bool)))
        if vectors:
            numbers = sorted(vectors)
            matrix = read_vectors([vectors[number] for number in numbers], dimension=self.dimension)
            ids = pack_ids([rows[number][3] for number in numbers])
            live = np.ones(len(numbers), bool)
            matrices = (*matrices, VectorSegment(np.array(numbers, np.int64), ids, to_unit_length(matrix), live))
        return replace(self, keywords=keywords, vectors=matrices)

    def _merged(self) -> NamespaceIndex:
        """Return the index with one segment of changes of each kind."""
        keywords, vectors = self.filled
        merged = replace(self, keywords=self.keywords[:keywords], vectors=self.vectors[:vectors])
        merged = merged._with(self.changed, {})
        changes = self.vectors[vectors:]
        if changes:
            columns = zip(*[(part.numbers[part.live], part.ids[part.live], part.matrix[part.live]) for part in changes],
                          strict=True)  # fmt: skip
            numbers, ids, matrix = (np.concatenate(column) for column in columns)
            by_number = np.argsort(numbers)
            segment = VectorSegment(numbers[by_number], ids[by_number], matrix[by_number], np.ones(len(numbers), bool))
            merged = replace(merged, vectors=(*merged.vectors, segment))
        return merged

    @property
    def _mean(self) -> float:
        """Mean length that the codes of the postings are computed with; any positive number is right."""
        return self.keywords[0].postings.mean if self.keywords else 1.0


def _allowed(db: FilterSession, namespace: Namespace, where: Filter) -> NDArray[np.int64] | None:
    return filter_chunks(db, namespace, where).ascending if where else None
