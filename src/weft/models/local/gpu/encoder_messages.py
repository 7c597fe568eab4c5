"""
Messages between a process that indexes and the one that runs its model.

    parent   description of the model, then lists of texts; each a JSON value after its length: 4 bytes, big-endian
    child    an answer to each: a JSON value in the same form, and after {"rows": N} the N vectors as float32

    {"ready": true}                         the model is on the device
    {"rows": N}                             the vectors follow
    {"error": message, "hint": hint}        a `ModelUnavailable`
    {"missing": package}                    a package that cannot be imported
"""

from __future__ import annotations

import json
from io import RawIOBase
from typing import Any

import numpy as np

from weft.records import Vectors

HEADER_BYTES = 4


def write_json(stream: RawIOBase, value: Any) -> None:
    """Write one JSON value. Raises `OSError` if the other process has ended."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    _write(stream, len(data).to_bytes(HEADER_BYTES, "big") + data)


def read_json(stream: RawIOBase) -> Any:
    """Return the next JSON value. Raises `EOFError` if the other process has ended."""
    length = int.from_bytes(_read(stream, HEADER_BYTES), "big")
    return json.loads(_read(stream, length).decode("utf-8", "surrogatepass"))


def write_vectors(stream: RawIOBase, vectors: Vectors) -> None:
    """Write the rows of a matrix. Raises `OSError` if the other process has ended."""
    _write(stream, np.ascontiguousarray(vectors, np.float32).tobytes())


def read_vectors(stream: RawIOBase, *, rows: int, columns: int) -> Vectors:
    """Return a matrix. Raises `EOFError` if the other process has ended."""
    return np.frombuffer(_read(stream, 4 * rows * columns), np.float32).reshape(rows, columns)


def _write(stream: RawIOBase, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


def _read(stream: RawIOBase, count: int) -> bytearray:
    data = bytearray(count)
    rest = memoryview(data)
    while rest:
        found = stream.readinto(rest)
        if not found:
            raise EOFError
        rest = rest[found:]
    return data
