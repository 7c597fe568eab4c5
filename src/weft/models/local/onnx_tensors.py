"""
Reader for the tensors (initializers) of an ONNX file, in pure Python. Nodes of the graph are not read.

    message      field  content
    ModelProto   7      graph, a `GraphProto`
    GraphProto   5      initializer, a `TensorProto`; repeated
    TensorProto  1      length of an axis, a varint, repeated; or all lengths packed into one field
                 2      element type, a varint
                 4      float32 elements, packed; if `raw_data` is missing
                 5      int8 or uint8 elements as varints, packed or repeated; if `raw_data` is missing
                 8      name
                 9      raw_data: elements, little endian, last axis fastest

`onnx_protobuf.py` describes the encoding of a field.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.models.local.onnx_protobuf import ElementType
from weft.models.local.safetensors_file import Array, unreadable_weights

_MAX_VARINT_BYTES = 10

_DTYPES: dict[int, np.dtype[Any]] = {
    ElementType.FLOAT: np.dtype("<f4"),
    ElementType.UINT8: np.dtype("u1"),
    ElementType.INT8: np.dtype("i1"),
    ElementType.INT64: np.dtype("<i8"),
}


def read_tensors(data: bytes) -> dict[str, NDArray[Any]]:
    """
    Return the float32, int8, uint8 and int64 initializers of an ONNX file, by name.

    Raises `ModelUnavailable` if the file is damaged.
    """
    tensors: dict[str, NDArray[Any]] = {}
    for number, graph in _fields(memoryview(data)):
        if number != 7 or isinstance(graph, int):
            continue
        for inner, tensor in _fields(graph):
            if inner == 5 and not isinstance(tensor, int):
                name, values = _read_tensor(tensor)
                tensors[name] = values
    return tensors


def read_quantised(tensors: dict[str, NDArray[Any]], name: str) -> Array:
    """
    Return a tensor that onnxruntime's dynamic quantisation stored as three, as float32.

    The three tensors are `NAME_quantized` (int8 or uint8), `NAME_scale` and `NAME_zero_point`.
    """
    try:
        values = tensors[f"{name}_quantized"].astype(np.float32)
        zero, scale = tensors[f"{name}_zero_point"], tensors[f"{name}_scale"]
        tensor: Array = (values - zero.astype(np.float32)) * scale
    except KeyError as error:
        raise unreadable_weights(f"tensor {error.args[0]!r} is missing") from error
    return tensor


def _read_tensor(message: memoryview) -> tuple[str, NDArray[Any]]:
    """Return the name and the elements of a `TensorProto`."""
    name, kind, shape = "", 0, list[int]()
    raw, floats, integers = memoryview(b""), b"", list[int]()
    for number, value in _fields(message):
        match number, value:
            case 1, _:
                shape += _integers(value)
            case 2, int():
                kind = value
            case 4, memoryview():
                floats += value
            case 4, _:
                raise unreadable_weights("float elements are not packed")
            case 5, _:
                integers += _integers(value)
            case 8, memoryview():
                name = bytes(value).decode("utf-8", "replace")
            case 9, memoryview():
                raw = value
    if kind not in _DTYPES:
        raise unreadable_weights(f"tensor {name!r} has the unknown element type {kind}")
    try:
        values = np.array(integers, _DTYPES[kind]) if integers else np.frombuffer(raw or floats, _DTYPES[kind])
        return name, values.reshape([max(0, length) for length in shape])
    except (ValueError, OverflowError) as error:
        raise unreadable_weights(f"tensor {name!r} does not have the shape {shape}") from error


def _integers(value: int | memoryview) -> list[int]:
    """Return the integers of a field: one, or several packed."""
    if isinstance(value, int):
        return [value]
    found, offset = [], 0
    while offset < len(value):
        number, offset = _varint(value, offset)
        found.append(number)
    return found


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield field number and value of each field: an integer for a varint, otherwise the bytes."""
    offset = 0
    while offset < len(message):
        tag, offset = _varint(message, offset)
        match tag & 7:
            case 0:
                value, offset = _varint(message, offset)
                yield tag >> 3, value
                continue
            case 2:
                length, offset = _varint(message, offset)
            case 1:
                length = 8
            case 5:
                length = 4
            case wire_type:
                raise unreadable_weights(f"the ONNX file has a field of the unknown wire type {wire_type}")
        if not 0 <= length <= len(message) - offset:
            raise unreadable_weights("the ONNX file is truncated")
        yield tag >> 3, message[offset : offset + length]
        offset += length


def _varint(message: memoryview, offset: int) -> tuple[int, int]:
    """Return the integer at `offset`, as 64-bit two's complement, and the offset behind it."""
    value = 0
    for position, byte in enumerate(message[offset : offset + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            (signed,) = struct.unpack("<q", struct.pack("<Q", value & 0xFFFF_FFFF_FFFF_FFFF))
            return signed, offset + position + 1
    raise unreadable_weights("the ONNX file is truncated")
