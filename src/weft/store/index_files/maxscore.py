"""
Exact top-k by BM25 with MaxScore (Turtle and Flood, 1995), on the arrays of a postings file.

Codes (postings_file.py) bound the score of a term in a chunk from above. They exclude nearly all chunks. The other
chunks are scored by `rank.bm25`, with the same scores as a full scan.

Example: the best 2 of 1,000 chunks for three terms. The bound is the highest score that a term can add.

    term       chunks   bound    bound of the terms after it
    axolotl         2    13.2     8.8
    quick          30     7.7     1.1
    the           600     1.1     0.0

1. Add the codes of `axolotl`, then of `quick`, to one sum per chunk. The terms not read yet could still add 1.1, which
   is less than a tenth of the total bound of 22.0.
2. Estimate the score of the second-best chunk from a probe of chunks with high codes. The sums are:

       chunk 12   12.0
       chunk 40    9.4   second best: 9.3 after subtracting the rounding of the codes
       chunk  7    8.8
       chunk 90    6.1

3. A chunk needs a sum of at least 9.3 - 1.1 = 8.2, because `the` adds at most 1.1. The chunks 12, 40 and 7 remain;
   chunk 90 reaches at most 7.2.
4. Three chunks are few, so `the` is looked up for these three instead of adding its 600 postings.
5. Compute the exact BM25 scores of the remaining chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import length_drift, share_of_bound, term_scores
from weft.store.index_files.postings_file import MAX_CODE, PostingArrays, TermPostings

MIN_PROBED_CHUNKS = 1_024
"""Minimum number of chunks from which the threshold is estimated; they contain the terms with the highest bounds."""

UNREAD_BOUND_DIVISOR = 10
"""Terms are read until the bounds of the unread terms are less than a tenth of all bounds."""

CANDIDATE_DIVISOR = 20
"""Unread terms are looked up per candidate once at most one chunk in twenty is a candidate."""


class RankedChunks(NamedTuple):
    """Chunks with scores, as parallel arrays."""

    numbers: NDArray[Any]
    """Row numbers."""
    ids: NDArray[Any]
    """Packed chunk ids."""
    scores: NDArray[np.float64]
    has: NDArray[np.uint8]
    """A row of bits for each chunk: the terms that it contains, in the order of the query."""

    def at(self, chosen: NDArray[np.bool_]) -> RankedChunks:
        """Return the chunks that a mask selects."""
        return RankedChunks(self.numbers[chosen], self.ids[chosen], self.scores[chosen], self.has[chosen])


def rank(
    arrays: PostingArrays,
    weights: Mapping[str, float],
    *,
    mean_length: float,
    limit: int,
    allowed: NDArray[np.bool_] | None = None,
) -> RankedChunks:
    """
    Return candidate chunks with exact scores, unordered.

    They include every chunk that scores at least as high as the chunk at rank `limit`. `weights` are the idf values of
    the terms; scores are summed in their order. `allowed` is a mask over the places.
    """
    postings = arrays.find(weights)
    low, high = length_drift(arrays.mean, mean_length)
    steps = [share_of_bound(high / MAX_CODE, weight=weight) for weight in weights.values()]
    sums = np.zeros(len(arrays.numbers), dtype=np.float32)
    if allowed is not None:
        sums[~allowed] = -np.inf
    places = _find_candidates(sums, postings, steps, limit=limit, safety=0.9999 * low / high).astype(np.uint32)
    lengths = arrays.lengths[places].astype(np.float64)
    frequencies = np.empty((len(postings), len(places)))
    for row, term in enumerate(postings):
        frequencies[row] = term.frequencies_at(places)
    idfs = np.array([*weights.values()]).reshape(-1, 1)
    scores = np.zeros(len(places))
    for added in term_scores(frequencies, lengths, weight=idfs, mean_length=mean_length):
        scores += added
    has = np.packbits(frequencies.T > 0, axis=1)
    return RankedChunks(arrays.numbers.take(places), arrays.ids.take(places), scores, has)


def _find_candidates(
    sums: NDArray[np.float32], postings: Sequence[TermPostings], steps: Sequence[float], *, limit: int, safety: float
) -> NDArray[Any]:
    """
    Return the places that may be among the best, ascending; `sums` is changed.

    `steps` are the scores of one code step per term. `least` is a lower bound of the score at rank `limit`. A code is
    rounded up by less than a step; `slack` sums these steps. `safety` allows for a mean length that differs from that
    of the codes. `rest` is the bound of the unread terms.
    """
    lists = sorted(zip(postings, steps, strict=True), key=_negated_bound)
    bounds = [term.highest * step for term, step in lists]
    total = rest = sum(bounds) * 1.00001  # float32 sums are slightly inexact
    least, slack, read = 0.0, 0.0, 0
    kept: NDArray[np.bool_] | None = None
    for read, (term, step) in enumerate(lists, start=1):
        _add(sums, term, step)
        rest, slack = rest - bounds[read - 1], slack + step
        if UNREAD_BOUND_DIVISOR * rest >= total:
            continue
        if not least:
            least = _kth_best(sums.take(_probe(lists[:read], limit=limit, size=len(sums))), limit) * safety - slack
        if rest < least:
            kept = sums >= max(least - rest, 1e-30)
            count = np.count_nonzero(kept)
            if read < len(lists):
                unread, _ = lists[read]
                if count <= min(len(sums) // CANDIDATE_DIVISOR, len(unread.codes) // 2):
                    break
    found = (sums > 0 if kept is None else kept).nonzero()[0]
    reached = sums.take(found)
    for place in range(read, len(lists) + 1):
        if len(found) > 2 * limit:
            least = max(least, _kth_best(reached, limit) * safety - slack)
            chosen = (reached >= least - rest).nonzero()[0]
            found, reached = found.take(chosen), reached.take(chosen)
        if place < len(lists):
            term, step = lists[place]
            rest, slack = rest - bounds[place], slack + step
            reached += term.codes_at(found) * np.float32(step)
    return found


def _negated_bound(item: tuple[TermPostings, float]) -> float:
    term, step = item
    return -term.highest * step


def _add(sums: NDArray[np.float32], term: TermPostings, step: float) -> None:
    """Add the upper bounds of a term to the sums."""
    added = term.codes * np.float32(step)
    if term.places is None:
        sums += added
    else:
        np.add.at(sums, term.places.astype(np.intp), added)


def _probe(lists: Sequence[tuple[TermPostings, float]], *, limit: int, size: int) -> NDArray[Any]:
    """Return distinct places that are likely to be among the best: those of the first terms with high codes."""
    parts, count = [np.zeros(0, dtype=np.intp)], 0
    for term, _ in lists:
        if term.places is not None and count < max(MIN_PROBED_CHUNKS, 4 * limit):
            parts.append(_promising(term.places, term.codes, highest=term.highest))
            count += len(parts[-1])
    places = np.concatenate(parts)
    # Removes duplicates without sorting: a place keeps only its last occurrence.
    order, last = np.arange(len(places)), np.empty(size, dtype=np.intp)
    last[places] = order
    distinct: NDArray[Any] = places[last.take(places) == order]
    return distinct


def _promising(places: NDArray[Any], codes: NDArray[Any], *, highest: int) -> NDArray[Any]:
    """Return places with high codes, at most four times `MIN_PROBED_CHUNKS`; all places if there are few."""
    for share in (0.6, 0.8, 0.9):
        if len(places) <= 2 * MIN_PROBED_CHUNKS:
            break
        high = (codes >= int(share * highest)).nonzero()[0]
        places, codes = places.take(high), codes.take(high)
    return places[: 4 * MIN_PROBED_CHUNKS]


def _kth_best(sums: NDArray[np.float32], limit: int) -> float:
    """Return the sum at rank `limit`; 0 if there are fewer sums."""
    return float(np.partition(sums, len(sums) - limit)[len(sums) - limit]) if len(sums) >= limit else 0.0
