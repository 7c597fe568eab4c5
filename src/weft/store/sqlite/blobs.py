"""Arrays from BLOB columns; a malformed value raises `StoreCorrupt`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.store.relational.json_columns import unreadable


def read_matrix(blobs: Sequence[bytes], *, dimension: int) -> NDArray[np.float32]:
    """Return vectors as the rows of a matrix. Raises `StoreCorrupt` if one has another dimension."""
    try:
        return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), dimension)
    except ValueError as error:
        raise unreadable("a vector of a chunk") from error


def read_entries(blobs: Sequence[bytes], entry_type: np.dtype[Any]) -> NDArray[Any]:
    """Return the entries of postings blocks. Raises `StoreCorrupt` if a block ends inside an entry."""
    try:
        return np.frombuffer(b"".join(blobs), dtype=entry_type)
    except ValueError as error:
        raise unreadable("the keyword index") from error
