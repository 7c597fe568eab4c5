"""
The exact best chunks by BM25, of postings in arrays.

Codes rule out nearly all chunks; those left are scored by `rank.bm25`, so that scores are those of any other way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import drift, shares, term_scores
from weft.store.sqlite.index.postings_file import STEPS, Held, TermArrays

PROBED = 1_024
"""Chunks of the rarest terms from which it is estimated what the best will reach."""

REST = 10
"""Terms are read until those left can add no more than one part in so many of what all can."""

FEW = 20
"""Terms are read until no more than one place in so many is left; those that remain are looked up for these."""


class Ranked(NamedTuple):
    """Chunks with scores: the numbers their terms go by, and their ids."""

    numbers: NDArray[Any]
    ids: NDArray[Any]
    scores: NDArray[np.float64]

    def at(self, chosen: NDArray[np.bool_]) -> Ranked:
        """Return some of them."""
        return Ranked(self.numbers[chosen], self.ids[chosen], self.scores[chosen])


def rank(
    arrays: TermArrays,
    weights: Mapping[str, float],
    *,
    mean_length: float,
    limit: int,
    allowed: NDArray[np.bool_] | None = None,
) -> Ranked:
    """
    Return chunks, among them all that score as high as the last of the best `limit`.

    `weights` are the idfs of the terms. Scores are added up in their order. `allowed` says of each place whether its
    chunk may be found.
    """
    held = arrays.find(weights)
    low, high = drift(arrays.mean, mean_length)
    steps = [shares(high / STEPS, weight=weight) for weight in weights.values()]
    sums = np.zeros(len(arrays.numbers), dtype=np.float32)
    if allowed is not None:
        sums[~allowed] = -np.inf
    places = _choose(sums, held, steps, limit=limit, sure=0.9999 * low / high).astype(np.uint32)
    lengths = arrays.lengths[places].astype(np.float64)
    frequencies = np.empty((len(held), len(places)))
    for row, one in enumerate(held):
        frequencies[row] = one.frequencies_at(places)
    idfs = np.array([*weights.values()]).reshape(-1, 1)
    scores = np.zeros(len(places))
    for added in term_scores(frequencies, lengths, weight=idfs, mean_length=mean_length):
        scores += added
    return Ranked(arrays.numbers.take(places), arrays.ids.take(places), scores)


def _choose(
    sums: NDArray[np.float32], held: Sequence[Held], steps: Sequence[float], *, limit: int, sure: float
) -> NDArray[Any]:
    """
    Return the places that may be among the best, in ascending order (MaxScore; Turtle and Flood, 1995).

    Terms come by what they can add at most. As soon as all that are left cannot bring a chunk among the best, and few
    chunks can still be brought there with them, they are only looked up for these. What the best reach is known from
    below: codes are rounded up by less than a step, and `sure` allows for another mean length.
    """
    lists = sorted(zip(held, steps, strict=True), key=lambda one: -one[0].highest * one[1])
    bounds = [one.highest * step for one, step in lists]
    total = rest = sum(bounds) * 1.00001  # sums of float32 are a little off
    least, slack, read = 0.0, 0.0, 0
    kept: NDArray[np.bool_] | None = None
    for read, (one, step) in enumerate(lists, start=1):
        _add(sums, one, step)
        rest, slack = rest - bounds[read - 1], slack + step
        if REST * rest >= total:
            continue
        if not least:
            least = _last(sums.take(_probe(lists[:read], limit=limit, size=len(sums))), limit) * sure - slack
        if rest < least:
            kept = sums >= max(least - rest, 1e-30)
            count = np.count_nonzero(kept)
            if read < len(lists) and count <= min(len(sums) // FEW, len(lists[read][0].codes) // 2):
                break
    found = (sums > 0 if kept is None else kept).nonzero()[0]
    reached = sums.take(found)
    for place in range(read, len(lists) + 1):
        if len(found) > 2 * limit:
            least = max(least, _last(reached, limit) * sure - slack)
            some = (reached >= least - rest).nonzero()[0]
            found, reached = found.take(some), reached.take(some)
        if place < len(lists):
            one, step = lists[place]
            rest, slack = rest - bounds[place], slack + step
            reached += one.codes_at(found) * np.float32(step)
    return found


def _add(sums: NDArray[np.float32], one: Held, step: float) -> None:
    """Add what a term gives to all places."""
    added = one.codes * np.float32(step)
    if one.places is None:
        sums += added
    else:
        np.add.at(sums, one.places.astype(np.intp), added)


def _probe(lists: Sequence[tuple[Held, float]], *, limit: int, size: int) -> NDArray[Any]:
    """Return different places that are likely to be among the best: those of the first terms."""
    parts, count = [np.zeros(0, dtype=np.intp)], 0
    for one, _ in lists:
        if one.places is not None and count < max(PROBED, 4 * limit):
            parts.append(_promising(one.places, one.codes, highest=one.highest))
            count += len(parts[-1])
    places = np.concatenate(parts)
    order, last = np.arange(len(places)), np.empty(size, dtype=np.intp)
    last[places] = order
    different: NDArray[Any] = places[last.take(places) == order]
    return different


def _promising(places: NDArray[Any], codes: NDArray[Any], *, highest: int) -> NDArray[Any]:
    """Return places with high codes, about as many as are probed; all where there are not many."""
    for share in (0.6, 0.8, 0.9):
        if len(places) <= 2 * PROBED:
            break
        high = (codes >= int(share * highest)).nonzero()[0]
        places, codes = places.take(high), codes.take(high)
    return places[: 4 * PROBED]


def _last(sums: NDArray[np.float32], limit: int) -> float:
    """Return the last of the best `limit`; 0 where there are fewer."""
    return float(np.partition(sums, len(sums) - limit)[len(sums) - limit]) if len(sums) >= limit else 0.0
