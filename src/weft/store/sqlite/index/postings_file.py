"""
The postings of many chunks as arrays in one file that is mapped into memory.

A chunk has a place, a term is known by a hash of it. Beside each frequency stands a code: what share of its highest
score the term reaches in the chunk, in steps, rounded up.
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

from weft.store.sqlite.index.chunk_ids import ID

STEPS = 255
HEAD = 4096
"""Bytes before the first array: what stands where, as JSON."""

TYPES = {
    "numbers": "<i8",
    "ids": ID.str,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TermArrays:
    """Postings of chunks, of each term in the order of places."""

    mean: float
    """Mean length of chunks that the codes suppose."""
    numbers: NDArray[Any]
    """Of each place: the number the chunk's terms go by, ascending."""
    ids: NDArray[Any]
    """Of each place: the id of the chunk."""
    lengths: NDArray[Any]
    """Of each place: terms of the chunk, at most 65,535."""
    hashes: NDArray[Any]
    """Of each term that is not common, ascending."""
    starts: NDArray[Any]
    """Of each such term: where its postings begin; one more at the end."""
    highest: NDArray[Any]
    """Of each such term: its highest code."""
    places: NDArray[Any]
    frequencies: NDArray[Any]
    codes: NDArray[Any]
    common: NDArray[Any]
    """Hashes of terms that many chunks hold, ascending: for them, every place has a frequency and a code, or zeros."""
    common_frequencies: NDArray[Any]
    common_codes: NDArray[Any]

    def find(self, terms: Iterable[str]) -> list[Held]:
        """Return the postings of terms, in their order."""
        wanted = np.array([term_hash(term) for term in terms], dtype=np.uint64)
        row, are_common = _look_up(self.common, wanted)
        at, are_known = _look_up(self.hashes, wanted)
        starts, ends = self.starts.take(at).tolist(), self.starts.take(at + are_known).tolist()
        rows = np.where(are_common, row, -1).tolist()
        return list(map(self._held, rows, at.tolist(), starts, ends))

    def _held(self, row: int, at: int, start: int, end: int) -> Held:
        if row >= 0:
            return Held(None, self.common_frequencies[row], self.common_codes[row], STEPS)
        highest = int(self.highest[at]) if start < end else 0
        return Held(self.places[start:end], self.frequencies[start:end], self.codes[start:end], highest)


class Held(NamedTuple):
    """The postings of one term."""

    places: NDArray[Any] | None
    """None: there is a frequency and a code for every place."""
    frequencies: NDArray[Any]
    codes: NDArray[Any]
    highest: int

    def frequencies_at(self, wanted: NDArray[Any]) -> NDArray[Any]:
        """Return how often chunks at ascending places hold the term."""
        return self._read(self.frequencies, wanted)

    def codes_at(self, wanted: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of ascending places."""
        return self._read(self.codes, wanted)

    def _read(self, values: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
        if self.places is None:
            return values.take(wanted)
        at, are_there = _look_up(self.places, wanted)
        return values.take(at, mode="clip") * are_there if len(values) else are_there


def _look_up(ascending: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return where values stand, or would, and which are there."""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)
    at = ascending.searchsorted(wanted.astype(ascending.dtype, copy=False))
    return at, ascending.take(at, mode="clip") == wanted


def term_hash(term: str) -> int:
    """Return what a term is known by."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _layout(sizes: Mapping[str, int]) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where each array begins and how many elements it has, and where the last one ends."""
    rows = sizes["common"] * sizes["numbers"]
    lengths = {
        **sizes,
        **dict.fromkeys(("numbers", "ids", "lengths"), sizes["numbers"]),
        **{"starts": sizes["hashes"] + 1, "highest": sizes["hashes"]},
        **dict.fromkeys(("frequencies", "codes"), sizes["places"]),
        **dict.fromkeys(("common_frequencies", "common_codes"), rows),
    }
    layout, at = {}, HEAD
    for name, type in TYPES.items():
        layout[name] = (at, lengths[name])
        at += -(-lengths[name] * np.dtype(type).itemsize // 64) * 64
    return layout, at


def _map(path: Path, sizes: Mapping[str, int], *, mean: float, mode: Any) -> TermArrays:
    layout, end = _layout(sizes)
    whole = np.memmap(path, dtype=np.uint8, mode=mode)
    if len(whole) != end:
        raise ValueError(f"{path.name} has a wrong size")
    views = {}
    for name, type in TYPES.items():
        at, length = layout[name]
        view = np.asarray(whole[at : at + length * np.dtype(type).itemsize]).view(type)
        views[name] = view.reshape(sizes["common"], sizes["numbers"]) if name.startswith("common_") else view
    return TermArrays(mean=mean, **views)


def create(path: Path, sizes: Mapping[str, int], *, mean: float) -> TermArrays:
    """Return arrays of a new file, to be filled in."""
    head = json.dumps({"sizes": dict(sizes), "mean": mean}).encode()
    with path.open("wb") as file:
        file.write(head.ljust(HEAD))
        file.truncate(_layout(sizes)[1])
    return _map(path, sizes, mean=mean, mode="r+")


def read(path: Path) -> TermArrays:
    """Return the arrays of a file. Raises `ValueError` or `OSError` where it is none."""
    with path.open("rb") as file:
        said = json.loads(file.read(HEAD))
    return _map(path, said["sizes"], mean=float(said["mean"]), mode="r")
