"""
Vectors of described names with 12 bits per component.

Every store rounds them in the same way, so that all stores return the same scores. A component is `q * 2**e` with
`-2048 <= q < 2048`; the largest one of a vector decides `e`. A cosine changes by about 3e-5. SQLite stores

    1 byte    e
    d bytes   upper 8 bits of each q
    d/2 bytes lower 4 bits: those of component i and of component i + ceil(d/2) share a byte
"""

from __future__ import annotations

import math
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
    numbers, exponent = _quantize(vector)
    return np.ldexp(numbers.astype(np.float32), exponent)


def pack_twelve(vector: Vector) -> bytes:
    """Return a vector in stored form, rounded to 12 bits."""
    numbers, exponent = _quantize(vector)
    low = np.append(numbers & 15, np.zeros(len(numbers) % 2, np.int16)).astype(np.uint8)
    half = len(low) // 2
    pairs = low[:half] | low[half:] << 4
    high = (numbers >> 4).astype(np.int8)
    return bytes([exponent & 255]) + high.tobytes() + pairs.tobytes()


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


def _quantize(vector: Vector) -> tuple[NDArray[np.int16], int]:
    finite = np.nan_to_num(vector, posinf=1.0, neginf=-1.0)
    _, exponent = math.frexp(float(np.abs(finite).max(initial=0.0)))
    exponent = max(exponent - 11, MIN_EXPONENT)
    numbers = np.rint(np.ldexp(finite, -exponent))
    if np.abs(numbers).max(initial=0.0) > MAX_COMPONENT:  # rounded up to the next power of two
        exponent += 1
        numbers = np.rint(np.ldexp(finite, -exponent))
    return numbers.astype(np.int16), exponent
