"""ONNX files that the official library reads, byte for byte as it writes them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tiny_model import make_architecture, make_safetensors

from weft.models.local.onnx_graph import CONTRIB, Precision, build_model
from weft.models.local.onnx_protobuf import (
    Attribute,
    ElementType,
    encode_graph,
    encode_model,
    encode_node,
    encode_opset,
    encode_tensor,
    encode_value_info,
)
from weft.models.local.weights import read_safetensors

LARGEST_INT64 = 2**63 - 1


def build_tiny(precision: Precision) -> bytes:
    architecture = make_architecture()
    encoder = read_safetensors(make_safetensors(), architecture=architecture)
    return build_model(encoder, architecture=architecture, precision=precision)


def test_the_worked_example_of_the_module_is_right() -> None:
    """Tag, length, text; tag, varint of two bytes."""
    assert encode_opset("ai", version=300) == bytes.fromhex("0a 02 61 69 10 ac 02")


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_the_official_checker_accepts_the_model(precision: Precision) -> None:
    """Structure, operators, opsets and the order of nodes are valid."""
    onnx.checker.check_model(onnx.load_from_string(build_tiny(precision)))


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_the_official_library_writes_the_same_bytes(precision: Precision) -> None:
    """Parsing loses nothing and serialising adds nothing, so no field is unknown, missing or in another order."""
    written = build_tiny(precision)

    assert onnx.load_from_string(written).SerializeToString(deterministic=True) == written


def test_reading_back_gives_the_same_nodes_and_initializers() -> None:
    """A small model made with the official library is the same file."""
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    last_axis: dict[str, Attribute] = {"axis": -1, "epsilon": 1e-12}

    written = encode_model(
        encode_graph(
            "small",
            nodes=[
                encode_node("Gather", inputs=["table", "ids"], outputs=["rows"], name="rows", attributes={"axis": 0}),
                encode_node("BiasGelu", inputs=["rows", "bias"], outputs=["out"], domain=CONTRIB, attributes=last_axis),
            ],
            initializers=[encode_tensor("table", array=table), encode_tensor("bias", array=table[0])],
            inputs=[encode_value_info("ids", element_type=ElementType.INT64, shape=(1, "tokens"))],
            outputs=[encode_value_info("out", element_type=ElementType.FLOAT, shape=(1, "tokens", 3))],
        ),
        ir_version=9,
        opsets={"": 17, CONTRIB: 1},
    )

    expected = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Gather", ["table", "ids"], ["rows"], name="rows", axis=0),
                helper.make_node("BiasGelu", ["rows", "bias"], ["out"], domain=CONTRIB, axis=-1, epsilon=1e-12),
            ],
            "small",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, "tokens", 3])],
            [numpy_helper.from_array(table, "table"), numpy_helper.from_array(table[0], "bias")],
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)],
        ir_version=9,
    )
    read = onnx.load_from_string(written)
    assert list(read.graph.node) == list(expected.graph.node)
    assert list(read.graph.initializer) == list(expected.graph.initializer)
    assert written == expected.SerializeToString(deterministic=True)


@pytest.mark.parametrize(
    "value",
    [0, 1, 127, 128, 16_383, 16_384, LARGEST_INT64, -1, -LARGEST_INT64 - 1, 0.0, -1.5, 1e-12, [1], [-1, 0, 300]],
)
def test_an_attribute_reads_back_as_it_was(value: Attribute) -> None:
    """Around the bounds of varints and of 64 bits; floats in single precision."""
    node = onnx.NodeProto.FromString(encode_node("Any", inputs=[], outputs=[], attributes={"value": value}))

    assert list(node.attribute) == [helper.make_attribute("value", value)]


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int8, np.int64, ">f4", ">i8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 200)])
def test_a_tensor_reads_back_as_it_was(dtype: str, shape: tuple[int, ...]) -> None:
    """All element types, byte orders and numbers of axes are read back."""
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)

    tensor = onnx.TensorProto.FromString(encode_tensor("weights", array=array))

    assert tensor.name == "weights"
    np.testing.assert_array_equal(numpy_helper.to_array(tensor), array, strict=False)


def test_a_transposed_matrix_is_written_row_by_row() -> None:
    """The order of elements follows the shape, not the memory."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T

    tensor = onnx.TensorProto.FromString(encode_tensor("weights", array=array))

    np.testing.assert_array_equal(numpy_helper.to_array(tensor), array)
