"""
Vectors of described names with 12 bits per component.

Every store rounds them in the same way, so that all stores return the same scores. A component is `q * 2**e` with
`-2048 <= q < 2048`; the largest one of a vector decides `e`. A cosine changes by about 3e-5. SQLite stores

    1 byte    e
    d bytes   upper 8 bits of each q
    d/2 bytes lower 4 bits: those of component i and of component i + ceil(d/2) share a byte
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.records import Vector

MAX_COMPONENT = 2047
"""Largest q."""

MIN_EXPONENT = -100
"""Smallest e, for vectors that are nearly zero. It fits into a byte."""


def round_to_twelve(vector: Vector) -> Vector:
    """Return a vector with its components rounded to 12 bits."""
    numbers, exponents = _quantize(np.asarray(vector)[None])
    rounded: Vector = np.ldexp(numbers[0].astype(np.float32), exponents[0])
    return rounded


def pack_twelve(vectors: Sequence[Vector]) -> list[bytes]:
    """Return vectors in stored form, rounded to 12 bits."""
    if len({len(vector) for vector in vectors}) != 1:
        return [value for vector in vectors for value in pack_twelve([vector])]
    numbers, exponents = _quantize(np.asarray(vectors))
    low = (numbers & 15).astype(np.uint8)
    half = -(-low.shape[1] // 2)
    pairs = low[:, :half].copy()
    pairs[:, : low.shape[1] - half] |= low[:, half:] << 4
    high = (numbers >> 4).astype(np.int8).view(np.uint8)
    rows = np.concatenate((exponents[:, None].astype(np.int8).view(np.uint8), high, pairs), axis=1)
    return [row.tobytes() for row in rows]


def unpack_twelve(values: Sequence[bytes]) -> list[Vector]:
    """Return vectors from their stored form. A damaged one has another length."""
    if len({len(value) for value in values}) > 1:
        return [vector for value in values for vector in unpack_twelve([value])]
    if not any(values):
        return [np.zeros(0, np.float32) for _ in values]
    rows = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)
    dimension = (rows.shape[1] - 1) * 2 // 3
    high, pairs = rows[:, 1 : 1 + dimension].view(np.int8), rows[:, 1 + dimension :]
    low = np.concatenate((pairs & 15, pairs >> 4), axis=1)[:, :dimension]
    exponents = rows[:, :1].view(np.int8).astype(np.int32)
    return list(np.ldexp(high.astype(np.float32) * 16 + low, exponents))


def _quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """Return the numbers of vectors, one in each row, and their exponents."""
    finite = np.nan_to_num(vectors, posinf=1.0, neginf=-1.0)
    _, exponents = np.frexp(np.abs(finite).max(axis=1, initial=0.0))
    exponents = np.maximum(exponents - 11, MIN_EXPONENT)
    numbers = np.rint(np.ldexp(finite, -exponents[:, None]))
    rounded_up = np.abs(numbers).max(axis=1, initial=0.0) > MAX_COMPONENT  # to the next power of two
    if rounded_up.any():
        exponents = exponents + rounded_up
        numbers = np.rint(np.ldexp(finite, -exponents[:, None]))
    return numbers.astype(np.int16), exponents
