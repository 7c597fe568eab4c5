"""The ONNX graph computes the encoder of the weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tiny_model import HEADS, HIDDEN, LAYERS, make_architecture, make_pack, make_safetensors, make_tensors

from weft.errors import ModelUnavailable
from weft.models.local.catalog import Pooling
from weft.models.local.numpy_encoder import encode
from weft.models.local.onnx_graph import BLOCK, build_model, quantise
from weft.models.local.onnx_session import OnnxSession
from weft.models.local.weights import read_pack, read_safetensors

TOKENS = [0, 17, 4, 33, 59, 8, 1]


def encode_plainly(tensors: dict[str, np.ndarray], *, pooling: str, position_offset: int) -> np.ndarray:
    """BERT from its paper, token by token and head by head, sharing no code with the package."""

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return np.array([tensors[f"{name}.weight"] @ row + tensors[f"{name}.bias"] for row in x])

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        scaled = [(row - row.mean()) / math.sqrt(row.var() + 1e-12) for row in x]
        return np.array(scaled) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    words, positions = (tensors[f"embeddings.{table}_embeddings.weight"] for table in ("word", "position"))
    segment = tensors["embeddings.token_type_embeddings.weight"][0]
    x = np.array([words[token] + positions[place + position_offset] + segment for place, token in enumerate(TOKENS)])
    x = norm("embeddings.LayerNorm", x)
    width = HIDDEN // HEADS
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (linear(f"{layer}.attention.self.{part}", x) for part in ("query", "key", "value"))
        mixed = np.zeros_like(x)
        for head in range(HEADS):
            cut = slice(head * width, (head + 1) * width)
            for place in range(len(TOKENS)):
                scores = np.exp([query[place, cut] @ other / math.sqrt(width) for other in key[:, cut]])
                mixed[place, cut] = (scores / scores.sum()) @ value[:, cut]
        x = norm(f"{layer}.attention.output.LayerNorm", x + linear(f"{layer}.attention.output.dense", mixed))
        wide = linear(f"{layer}.intermediate.dense", x)
        gelu = np.array([[v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in row] for row in wide])
        x = norm(f"{layer}.output.LayerNorm", x + linear(f"{layer}.output.dense", gelu))
    pooled = x[0] if pooling == "cls" else x.mean(axis=0)
    return pooled / np.linalg.norm(pooled)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("position_offset", [0, 2])
def test_the_float32_graph_computes_bert(pooling: Pooling, position_offset: int) -> None:
    """Weights, heads, positions, norms, GELU, pooling and length are all where they belong."""
    architecture = make_architecture(pooling=pooling, position_offset=position_offset)
    encoder = read_safetensors(make_safetensors(), architecture=architecture)

    vector = OnnxSession(build_model(encoder, architecture=architecture, precision="float32")).encode(TOKENS)

    expected = encode_plainly(make_tensors(), pooling=pooling, position_offset=position_offset)
    np.testing.assert_allclose(vector, expected, atol=1e-4)
    np.testing.assert_allclose(encode(TOKENS, encoder=encoder, architecture=architecture), expected, atol=1e-4)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_int8_graph_is_close_to_float32(pooling: Pooling) -> None:
    """Eight bits with a scale for each block cost less than a hundredth of the cosine."""
    architecture = make_architecture(pooling=pooling)
    encoder = read_safetensors(make_safetensors(), architecture=architecture)

    vector = OnnxSession(build_model(encoder, architecture=architecture, precision="int8")).encode(TOKENS)

    assert vector @ encode(TOKENS, encoder=encoder, architecture=architecture) > 0.99
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_pack_gives_the_same_vector_as_its_tensors() -> None:
    """The other layout reads into the same encoder: groups, stacked attention, position offset."""
    pack, tensors = make_pack()
    architecture = make_architecture("holographic-pack", pooling="cls", position_offset=2)
    encoder, _ = read_pack(pack, architecture=architecture)

    vector = OnnxSession(build_model(encoder, architecture=architecture, precision="float32")).encode(TOKENS)

    np.testing.assert_allclose(vector, encode_plainly(tensors, pooling="cls", position_offset=2), atol=1e-4)


def test_the_same_weights_give_the_same_bytes() -> None:
    """A model built twice, or on two machines, is one file."""
    architecture = make_architecture()

    first, second = (
        build_model(read_safetensors(make_safetensors(), architecture=architecture), architecture=architecture)
        for _ in range(2)
    )

    assert first == second


def test_other_weights_give_other_bytes() -> None:
    """The equality above is not that of two empty files."""
    architecture = make_architecture()
    models = [
        build_model(read_safetensors(make_safetensors(seed), architecture=architecture), architecture=architecture)
        for seed in (0, 1)
    ]

    assert models[0] != models[1]


def test_quantising_keeps_a_matrix_that_was_already_quantised_in_blocks() -> None:
    """The granite pack has the same block size, so its weights survive unchanged."""
    random = np.random.default_rng(0)
    values = random.integers(-127, 128, (10, 3, BLOCK)).astype(np.float32)
    values[..., 0] = 127
    weights = values * random.uniform(0.001, 0.1, (10, 3, 1)).astype(np.float32)

    quantised, scales = quantise(weights.reshape(10, 3 * BLOCK))

    np.testing.assert_array_equal(quantised, values)
    np.testing.assert_allclose(quantised * scales, weights, rtol=1e-6)


def test_quantising_fills_up_a_width_that_is_no_multiple_of_the_block() -> None:
    """Zeros fill the last block, and a block of zeros has the scale zero."""
    quantised, scales = quantise(np.zeros((2, BLOCK + 1), np.float32))

    assert quantised.shape == (2, 2, BLOCK)
    assert not quantised.any()
    assert not scales.any()


def test_a_graph_that_onnxruntime_cannot_read_is_unavailable() -> None:
    """onnxruntime's errors become `ModelUnavailable` with a hint."""
    with pytest.raises(ModelUnavailable, match="onnxruntime") as caught:
        OnnxSession(b"not a model")

    assert "weft models fetch" in caught.value.hint


def test_token_ids_outside_the_table_are_a_model_error() -> None:
    """Errors during a run are translated."""
    architecture = make_architecture()
    encoder = read_safetensors(make_safetensors(), architecture=architecture)
    session = OnnxSession(build_model(encoder, architecture=architecture, precision="float32"))

    with pytest.raises(ModelUnavailable):
        session.encode([10_000])
