"""Reference implementation of the encoder in numpy, to verify the output of onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from weft.models.local.catalog import Architecture
from weft.models.local.safetensors_file import Array
from weft.models.local.weights import Dense, Encoder, Layer, Norm
from weft.records import Vector

_erf = np.vectorize(math.erf, otypes=[np.float32])


def encode(token_ids: Sequence[int], *, encoder: Encoder, architecture: Architecture) -> Vector:
    """Return the unit vector of one text. `token_ids` include the special tokens."""
    epsilon = architecture.epsilon
    states = encoder.words[list(token_ids)] + encoder.positions[: len(token_ids)] + encoder.segment
    states = _normalise(states, norm=encoder.norm, epsilon=epsilon)
    for layer in encoder.layers:
        attended = _attend(states, layer=layer, heads=architecture.heads)
        states = _normalise(states + attended, norm=layer.attention_norm, epsilon=epsilon)
        wide = _multiply(states, dense=layer.feed_in)
        active = wide * (1 + _erf(wide / math.sqrt(2))) / 2
        fed = _multiply(active, dense=layer.feed_out)
        states = _normalise(states + fed, norm=layer.feed_norm, epsilon=epsilon)
    pooled = states[0] if architecture.pooling == "cls" else states.mean(axis=0)
    vector: Vector = (pooled / np.linalg.norm(pooled)).astype(np.float32)
    return vector


def _attend(states: Array, *, layer: Layer, heads: int) -> Array:
    tokens, hidden = states.shape
    stacked = _multiply(states, dense=layer.attention_in)
    # (3, heads, tokens, hidden / heads)
    query, key, value = stacked.reshape(tokens, 3, heads, hidden // heads).transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(hidden // heads)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed = (weights @ value).transpose(1, 0, 2).reshape(tokens, hidden)
    return _multiply(mixed, dense=layer.attention_out)


def _multiply(states: Array, *, dense: Dense) -> Array:
    result: Array = states @ dense.weight.T + dense.bias
    return result


def _normalise(states: Array, *, norm: Norm, epsilon: float) -> Array:
    centred = states - states.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    result: Array = centred / deviation * norm.scale + norm.shift
    return result
