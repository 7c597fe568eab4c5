"""
Postings file: the inverted index of a keyword segment as arrays in one memory-mapped file.

A chunk is known by its place in the file (Lucene: doc id), a term by a 64-bit hash. Rare terms have sorted lists of
places. A term in more than an eighth of the chunks is common: it has one value per place, which is faster to add.
Each posting has the frequency of the term and a code: the BM25 score of the term in this chunk as a share of its
maximum, in steps of 1/255, rounded up. Codes are upper bounds for MaxScore (maxscore.py).

Example: 100 chunks of 20 terms. `owl` is at place 7 (twice), `fox` at the places 3 (once) and 7 (four times), and `the`
in every chunk. Each array starts at a multiple of 64 bytes:

    byte  array                 type      elements
       0  header                JSON      {"sizes": {"numbers": 100, ...}, "mean": 20.0}
    4096  numbers               int64     100: row number of the chunk, ascending    1  2  3 ...
    4928  ids                   25 bytes  100: chunk id                              c000... c000... ...
    7488  lengths               uint16    100: terms in the chunk                    20 20 20 ...
    7744  hashes                uint64    2: rare terms, ascending                   owl   fox
    7808  starts                int64     3: first posting of each, and the end      0     1       3
    7872  highest               uint8     2: highest code of each                    160   197
    7936  places                uint32    3: place of each posting                   7     3   7
    8000  frequencies           uint8     3: frequency, at most 255                  2     1   4
    8064  codes                 uint8     3: code                                    160   116 197
    8128  common                uint64    1: common terms, ascending                 the
    8192  common_frequencies    uint8     1 x 100: frequency at every place          1 2 3 1 2 3 ...
    8320  common_codes          uint8     1 x 100: code at every place               116 160 183 ...

To find `fox`: binary search in `hashes` gives 1, so its postings are `starts[1]` to `starts[2]`, which is 1 to 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.store.index_files.chunk_ids import ID_TYPE

MAX_CODE = 255

HEADER_BYTES = 4096
"""Bytes of the JSON header, padded with spaces."""

TYPES = {
    "numbers": "<i8",
    "ids": ID_TYPE.str,
    "lengths": "<u2",
    "hashes": "<u8",
    "starts": "<i8",
    "highest": "u1",
    "places": "<u4",
    "frequencies": "u1",
    "codes": "u1",
    "common": "<u8",
    "common_frequencies": "u1",
    "common_codes": "u1",
}
"""Arrays in the order of the file, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingArrays:
    """Arrays of a postings file; the postings of a term are ordered by place."""

    mean: float
    """Mean chunk length that the codes were computed with."""
    numbers: NDArray[Any]
    """By place: row number of the chunk, ascending."""
    ids: NDArray[Any]
    """By place: chunk id."""
    lengths: NDArray[Any]
    """By place: terms in the chunk, at most 65,535."""
    hashes: NDArray[Any]
    """Hashes of the rare terms, ascending."""
    starts: NDArray[Any]
    """By rare term: index of its first posting; one more for the end."""
    highest: NDArray[Any]
    """By rare term: its highest code."""
    places: NDArray[Any]
    frequencies: NDArray[Any]
    codes: NDArray[Any]
    common: NDArray[Any]
    """Hashes of the common terms, ascending."""
    common_frequencies: NDArray[Any]
    """By common term and place; 0 if the chunk does not contain the term."""
    common_codes: NDArray[Any]

    def find(self, terms: Iterable[str]) -> list[TermPostings]:
        """Return the postings of terms, in the order of the terms; empty ones for unknown terms."""
        wanted = np.array([term_hash(term) for term in terms], dtype=np.uint64)
        row, are_common = _look_up(self.common, wanted)
        at, are_rare = _look_up(self.hashes, wanted)
        starts, ends = self.starts.take(at).tolist(), self.starts.take(at + are_rare).tolist()
        rows = np.where(are_common, row, -1).tolist()
        return list(map(self._term_postings, rows, at.tolist(), starts, ends))

    def _term_postings(self, row: int, at: int, start: int, end: int) -> TermPostings:
        if row >= 0:
            return TermPostings(None, self.common_frequencies[row], self.common_codes[row], MAX_CODE)
        highest = int(self.highest[at]) if start < end else 0
        return TermPostings(self.places[start:end], self.frequencies[start:end], self.codes[start:end], highest)


class TermPostings(NamedTuple):
    """Postings of one term."""

    places: NDArray[Any] | None
    """None for a common term, which has a frequency and a code for every place."""
    frequencies: NDArray[Any]
    codes: NDArray[Any]
    highest: int
    """Upper bound of the codes."""

    def frequencies_at(self, wanted: NDArray[Any]) -> NDArray[Any]:
        """Return the frequencies at ascending places."""
        return self._values_at(self.frequencies, wanted)

    def codes_at(self, wanted: NDArray[Any]) -> NDArray[Any]:
        """Return the codes at ascending places."""
        return self._values_at(self.codes, wanted)

    def _values_at(self, values: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
        if self.places is None:
            return values.take(wanted)
        at, are_found = _look_up(self.places, wanted)
        return values.take(at, mode="clip") * are_found if len(values) else are_found


def _look_up(ascending: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the insertion positions of values in a sorted array, and a mask of the values that it contains."""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)
    at = ascending.searchsorted(wanted.astype(ascending.dtype, copy=False))
    return at, ascending.take(at, mode="clip") == wanted


def term_hash(term: str) -> int:
    """Return the 64-bit hash of a term."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _layout(sizes: Mapping[str, int]) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the offset in bytes and the number of elements of each array, and the size of the file in bytes."""
    cells = sizes["common"] * sizes["numbers"]
    lengths = {
        **sizes,
        **dict.fromkeys(("numbers", "ids", "lengths"), sizes["numbers"]),
        **{"starts": sizes["hashes"] + 1, "highest": sizes["hashes"]},
        **dict.fromkeys(("frequencies", "codes"), sizes["places"]),
        **dict.fromkeys(("common_frequencies", "common_codes"), cells),
    }
    layout, offset = {}, HEADER_BYTES
    for name, type in TYPES.items():
        layout[name] = (offset, lengths[name])
        offset += -(-lengths[name] * np.dtype(type).itemsize // 64) * 64
    return layout, offset


def _view(content: NDArray[np.uint8], sizes: Mapping[str, int], *, mean: float) -> PostingArrays:
    layout, size = _layout(sizes)
    if len(content) != size:
        raise ValueError("postings file has the wrong size")
    views = {}
    for name, type in TYPES.items():
        offset, length = layout[name]
        view = np.asarray(content[offset : offset + length * np.dtype(type).itemsize]).view(type)
        views[name] = view.reshape(sizes["common"], sizes["numbers"]) if name.startswith("common_") else view
    return PostingArrays(mean=mean, **views)


def create_postings_file(path: Path, sizes: Mapping[str, int], *, mean: float) -> PostingArrays:
    """Create a file; return its writable arrays, filled with zeros."""
    header = json.dumps({"sizes": dict(sizes), "mean": mean}).encode()
    with path.open("wb") as file:
        file.write(header.ljust(HEADER_BYTES))
        file.truncate(_layout(sizes)[1])
    return _view(np.memmap(path, dtype=np.uint8, mode="r+"), sizes, mean=mean)


def read_postings(content: NDArray[np.uint8]) -> PostingArrays:
    """Return the arrays in the content of a file. Raises `ValueError` or `KeyError` if it is not a postings file."""
    header = json.loads(content[:HEADER_BYTES].tobytes())
    return _view(content, header["sizes"], mean=float(header["mean"]))
