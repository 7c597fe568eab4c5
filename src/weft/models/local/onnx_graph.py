"""
ONNX graph that maps token ids to one unit vector.

    input_ids ─┬─ Gather ─ (dequantise) ─┐
               └─ Shape ─ Slice positions ┴─ Add ─ LayerNormalization ─ layers ─ pool ─ LpNormalization ─ embedding

    layer: MatMul ─ Split ─ MultiHeadAttention ─ MatMul ─ SkipLayerNormalization
           ─ MatMul ─ BiasGelu ─ MatMul ─ SkipLayerNormalization

A run takes one unpadded text, so the graph needs no attention mask. With CLS pooling, the last layer computes the state
of the first token only; the vector is the same.

    precision    multiplication    int8 weights             int8 activations
    int8         MatMulNBits       a scale per 64 weights   a scale per token and 64 values
    float32      MatMul

The graph of a model is `int8`. An installation builds `float32` only where `int8` computes wrongly, and for devices
other than the CPU. The processor decides which one runs, never a measurement of time (decision 0036).

In both, a vector depends only on its text. `quantize_dynamic` of onnxruntime quantises activations per tensor. It is a
fifth faster, but vectors depend on their batch and are less precise:

                                              granite-30m              minilm-l6
                                              per block   per tensor   per block   per tensor
    cosine with float32                       0.9998      0.967        0.9994      0.994
    recall@5 on 100 MuSiQue questions         0.694       0.658        0.620       0.612
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.models.local.catalog import Architecture
from weft.models.local.onnx_protobuf import (
    Attribute,
    ElementType,
    encode_graph,
    encode_model,
    encode_node,
    encode_tensor,
    encode_value_info,
)
from weft.models.local.safetensors_file import Array
from weft.models.local.weights import Dense, Encoder, Layer, Norm, read_graph

Precision: TypeAlias = Literal["int8", "float32"]

BLOCK = 64
"""Number of weights that share a scale. The granite pack has the same group size, so its weights are not changed."""

CONTRIB = "com.microsoft"
"""Domain of onnxruntime's fused operators."""

ONNX_OPSET = 17
ONNX_IR = 9
INT8_ACTIVATIONS = 4
"""`accuracy_level` of MatMulNBits: multiply in int8 where the processor has instructions for it."""


def build_model(encoder: Encoder, *, architecture: Architecture, precision: Precision = "int8") -> bytes:
    """
    Return an ONNX file with input `input_ids` (1, tokens) and output `embedding` (1, hidden).

    The same weights give the same bytes.
    """
    graph = _Graph(architecture, precision=precision)
    states = graph.embed(encoder)
    for number, layer in enumerate(encoder.layers):
        first_only = architecture.pooling == "cls" and number == len(encoder.layers) - 1
        states = graph.layer(f"layer{number}", states=states, layer=layer, first_only=first_only)
    graph.pool(states)
    inputs = [encode_value_info("input_ids", element_type=ElementType.INT64, shape=(1, "tokens"))]
    outputs = [encode_value_info("embedding", element_type=ElementType.FLOAT, shape=(1, architecture.hidden))]
    encoded = encode_graph("encoder", nodes=graph.nodes, initializers=graph.constants, inputs=inputs, outputs=outputs)
    return encode_model(encoded, ir_version=ONNX_IR, opsets={"": ONNX_OPSET, CONTRIB: 1})


def quantise(weights: Array) -> tuple[NDArray[np.int8], Array]:
    """
    Return int8 values (…, blocks, BLOCK) and their scales (…, blocks, 1), symmetric around 0.

    The last axis is split into blocks; the last block is padded with zeros.
    """
    width = weights.shape[-1]
    padded = np.pad(weights, [(0, 0)] * (weights.ndim - 1) + [(0, -width % BLOCK)])
    blocks = padded.reshape(*weights.shape[:-1], -1, BLOCK)
    scales = np.abs(blocks).max(axis=-1, keepdims=True) / np.float32(127)
    values = np.rint(blocks / np.where(scales == 0, np.float32(1), scales))
    return values.astype(np.int8), scales.astype(np.float32)


