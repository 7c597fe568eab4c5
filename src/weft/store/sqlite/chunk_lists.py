"""
Lists of chunks in packed form, as functions in SQL.

    pack_chunks(numbers, count)   a JSON array of numbers as a blob; `count` is how many there are with unlisted ones
    list_chunks(blob)             the listed numbers as a JSON array
    count_chunks(blob, numbers)   number of chunks of a blob, and of those in a JSON array that it does not list

Each number is stored as its distance from the one before, seven bits a byte, the lowest first. A list that leaves out
chunks begins with 0 and the number of all:

    3, 5, 300              03 02 A7 02
    3, 5, 300 of a 1000    00 E8 07 03 02 A7 02
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apsw


class ChunkList(NamedTuple):
    """Different numbers of chunks, in order."""

    numbers: list[int]
    size: int
    """Number of chunks, also of those that are not listed."""


def add_chunk_list_functions(db: apsw.Connection) -> None:
    """Register the functions on a connection."""
    db.create_scalar_function("pack_chunks", _pack, 2)
    db.create_scalar_function("list_chunks", lambda *values: json.dumps(unpack_chunks(_blob(values[0])).numbers), 1)
    db.create_scalar_function("count_chunks", _count, 2)


def pack_chunks(numbers: Iterable[int], *, size: int = 0) -> bytes:
    """Return the packed form of different numbers; `size` is larger than their number if some are left out."""
    ordered = sorted(numbers)
    if len(ordered) == 1 and size < 2:  # hot: nearly all lists
        return _pack_one(ordered[0])
    packed = bytearray()
    if size > len(ordered):
        packed.append(0)
        _append(packed, size)
    last = 0
    for number in ordered:
        _append(packed, number - last)
        last = number
    return bytes(packed)


def unpack_chunks(packed: bytes) -> ChunkList:
    """Return a list from its packed form."""
    values = _values(packed)
    numbers: list[int] = []
    last = size = 0
    for value in values:
        if value:
            last += value
            numbers.append(last)
        else:
            size = next(values, 0)
    return ChunkList(numbers, max(size, len(numbers)))


def _pack_one(value: int) -> bytes:
    if value < 1 << 14:
        return bytes((value,) if value < 128 else (128 | value & 127, value >> 7))
    packed = bytearray()
    _append(packed, value)
    return bytes(packed)


def _append(packed: bytearray, value: int) -> None:
    while value > 127:
        packed.append(128 | value & 127)
        value >>= 7
    packed.append(value)


def _values(packed: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def _pack(*values: Any) -> bytes:
    numbers, size = values
    return pack_chunks(json.loads(str(numbers)), size=int(size))


def _count(*values: Any) -> int:
    packed, numbers = values
    found = unpack_chunks(_blob(packed))
    return found.size + len(set(json.loads(str(numbers))).difference(found.numbers))


def _blob(value: Any) -> bytes:
    return value if isinstance(value, bytes) else b""
