"""
Memory-mapped file of chunk ids, looked up by row number.

    | n numbers, 8 bytes each, ascending | n ids, 25 bytes each, ASCII, padded with zero bytes |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ID_BYTES = 25

NUMBER_TYPE, ID_TYPE = np.dtype("<i8"), np.dtype(f"S{ID_BYTES}")


def pack_ids(ids: Sequence[str]) -> NDArray[Any]:
    """Return ids as an array of `ID_TYPE`. Raises `ValueError` if one is not ASCII or longer than `ID_BYTES`."""
    packed = np.array([id.encode("ascii") for id in ids], dtype=bytes) if ids else np.zeros(0, ID_TYPE)
    if packed.dtype.itemsize > ID_BYTES:
        raise ValueError(f"chunk id longer than {ID_BYTES} bytes")
    return packed.astype(ID_TYPE)


def unpack_ids(packed: NDArray[Any]) -> list[str]:
    """Return the ids of an array. Raises `ValueError` if one is damaged."""
    ids: list[str] = packed.astype(f"U{ID_BYTES}").tolist()
    return ids


class ChunkIds:
    """Chunk ids by row number."""

    def __init__(self, content: NDArray[np.uint8]) -> None:
        """Read the content of a file. Raises `ValueError` if its size is wrong."""
        count, rest = divmod(len(content), NUMBER_TYPE.itemsize + ID_TYPE.itemsize)
        if rest:
            raise ValueError("file of chunk ids has the wrong size")
        middle = count * NUMBER_TYPE.itemsize
        self.numbers = np.asarray(content[:middle]).view(NUMBER_TYPE)
        """Row numbers, ascending."""
        self.ids = np.asarray(content[middle:]).view(ID_TYPE)
        """Packed ids, parallel to `numbers`."""
        self._first = int(self.numbers[0]) if count else 0
        self._is_dense = count > 0 and int(self.numbers[-1]) - self._first == count - 1
        """True if the numbers have no gaps; the position then follows from the number."""

    def find(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return the packed ids of rows, which must all be in the file."""
        places = numbers - self._first if self._is_dense else self.numbers.searchsorted(numbers)
        return self.ids.take(places, mode="clip")


def write_chunk_ids(path: Path, numbers: Sequence[int], ids: NDArray[Any]) -> None:
    """Write the ids of rows with ascending numbers."""
    with path.open("wb") as file:
        np.array(numbers, dtype=NUMBER_TYPE).tofile(file)
        ids.tofile(file)
