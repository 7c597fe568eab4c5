"""
Reader for safetensors files, in pure Python.

    offset   bytes   content
    0        8       n, the length of the header (unsigned, little endian)
    8        n       header, a JSON object: tensor name -> {"dtype", "shape", "data_offsets": [start, end]}
    8 + n    rest    tensors, row by row, little endian; `data_offsets` count from here

Example: a file with one tensor of two float32 values (n = 57 = 0x39):

    39 00 00 00 00 00 00 00
    {"bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}
    00 00 80 3f 00 00 00 40                                     1.0, 2.0

The tensors must fill the rest of the file without gaps or overlaps. The key `__metadata__` describes no tensor.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.errors import ModelUnavailable

Array: TypeAlias = NDArray[np.float32]

MAX_HEADER_BYTES = 100_000_000
"""Limit of the official library."""

_METADATA = "__metadata__"
_ELEMENT_BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "U32": 4, "I32": 4, "U64": 8, "I64": 8,
    "F16": 2, "BF16": 2, "F32": 4, "F64": 8,
}  # fmt: skip
_FLOATS = frozenset({"F16", "BF16", "F32"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One tensor of the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def read_float_tensors(data: bytes) -> dict[str, Array]:
    """
    Return the F32, F16 and BF16 tensors of a file as float32, by name.

    Tensors of other types are checked and omitted: `position_ids` of a BERT model is one.
    Raises `ModelUnavailable` if the file is damaged.
    """
    header, data_start = _read_header(data)
    entries = sorted((_read_entry(name, fields) for name, fields in header.items()), key=lambda entry: entry.start)
    expected_start = 0
    for entry in entries:
        if entry.start != expected_start:
            raise unreadable_weights(f"tensor {entry.name!r} starts at {entry.start} instead of {expected_start}")
        expected_start = entry.end
    if data_start + expected_start != len(data):
        raise unreadable_weights(f"the file has {len(data)} bytes instead of {data_start + expected_start}")
    return {entry.name: _read_floats(data, entry, data_start) for entry in entries if entry.dtype in _FLOATS}


def unreadable_weights(reason: str) -> ModelUnavailable:
    """Return the error for a damaged weights file."""
    return ModelUnavailable(
        f"cannot read the weights of the model: {reason}",
        hint="run `weft models fetch` again",
    )


def _read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the tensors' entries and the offset of the first tensor."""
    if len(data) < 8:
        raise unreadable_weights(f"the file has {len(data)} bytes, but the header length takes 8")
    (length,) = struct.unpack_from("<Q", data)
    if length > min(MAX_HEADER_BYTES, len(data) - 8):
        raise unreadable_weights(f"a header of {length} bytes does not fit into a file of {len(data)}")
    try:
        header = json.loads(data[8 : 8 + length].decode(), object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        raise unreadable_weights(f"the header is not valid JSON: {error}") from error
    if not isinstance(header, dict):
        raise unreadable_weights("the header is not a JSON object")
    header.pop(_METADATA, None)
    return header, 8 + length


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raises `ValueError` for a duplicate key, because parsers disagree on its value."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("the header has a duplicate key")
    return fields


def _read_entry(name: str, fields: Any) -> _Entry:
    """Return one checked entry of the header: known type, and as many bytes as the shape needs."""
    try:
        dtype, shape, (start, end) = fields["dtype"], tuple(fields["shape"]), fields["data_offsets"]
        element_bytes = _ELEMENT_BYTES[dtype]
    except (KeyError, TypeError, ValueError) as error:
        raise unreadable_weights(f"tensor {name!r} has an invalid entry: {fields!r:.200}") from error
    if not all(type(number) is int and number >= 0 for number in (*shape, start, end)):
        raise unreadable_weights(f"tensor {name!r} has an invalid entry: {fields!r:.200}")
    expected = math.prod(shape) * element_bytes
    if end - start != expected:
        raise unreadable_weights(f"tensor {name!r} has {end - start} bytes instead of {expected}")
    return _Entry(name=name, dtype=dtype, shape=shape, start=start, end=end)


def _read_floats(data: bytes, entry: _Entry, data_start: int) -> Array:
    raw = memoryview(data)[data_start + entry.start : data_start + entry.end]
    values: Array
    if entry.dtype == "BF16":  # the upper 16 bits of a float32
        values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        values = np.frombuffer(raw, "<f2" if entry.dtype == "F16" else "<f4").astype(np.float32, copy=False)
    return values.reshape(entry.shape)