def make_float_graph(graph: bytes, *, architecture: Architecture) -> bytes:
    """Return the float32 graph with the weights of an installed one. All execution providers have its operators."""
    return build_model(read_graph(graph, architecture=architecture), architecture=architecture, precision="float32")


class _Graph:
    """Nodes and initializers of the graph. Each method adds some and returns the name of their output."""

    def __init__(self, architecture: Architecture, *, precision: Precision) -> None:
        self.architecture = architecture
        self.precision = precision
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []

    def embed(self, encoder: Encoder) -> str:
        """Look up words and positions, add them and normalise the sum."""
        words = self._words(encoder.words)
        self._add("Shape", ["input_ids"], "token_count", start=1, end=2)
        table = self._constant("positions", encoder.positions + encoder.segment)
        zero = self._constant("zero", np.array([0], np.int64))
        positions = self._add("Slice", [table, zero, "token_count", zero], "positions_used")
        total = self._add("Add", [words, positions], "embedding_sum")
        scale, shift = self._norm("embedding_norm", encoder.norm)
        epsilon = self.architecture.epsilon
        return self._add("LayerNormalization", [total, scale, shift], "states", axis=-1, epsilon=epsilon)

    def layer(self, name: str, *, states: str, layer: Layer, first_only: bool) -> str:
        """Add attention and feed-forward network, each with its residual and layer norm."""
        if first_only:
            first = self._constant("first_tokens", np.array([0], np.int64))
            one = self._add("Gather", [states, first], "first_states", axis=1)
            attended = self._attend_first(name, states=states, one=one, attention_in=layer.attention_in)
            states = one
        else:
            attended = self._attend(name, states=states, attention_in=layer.attention_in)
        mixed = self._multiply(f"{name}.attention_out", attended, dense=layer.attention_out)
        states = self._add_skip(
            f"{name}.attention_norm", mixed, skip=states, dense=layer.attention_out, norm=layer.attention_norm
        )
        wide = self._multiply(f"{name}.feed_in", states, dense=layer.feed_in)
        bias = self._constant(f"{name}.feed_in.bias", layer.feed_in.bias)
        active = self._add("BiasGelu", [wide, bias], f"{name}.gelu", domain=CONTRIB)
        narrow = self._multiply(f"{name}.feed_out", active, dense=layer.feed_out)
        return self._add_skip(f"{name}.feed_norm", narrow, skip=states, dense=layer.feed_out, norm=layer.feed_norm)

    def pool(self, states: str) -> str:
        """Pool the states of all tokens into one vector and scale it to length 1."""
        if self.architecture.pooling == "cls":
            first = self._constant("first_token", np.array(0, np.int64))
            pooled = self._add("Gather", [states, first], "pooled", axis=1)
        else:
            pooled = self._add("ReduceMean", [states], "pooled", axes=[1], keepdims=0)
        return self._add("LpNormalization", [pooled], "embedding", axis=-1, p=2)

    def _words(self, table: Array) -> str:
        """Look up the rows of the words; int8 rows are multiplied by the scales of their blocks."""
        if self.precision == "float32":
            return self._add("Gather", [self._constant("words", table), "input_ids"], "words_used")
        values, scales = quantise(table)
        looked_up = self._add("Gather", [self._constant("words", values), "input_ids"], "words_int8")
        as_float = self._add("Cast", [looked_up], "words_float", to=ElementType.FLOAT)
        used_scales = self._add("Gather", [self._constant("word_scales", scales), "input_ids"], "scales_used")
        blocks = self._add("Mul", [as_float, used_scales], "word_blocks")
        width = values.shape[1] * BLOCK
        shape = self._constant("words_shape", np.array([1, -1, width], np.int64))
        rows = self._add("Reshape", [blocks, shape], "words_filled")
        if width == table.shape[1]:
            return rows
        start, end, axis = (
            self._constant(f"words_{what}", np.array([number], np.int64))
            for what, number in (("start", 0), ("end", table.shape[1]), ("axis", 2))
        )
        return self._add("Slice", [rows, start, end, axis], "words_used")

    def _attend(self, name: str, *, states: str, attention_in: Dense) -> str:
        stacked = self._multiply(f"{name}.attention_in", states, dense=attention_in)
        parts = [f"{name}.query", f"{name}.key", f"{name}.value"]
        self.nodes.append(encode_node("Split", inputs=[stacked], outputs=parts, attributes={"axis": 2}))
        return self._mix(name, parts, bias=attention_in.bias)

    def _attend_first(self, name: str, *, states: str, one: str, attention_in: Dense) -> str:
        """Attend from the first token, whose state is `one`, to all tokens."""
        hidden, weight, bias = self.architecture.hidden, attention_in.weight, attention_in.bias
        query = Dense(weight=weight[:hidden], bias=bias[:hidden])
        key_value = Dense(weight=weight[hidden:], bias=bias[hidden:])
        asked = self._multiply(f"{name}.query", one, dense=query)
        stacked = self._multiply(f"{name}.key_value", states, dense=key_value)
        parts = [f"{name}.key", f"{name}.value"]
        self.nodes.append(encode_node("Split", inputs=[stacked], outputs=parts, attributes={"axis": 2}))
        return self._mix(name, [asked, *parts], bias=bias)

    def _mix(self, name: str, parts: Sequence[str], *, bias: Array) -> str:
        """Mix the values by the products of query and keys."""
        inputs = [*parts, self._constant(f"{name}.attention_in.bias", bias)]
        heads = self.architecture.heads
        return self._add("MultiHeadAttention", inputs, f"{name}.attended", domain=CONTRIB, num_heads=heads)

    def _multiply(self, name: str, states: str, *, dense: Dense) -> str:
        """Multiply by the weight. The fused operator that follows adds the bias."""
        if self.precision == "float32":
            weight = self._constant(f"{name}.weight", np.ascontiguousarray(dense.weight.T))
            return self._add("MatMul", [states, weight], name)
        outputs, inputs = dense.weight.shape
        values, scales = quantise(dense.weight)
        # MatMulNBits takes unsigned values; its default zero point is 128.
        shifted = (values.astype(np.int16) + 128).astype(np.uint8)
        return self._add(
            "MatMulNBits",
            [states, self._constant(f"{name}.weight", shifted), self._constant(f"{name}.scales", scales[..., 0])],
            name,
            domain=CONTRIB,
            K=inputs,
            N=outputs,
            bits=8,
            block_size=BLOCK,
            accuracy_level=INT8_ACTIVATIONS,
        )

    def _add_skip(self, name: str, states: str, *, skip: str, dense: Dense, norm: Norm) -> str:
        """Add the residual and the bias of the preceding multiplication, and normalise the sum."""
        scale, shift = self._norm(name, norm)
        bias = self._constant(f"{name}.bias", dense.bias)
        return self._add(
            "SkipLayerNormalization",
            [states, skip, scale, shift, bias],
            name,
            domain=CONTRIB,
            epsilon=self.architecture.epsilon,
        )

    def _norm(self, name: str, norm: Norm) -> tuple[str, str]:
        return self._constant(f"{name}.scale", norm.scale), self._constant(f"{name}.shift", norm.shift)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(encode_tensor(name, array=np.asarray(value)))
        return name

    def _add(
        self, operator: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: Attribute
    ) -> str:
        """Add a node named like its only output."""
        self.nodes.append(
            encode_node(operator, inputs=inputs, outputs=[output], name=output, domain=domain, attributes=attributes)
        )
        return output
