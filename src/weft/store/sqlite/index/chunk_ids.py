"""The ids of chunks by the numbers that an index knows their rows by, in a file that is mapped into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 25
"""Bytes of an id."""

NUMBER, ID = np.dtype("<i8"), np.dtype(f"S{WIDTH}")


def pack_ids(ids: Sequence[str]) -> NDArray[Any]:
    """Return ids as an array. Raises `ValueError` where one is none of ours."""
    packed = np.array([id.encode("ascii") for id in ids], dtype=bytes) if ids else np.zeros(0, ID)
    if packed.dtype.itemsize > WIDTH:
        raise ValueError("an id is too long for an index")
    return packed.astype(ID)


def unpack_ids(packed: NDArray[Any]) -> list[str]:
    """Return the ids of an array. Raises `ValueError` where some are damaged."""
    ids: list[str] = packed.astype(f"U{WIDTH}").tolist()
    return ids


class ChunkNames:
    """Ids by number."""

    def __init__(self, path: Path) -> None:
        """Map a file. Raises `OSError` or `ValueError` where that cannot be."""
        whole = np.memmap(path, dtype=np.uint8, mode="r")
        count, rest = divmod(len(whole), NUMBER.itemsize + ID.itemsize)
        if rest:
            raise ValueError(f"{path.name} has a wrong size")
        middle = count * NUMBER.itemsize
        self._numbers = np.asarray(whole[:middle]).view(NUMBER)
        self._ids = np.asarray(whole[middle:]).view(ID)
        self._first = int(self._numbers[0]) if count else 0
        self._is_dense = count > 0 and int(self._numbers[-1]) - self._first == count - 1
        """Whether no number is left out, so that a row stands where its number says."""

    def find(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return the ids of rows. All must be there."""
        places = numbers - self._first if self._is_dense else self._numbers.searchsorted(numbers)
        return self._ids.take(places, mode="clip")


def write_names(path: Path, numbers: Sequence[int], ids: NDArray[Any]) -> None:
    """Write the ids of rows with ascending numbers."""
    with path.open("wb") as file:
        np.array(numbers, dtype=NUMBER).tofile(file)
        ids.tofile(file)
