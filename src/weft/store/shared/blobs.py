"""Arrays from BLOB columns; a malformed value raises `StoreCorrupt`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector
from weft.store.relational.json_columns import unreadable


def read_matrix(blobs: Sequence[bytes], *, dimension: int, dtype: str = "<f2") -> NDArray[np.float32]:
    """Return vectors as the rows of a matrix, of unit length. Raises `StoreCorrupt` if one has another dimension."""
    try:
        matrix = np.frombuffer(b"".join(blobs), dtype).reshape(len(blobs), dimension).astype(np.float32)
    except ValueError as error:
        raise unreadable("a vector of a chunk") from error
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))  # rounding to float16 changes the length
    matrix /= np.where(lengths > 0, lengths, 1)[:, None]
    return matrix


def compare_vectors(matrix: NDArray[np.float32], vector: Vector) -> NDArray[np.float64]:
    """Return the cosine of each row with a vector; the same row has the same cosine in every matrix."""
    # einsum, not `@`: synchronising BLAS threads takes longer than this product.
    cosines: NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector.astype(np.float32))
    return cosines.astype(np.float64)


def read_entries(blobs: Sequence[bytes], entry_type: np.dtype[Any]) -> NDArray[Any]:
    """Return the entries of postings blocks. Raises `StoreCorrupt` if a block ends inside an entry."""
    try:
        return np.frombuffer(b"".join(blobs), dtype=entry_type)
    except ValueError as error:
        raise unreadable("the keyword index") from error
