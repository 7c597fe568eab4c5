"""The reader of ONNX tensors reads what the official library writes and refuses damaged files."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from tiny_model import LAYERS, make_architecture, make_onnx, make_safetensors, make_tensors

from weft.errors import ModelUnavailable
from weft.models.local.onnx_tensors import read_tensors
from weft.models.local.weights import read_onnx, read_safetensors

ARRAYS = {
    "float": np.array([[1.5, -2.0], [0.0, 3.25]], np.float32),
    "signed": np.array([-128, 0, 127], np.int8),
    "unsigned": np.array([[0], [255]], np.uint8),
    "long": np.array([-(2**62), 7], np.int64),
    "scalar": np.array(0.125, np.float32),
}


def save(tensors: list[TensorProto]) -> bytes:
    data: bytes = helper.make_model(helper.make_graph([], "weights", [], [], tensors)).SerializeToString()
    return data


def test_tensors_read_as_the_official_library_wrote_them() -> None:
    """Every type that the models use, with and without an axis."""
    read = read_tensors(save([numpy_helper.from_array(array, name) for name, array in ARRAYS.items()]))

    assert read.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (read[name].dtype, read[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(read[name], array)


def test_elements_outside_raw_data_are_read() -> None:
    """onnxruntime writes scales and zero points as typed fields."""
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [2], [0.5, 0.25])
    zero = helper.make_tensor("zero", TensorProto.INT8, [2], [-3, 4])

    read = read_tensors(save([scale, zero]))

    np.testing.assert_array_equal(read["scale"], np.array([0.5, 0.25], np.float32))
    np.testing.assert_array_equal(read["zero"], np.array([-3, 4], np.int8))


def test_an_element_type_of_no_model_is_refused() -> None:
    """A tensor that cannot be read must not be left out silently."""
    with pytest.raises(ModelUnavailable, match="element type"):
        read_tensors(save([helper.make_tensor("half", TensorProto.FLOAT16, [1], [1.0])]))


@given(st.data())
def test_damaged_files_are_refused_or_read(data: st.DataObject) -> None:
    """No damage raises anything but `ModelUnavailable`."""
    whole = save([numpy_helper.from_array(array, name) for name, array in ARRAYS.items()])
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] if data.draw(st.booleans()) else whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]

    with suppress(ModelUnavailable):
        read_tensors(damaged)


def test_a_quantised_export_reads_like_the_weights_it_was_made_of() -> None:
    """Matrices are found by their order, transposed and scaled; the rest by name."""
    tensors = make_tensors()
    exported = read_onnx(make_onnx(tensors), architecture=make_architecture("onnx-bert"))
    original = read_safetensors(make_safetensors(), architecture=make_architecture())

    np.testing.assert_array_equal(exported.norm.scale, original.norm.scale)
    np.testing.assert_allclose(exported.words, original.words, atol=0.03)
    for layer, expected in zip(exported.layers, original.layers, strict=True):
        for name in ("attention_in", "attention_out", "feed_in", "feed_out"):
            np.testing.assert_allclose(getattr(layer, name).weight, getattr(expected, name).weight, atol=0.01)
            np.testing.assert_array_equal(getattr(layer, name).bias, getattr(expected, name).bias)


def test_an_export_of_another_depth_is_refused() -> None:
    """The number of matrices must fit the architecture."""
    tensors = {name: array for name, array in make_tensors().items() if f"layer.{LAYERS - 1}" not in name}

    with pytest.raises(ModelUnavailable, match="matrices"):
        read_onnx(make_onnx(tensors), architecture=make_architecture("onnx-bert"))
