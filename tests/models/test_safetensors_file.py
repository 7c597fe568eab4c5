"""Safetensors files of the official library are read, damaged files are refused."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load, save

from weft.errors import ModelUnavailable
from weft.models.local.safetensors_file import read_float_tensors

EXAMPLE = b'{"bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'


def make_file(header: object, data: bytes = b"") -> bytes:
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + data


def entry(dtype: str = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def test_the_worked_example_of_the_module_is_right() -> None:
    """Length, header, two values."""
    data = bytes.fromhex("39 00 00 00 00 00 00 00") + EXAMPLE + bytes.fromhex("00 00 80 3f 00 00 00 40")

    np.testing.assert_array_equal(read_float_tensors(data)["bias"], np.array([1, 2], np.float32))


def test_tensors_read_as_the_official_library_wrote_them() -> None:
    """Every shape, in float32; half precision widens without loss."""
    random = np.random.default_rng(0)
    tensors = {
        "matrix": random.normal(size=(5, 3)).astype(np.float32),
        "scalar": np.array(3.5, np.float32),
        "empty": np.zeros((0, 4), np.float32),
        "half": random.normal(size=(7,)).astype(np.float16),
    }

    read = read_float_tensors(save(tensors, metadata={"format": "pt"}))

    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == np.float32
        np.testing.assert_array_equal(read[name], tensor.astype(np.float32))


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    """1.0, -2.0 and the infinity."""
    data = np.array([0x3F80, 0xC000, 0x7F80], "<u2").tobytes()

    read = read_float_tensors(make_file({"x": entry("BF16", [3], [0, 6])}, data))

    np.testing.assert_array_equal(read["x"], np.array([1, -2, np.inf], np.float32))


def test_integers_are_left_out() -> None:
    """A BERT file holds `position_ids` beside its weights."""
    data = save({"position_ids": np.arange(4), "weight": np.ones(2, np.float32)})

    assert list(read_float_tensors(data)) == ["weight"]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "takes 8"),
        (b"1234567", "takes 8"),
        (b"\xff" * 8, "does not fit"),
        (struct.pack("<Q", 3) + b"{}", "does not fit"),
        (make_file(b""), "not valid JSON"),
        (make_file(b"\xff\xff"), "not valid JSON"),
        (make_file(b'{"a":'), "not valid JSON"),
        (make_file(b"[" * 100_000), "not valid JSON"),
        (make_file(b'{"x": 1, "x": 2}'), "duplicate key"),
        (make_file([]), "not a JSON object"),
        (make_file({"x": None}), "invalid entry"),
        (make_file({"x": {"dtype": "F32"}}), "invalid entry"),
        (make_file({"x": entry("F33")}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(shape=2)}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(shape=[-2])}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(shape=[2.0])}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(shape=[True, 2])}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(offsets=[0])}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(offsets=[-8, 0])}, bytes(8)), "invalid entry"),
        (make_file({"x": entry(shape=[3])}, bytes(8)), "8 bytes instead of 12"),
        (make_file({"x": entry(offsets=[8, 0])}, bytes(8)), "-8 bytes"),
        (make_file({"x": entry(shape=[2**62], offsets=[0, 2**64])}, bytes(8)), "the file has"),
        (make_file({"x": entry(offsets=[4, 12])}, bytes(12)), "starts at 4"),
        (make_file({"x": entry(), "y": entry(offsets=[4, 12])}, bytes(12)), "starts at 4"),
        (make_file({"x": entry(), "y": entry()}, bytes(8)), "starts at 0"),
        (make_file({"x": entry()}, bytes(7)), "the file has"),
        (make_file({"x": entry()}, bytes(9)), "the file has"),
    ],
)
def test_a_damaged_file_is_refused(data: bytes, complaint: str) -> None:
    """Every kind of damage has its message, and the hint says what to do."""
    with pytest.raises(ModelUnavailable, match=complaint) as caught:
        read_float_tensors(data)

    assert "weft models fetch" in caught.value.hint


@given(st.data())
def test_any_changed_byte_reads_as_the_official_library_reads_it_or_is_refused(data: st.DataObject) -> None:
    """Never another error, and never other values."""
    whole = bytearray(save({"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(1, np.float32)}))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(whole[: data.draw(st.integers(0, len(whole)))])

    try:
        read = read_float_tensors(damaged)
    except ModelUnavailable:
        return

    try:
        expected = load(damaged)
    except (SafetensorError, KeyError):
        return  # it is stricter about the padding and the metadata of the header
    for name, tensor in read.items():
        np.testing.assert_array_equal(tensor, expected[name].astype(np.float32))
