"""
Builds postings from the terms of chunks, and merges several sets of postings into one file.

    chunks 1..4   {"fox": 1}  {"owl": 2}  {"fox": 3, "owl": 1}  {"fox": 1}
    inverted      fox → places 0 2 3, frequencies 1 3 1      owl → places 1 2, frequencies 2 1

Merging this with a second set, and dropping place 0 because chunk 1 was deleted, moves the other places:

    old place     0 1 2 3 | 0 1          keep = 0 1 1 1 | 1 1
    new place     - 0 1 2 | 3 4          np.cumsum(keep) - 1 + places of the sets before
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import share_of_bound, term_scores
from weft.store.index_files.chunk_ids import pack_ids
from weft.store.index_files.postings_file import MAX_CODE, PostingArrays, create_postings_file, term_hash
from weft.store.relational.json_columns import read_object

MAX_SLICE_POSTINGS = 1 << 21
"""Postings merged at once, which bounds memory."""

COMMON_TERM_DIVISOR = 8
"""A term is common if it occurs in more than one chunk in eight."""

Numbers = NDArray[np.int64]


def invert_chunks(rows: Iterable[tuple[int, str, int, str]], *, mean: float) -> PostingArrays:
    """
    Return the postings of chunks in memory, without common terms.

    A row has the number, the terms with frequencies as JSON, the length and the id of a chunk. Numbers must ascend.
    Raises `ValueError` if two terms have the same hash.
    """
    term_indexes: defaultdict[str, int] = defaultdict()
    term_indexes.default_factory = term_indexes.__len__
    numbers, lengths, sizes = array("q"), array("L"), array("L")
    used, frequencies = array("L"), array("L")
    ids: list[str] = []
    for number, text, length, id in rows:
        terms = read_object(text, what=f"the terms of chunk {id!r}")
        numbers.append(number)
        ids.append(id)
        lengths.append(min(length, 65_535))
        sizes.append(len(terms))
        used.extend(map(term_indexes.__getitem__, terms))
        frequencies.extend(terms.values())
    hashes = np.array([term_hash(term) for term in term_indexes], dtype=np.uint64)
    by_hash = np.argsort(hashes, kind="stable")
    if len(hashes) and (np.diff(hashes[by_hash].view()) == 0).any():
        raise ValueError("two terms have the same hash")
    rank_of = np.empty(len(hashes), dtype=np.int64)
    rank_of[by_hash] = np.arange(len(hashes))
    of_term = rank_of[np.asarray(used, dtype=np.int64)]
    order = np.argsort(of_term, kind="stable")
    places = np.repeat(np.arange(len(numbers), dtype=np.uint32), np.asarray(sizes, dtype=np.int64))[order]
    starts = np.zeros(len(hashes) + 1, dtype=np.int64)
    np.cumsum(np.bincount(of_term, minlength=len(hashes)), out=starts[1:])
    capped = np.minimum(np.asarray(frequencies, dtype=np.int64), 255).astype(np.uint8)[order]
    chunk_lengths = np.asarray(lengths, dtype=np.uint16)
    codes = _codes(capped, chunk_lengths[places], mean=mean)
    return PostingArrays(
        mean=mean,
        numbers=np.asarray(numbers, dtype=np.int64),
        ids=pack_ids(ids),
        lengths=chunk_lengths,
        hashes=hashes[by_hash],
        starts=starts,
        highest=np.maximum.reduceat(codes, starts[:-1]) if len(hashes) else np.zeros(0, np.uint8),
        places=places,
        frequencies=capped,
        codes=codes,
        common=np.zeros(0, np.uint64),
        common_frequencies=np.zeros((0, len(numbers)), np.uint8),
        common_codes=np.zeros((0, len(numbers)), np.uint8),
    )


def _codes(frequencies: NDArray[Any], lengths: NDArray[Any], *, mean: float) -> NDArray[np.uint8]:
    """Return the score of a term in chunks as a share of its maximum, in steps of 1/255, rounded up."""
    maximum = float(share_of_bound(1.0, weight=1.0))
    scores = term_scores(frequencies.astype(np.float64), lengths.astype(np.float64), weight=1.0, mean_length=mean)
    return np.minimum(np.ceil(scores * (MAX_CODE / maximum)), MAX_CODE).astype(np.uint8)


def merge_postings(
    parts: Sequence[PostingArrays], kept: Sequence[NDArray[np.bool_]], *, mean: float, path: Path
) -> PostingArrays:
    """
    Write several sets of postings to one file; `kept` has a mask over the places of each set.

    Return the arrays of the file.
    """
    pairs = list(zip(parts, kept, strict=True))
    size = sum(int(keep.sum()) for keep in kept)
    hashes = np.unique(np.concatenate([array for part in parts for array in (part.hashes, part.common)]))
    totals = np.zeros(len(hashes), dtype=np.int64)
    for part, keep in pairs:
        for terms, places, _ in _postings(part, hashes):
            totals += np.bincount(terms[keep[places]], minlength=len(hashes))
    common = totals * COMMON_TERM_DIVISOR > size
    rare = (totals > 0) & ~common
    rows = np.cumsum(common) - 1
    following = np.cumsum(np.where(rare, totals, 0)) - np.where(rare, totals, 0)  # next free posting of each term
    sizes = {"numbers": size, "hashes": int(rare.sum()), "places": int(totals[rare].sum()), "common": int(common.sum())}
    written = create_postings_file(path, sizes, mean=mean)
    written.numbers[:] = np.concatenate([part.numbers[keep] for part, keep in pairs])
    written.ids[:] = np.concatenate([part.ids[keep] for part, keep in pairs])
    written.lengths[:] = np.concatenate([part.lengths[keep] for part, keep in pairs])
    written.hashes[:], written.common[:] = hashes[rare], hashes[common]
    written.starts[:-1], written.starts[-1] = following[rare], sizes["places"]
    base = 0
    for part, keep in pairs:
        moved = np.cumsum(keep) - 1 + base
        for terms, old, frequencies in _postings(part, hashes):
            alive = keep[old]
            terms, places, frequencies = terms[alive], moved[old[alive]], frequencies[alive]
            codes = _codes(frequencies, written.lengths[places], mean=mean)
            at = common[terms]
            written.common_frequencies[rows[terms[at]], places[at]] = frequencies[at]
            written.common_codes[rows[terms[at]], places[at]] = codes[at]
            terms = terms[~at]
            groups, firsts, counts = np.unique(terms, return_index=True, return_counts=True)
            target = np.repeat(following[groups] - firsts, counts) + np.arange(len(terms))
            written.places[target], written.frequencies[target] = places[~at], frequencies[~at]
            written.codes[target] = codes[~at]
            following[groups] += counts
        base += int(keep.sum())
    for begin in range(0, sizes["hashes"], MAX_SLICE_POSTINGS):
        starts = written.starts[begin : begin + MAX_SLICE_POSTINGS + 1]
        codes = written.codes[starts[0] : starts[-1]]
        written.highest[begin : begin + MAX_SLICE_POSTINGS] = np.maximum.reduceat(codes, starts[:-1] - starts[0])
    return written


def _postings(part: PostingArrays, hashes: NDArray[Any]) -> Iterator[tuple[Numbers, NDArray[Any], NDArray[Any]]]:
    """Yield slices of postings by term, then place: index of the term in `hashes`, place and frequency."""
    terms = np.searchsorted(hashes, part.hashes)
    at = 0
    while at < len(terms):
        end = int(np.searchsorted(part.starts, part.starts[at] + MAX_SLICE_POSTINGS, side="right")) - 1
        end = max(end, at + 1)
        where = slice(int(part.starts[at]), int(part.starts[end]))
        yield np.repeat(terms[at:end], np.diff(part.starts[at : end + 1])), part.places[where], part.frequencies[where]
        at = end
    for term, frequencies in zip(np.searchsorted(hashes, part.common), part.common_frequencies, strict=True):
        places = np.flatnonzero(frequencies)
        yield np.full(len(places), term), places, frequencies[places]
