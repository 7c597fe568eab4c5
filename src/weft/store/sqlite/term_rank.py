"""
The exact best chunks by BM25, of postings in arrays.

Codes rule out nearly all chunks; those left are scored by `rank.bm25`, so that scores are those of any other way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import drift, shares, term_scores
from weft.store.sqlite.term_arrays import STEPS, Held, TermArrays

PROBED = 1_024
"""Chunks of the rarest terms from which it is estimated what the best will reach."""


def rank(
    arrays: TermArrays,
    weights: Mapping[str, float],
    *,
    mean_length: float,
    limit: int,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """
    Return numbers and scores of chunks, among them all that score as high as the last of the best `limit`.

    `weights` are the idfs of the terms. Scores are added up in their order. `allowed` says of each place whether its
    chunk may be found.
    """
    held = arrays.find(weights)
    low, high = drift(arrays.mean, mean_length)
    steps = [shares(high / STEPS, weight=weight) for weight in weights.values()]
    sums = np.zeros(len(arrays.numbers), dtype=np.float32)
    if allowed is not None:
        sums[~allowed] = -np.inf
    places = _choose(sums, held, steps, limit=limit, sure=low / high)
    lengths = arrays.lengths[places].astype(np.float64)
    frequencies = np.zeros((len(held), len(places)))
    for row, one in enumerate(held):
        at, there = one.look(places)
        frequencies[row, there] = one.frequencies[at]
    idfs = np.array(list(weights.values())).reshape(-1, 1)
    scores = np.zeros(len(places))
    for added in term_scores(frequencies, lengths, weight=idfs, mean_length=mean_length):
        scores += added
    return arrays.numbers[places], scores


def _choose(
    sums: NDArray[np.float32], held: Sequence[Held], steps: Sequence[float], *, limit: int, sure: float
) -> NDArray[Any]:
    """
    Return the places that may be among the best, in ascending order (MaxScore; Turtle and Flood, 1995).

    Terms come by what they can add at most. As soon as all that are left cannot bring a chunk among the best, they are
    only looked up for the chunks that have been, and may still be, brought there by those before. What the best reach
    is known from below: codes are rounded up by less than a step, and `sure` allows for another mean length.
    """
    lists = sorted(zip(held, steps, strict=True), key=lambda one: -one[0].highest * one[1])
    bounds = [one.highest * step for one, step in lists]
    total = rest = sum(bounds) * 1.00001  # sums of float32 are a little off
    least, slack, read = 0.0, 0.0, 0
    probed = np.zeros(0, dtype=np.intp)
    for one, step in lists:
        if rest < least:
            break
        rest, slack, read = rest - bounds[read], slack + step, read + 1
        added = one.codes * np.float32(step)
        if one.places is None:
            sums += added
            continue
        places = one.places.astype(np.intp)
        before = sums[places]
        sums[places] = before + added
        if len(probed) < max(PROBED, 4 * limit):
            fresh = before == 0
            probed = np.concatenate([probed, _promising(places[fresh], one.codes[fresh], highest=one.highest)])
        if 2 * rest < total:  # else nothing can have reached that much
            least = max(least, _last(sums[probed], limit) * sure * 0.9999 - slack)
    if len(probed) >= limit:
        complete = _complete(probed, sums, lists[read:], limit=limit)
        least = max(least, float(complete.min()) * sure * 0.9999 - sum(steps))
    found = np.flatnonzero(sums >= max(least - rest, 1e-30))
    reached = sums[found]
    for place in range(read, len(lists) + 1):
        if place == read or len(found) > 2 * limit:
            least = max(least, _last(reached, limit) * sure * 0.9999 - slack)
            kept = reached >= least - rest
            found, reached = found[kept], reached[kept]
        if place < len(lists):
            one, step = lists[place]
            rest, slack = rest - bounds[place], slack + step
            if one.places is not None and len(one.places) < 4 * len(found):  # quicker than to look each of them up
                sums[found] = reached
                sums[one.places.astype(np.intp)] += one.codes * np.float32(step)
                reached = sums[found]
            else:
                where, there = one.look(found)
                reached[there] += one.codes[where] * np.float32(step)
    return found


def _complete(
    probed: NDArray[Any], sums: NDArray[np.float32], left: Sequence[tuple[Held, float]], *, limit: int
) -> NDArray[np.float32]:
    """Return what the best of some places reach with the terms that are left: that much is needed at least."""
    order = np.argpartition(sums[probed], len(probed) - limit)[len(probed) - limit :]
    places = np.sort(probed[order])
    reached: NDArray[np.float32] = sums[places]
    for one, step in left:
        where, there = one.look(places)
        reached[there] += one.codes[where] * np.float32(step)
    return reached


def _promising(places: NDArray[Any], codes: NDArray[Any], *, highest: int) -> NDArray[Any]:
    """Return places with high codes, about as many as are probed; all where there are not many."""
    for share in (0.6, 0.8, 0.9):
        if len(places) <= 2 * PROBED:
            break
        high = codes >= int(share * highest)
        places, codes = places[high], codes[high]
    return places[: 4 * PROBED]


def _last(sums: NDArray[np.float32], limit: int) -> float:
    """Return the last of the best `limit`; 0 where there are fewer."""
    return float(np.partition(sums, len(sums) - limit)[len(sums) - limit]) if len(sums) >= limit else 0.0
