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
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 255
HEAD = 4096
"""Bytes before the first array: what stands where, as JSON."""

TYPES = {
    "numbers": "<i8",
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
        among, at = np.searchsorted(self.common, wanted).tolist(), np.searchsorted(self.hashes, wanted).tolist()
        return [self._held(*places) for places in zip(wanted, among, at, strict=True)]

    def _held(self, wanted: np.uint64, common: int, at: int) -> Held:
        if common < len(self.common) and self.common[common] == wanted:
            return Held(None, self.common_frequencies[common], self.common_codes[common], STEPS)
        if at < len(self.hashes) and self.hashes[at] == wanted:
            where = slice(int(self.starts[at]), int(self.starts[at + 1]))
            return Held(self.places[where], self.frequencies[where], self.codes[where], int(self.highest[at]))
        return Held(self.places[:0], self.frequencies[:0], self.codes[:0], 0)


@dataclass(frozen=True, slots=True)
class Held:
    """The postings of one term."""

    places: NDArray[Any] | None
    """None: there is a frequency and a code for every place."""
    frequencies: NDArray[Any]
    codes: NDArray[Any]
    highest: int

    def look(self, wanted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | slice]:
        """Return where the postings of ascending places stand, and which of these have any."""
        if self.places is None:
            return wanted, slice(None)
        if not len(self.places):
            return wanted[:0], wanted[:0]
        at = np.searchsorted(self.places, wanted.astype(self.places.dtype))
        at[at == len(self.places)] = 0
        there = np.flatnonzero(self.places[at] == wanted)
        return at[there], there


def term_hash(term: str) -> int:
    """Return what a term is known by."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _layout(sizes: Mapping[str, int]) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where each array begins and how many elements it has, and where the last one ends."""
    rows = sizes["common"] * sizes["numbers"]
    lengths = {
        **sizes,
        **dict.fromkeys(("numbers", "lengths"), sizes["numbers"]),
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
