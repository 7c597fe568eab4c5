"""
Writer for ONNX files, in pure Python.

An ONNX file is one Protocol Buffers message of the type `ModelProto`. A message is a sequence of fields.
A field is a tag and a value; the tag is the varint `field number << 3 | wire type`. ONNX needs three wire types:

    type  name              value
    0     varint            integer: 7 bits per byte, lowest bits first; the high bit is set on all bytes but the last
    2     length-delimited  text, bytes or a nested message: its length as a varint, then its bytes
    5     32-bit            float32, little endian

Example: version 300 of the operator set "ai", an `OperatorSetIdProto` with `domain = 1` and `version = 2`:

    0a        tag 1 << 3 | 2: field 1, length-delimited
    02        length 2
    61 69     "ai"
    10        tag 2 << 3 | 0: field 2, varint
    ac 02     300 = 0b10_0101100: the low 7 bits 0101100 with the high bit set, then 10

Negative integers are written as 64-bit two's complement, which takes ten bytes.

The field numbers come from `onnx.proto`. Fields are written in ascending order of their numbers, like the official
library does, so both write the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Attribute: TypeAlias = int | float | Sequence[int]

_VARINT, _LENGTH_DELIMITED, _FIXED32 = 0, 2, 5
_INT64_MASK = (1 << 64) - 1


class ElementType(IntEnum):
    """Type of a tensor's elements, numbered as in `TensorProto.DataType`."""

    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    INT64 = 7


class _AttributeType(IntEnum):
    """Type of an attribute, numbered as in `AttributeProto.AttributeType`."""

    FLOAT = 1
    INT = 2
    INTS = 7


_ELEMENT_TYPES = {
    np.dtype("<f4"): ElementType.FLOAT,
    np.dtype("u1"): ElementType.UINT8,
    np.dtype("i1"): ElementType.INT8,
    np.dtype("<i8"): ElementType.INT64,
}


def encode_model(graph: bytes, *, ir_version: int, opsets: Mapping[str, int]) -> bytes:
    """Return a `ModelProto`. `opsets` maps the domain of each operator set to its version; "" is ONNX's own."""
    imports = (_bytes(8, encode_opset(domain, version=version)) for domain, version in opsets.items())
    return b"".join((_integer(1, ir_version), _bytes(7, graph), *imports))


def encode_opset(domain: str, *, version: int) -> bytes:
    """Return an `OperatorSetIdProto`."""
    return _text(1, domain) + _integer(2, version)


def encode_graph(
    name: str,
    *,
    nodes: Iterable[bytes],
    initializers: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """Return a `GraphProto` of encoded nodes, tensors and values. Nodes must be in execution order."""
    return b"".join(
        (
            *(_bytes(1, node) for node in nodes),
            _text(2, name),
            *(_bytes(5, tensor) for tensor in initializers),
            *(_bytes(11, value) for value in inputs),
            *(_bytes(12, value) for value in outputs),
        )
    )


def encode_node(
    operator: str,
    *,
    inputs: Iterable[str],
    outputs: Iterable[str],
    name: str = "",
    domain: str = "",
    attributes: Mapping[str, Attribute] | None = None,
) -> bytes:
    """Return a `NodeProto`. Attributes are sorted by name; an empty name or domain is omitted."""
    return b"".join(
        (
            *(_text(1, value) for value in inputs),
            *(_text(2, value) for value in outputs),
            _text(3, name) if name else b"",
            _text(4, operator),
            *(_bytes(5, _encode_attribute(key, value)) for key, value in sorted((attributes or {}).items())),
            _text(7, domain) if domain else b"",
        )
    )


def encode_tensor(name: str, *, array: NDArray[Any]) -> bytes:
    """Return a `TensorProto` with the elements in `raw_data`: little endian, last axis fastest."""
    little_endian = array.dtype.newbyteorder("<")
    return b"".join(
        (
            *(_integer(1, length) for length in array.shape),
            _integer(2, _ELEMENT_TYPES[little_endian]),
            _text(8, name),
            _bytes(9, array.astype(little_endian, copy=False).tobytes()),
        )
    )


def encode_value_info(name: str, *, element_type: ElementType, shape: Iterable[int | str]) -> bytes:
    """Return a `ValueInfoProto` of a tensor. A text in `shape` names an axis whose length is known at run time."""
    axes = (_text(2, axis) if isinstance(axis, str) else _integer(1, axis) for axis in shape)
    tensor_shape = b"".join(_bytes(1, axis) for axis in axes)
    tensor_type = _integer(1, element_type) + _bytes(2, tensor_shape)
    return _text(1, name) + _bytes(2, _bytes(1, tensor_type))


def _encode_attribute(name: str, value: Attribute) -> bytes:
    """Return an `AttributeProto`."""
    if isinstance(value, int):
        field, attribute_type = _integer(3, value), _AttributeType.INT
    elif isinstance(value, float):
        field, attribute_type = _float(2, value), _AttributeType.FLOAT
    else:
        # ONNX uses proto2, where repeated integers are not packed into one field.
        field, attribute_type = b"".join(_integer(8, item) for item in value), _AttributeType.INTS
    return _text(1, name) + field + _integer(20, attribute_type)


def _integer(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _varint(value & _INT64_MASK)


def _float(number: int, value: float) -> bytes:
    return _tag(number, _FIXED32) + struct.pack("<f", value)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return b"".join((_tag(number, _LENGTH_DELIMITED), _varint(len(value)), value))


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
