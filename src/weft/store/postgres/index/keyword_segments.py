"""Postings of a read index: segments with a mask of live chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import ceiling, idf
from weft.rank.fuse import order
from weft.records import Ranking
from weft.store.read_index.chunk_ids import unpack_ids
from weft.store.read_index.maxscore import RankedChunks, rank
from weft.store.read_index.postings_file import PostingArrays, TermPostings

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class KeywordSegment:
    """Postings of chunks, some of which may be dead."""

    postings: PostingArrays
    live: Mask
    """By place."""

    def without(self, chunks: NDArray[np.int64]) -> KeywordSegment:
        """Return the segment with some chunks dead; `chunks` ascends."""
        return replace(self, live=self.live & ~is_among(self.postings.numbers, chunks))

    def find(self, terms: Sequence[str]) -> list[NDArray[Any]]:
        """Return the places of the live chunks that contain each term."""
        return [self._places(found) for found in self.postings.find(terms)]

    def _places(self, term: TermPostings) -> NDArray[Any]:
        places = np.flatnonzero(term.frequencies) if term.places is None else term.places
        return places[self.live[places]]


def count_terms(segments: Sequence[KeywordSegment], terms: Collection[str]) -> dict[str, int]:
    """Return the number of live chunks that contain each term; absent terms are left out."""
    counts: Counter[str] = Counter()
    wanted = list(terms)
    for segment in segments:
        counts.update({term: len(found) for term, found in zip(wanted, segment.find(wanted), strict=True)})
    return {term: count for term, count in counts.items() if count}


def find_chunks(segments: Sequence[KeywordSegment], groups: Sequence[Collection[str]]) -> set[int]:
    """Return the numbers of the live chunks that contain a term of each group; empty groups are left out."""
    numbers: set[int] = set()
    wanted = [sorted(group) for group in groups if group]
    for segment in segments if wanted else ():
        kept = np.ones(len(segment.live), dtype=bool)
        for group in wanted:
            has_term = np.zeros(len(segment.live), dtype=bool)
            for places in segment.find(group):
                has_term[places] = True
            kept &= has_term
        numbers.update(segment.postings.numbers[kept].tolist())
    return numbers


def search(
    segments: Sequence[KeywordSegment],
    terms: Sequence[str],
    *,
    limit: int,
    total: int,
    mean_length: float,
    allowed: NDArray[np.int64] | None,
    frequencies: Mapping[str, int] | None = None,
) -> Ranking:
    """Rank the live chunks by BM25; with `allowed`, only those with these numbers, which ascend. Ties by id."""
    counts: Mapping[str, int] = count_terms(segments, set(terms)) if frequencies is None else frequencies
    weights = {term: idf(counts.get(term, 0), total=total) for term in terms}
    found = [
        rank(segment.postings, weights, mean_length=mean_length, limit=limit, allowed=_mask(segment, allowed))
        for segment in segments
    ]
    best = RankedChunks(*map(np.concatenate, zip(*found, strict=True))) if found else None
    scores = dict(zip(unpack_ids(best.ids), best.scores.tolist(), strict=True)) if best else {}
    hits = tuple(order({id: score for id, score in scores.items() if score > 0}, limit=limit))
    return Ranking(hits=hits, ceiling=ceiling(list(weights.values())))


def _mask(segment: KeywordSegment, allowed: NDArray[np.int64] | None) -> Mask | None:
    if allowed is not None:
        return segment.live & is_among(segment.postings.numbers, allowed)
    return None if segment.live.all() else segment.live


def is_among(numbers: NDArray[Any], ascending: NDArray[np.int64]) -> Mask:
    """Return which of the numbers are among others; quicker than `np.isin`, which sorts both."""
    if not len(ascending):
        return np.zeros(len(numbers), dtype=bool)
    found: Mask = ascending[np.searchsorted(ascending[:-1], numbers)] == numbers
    return found
