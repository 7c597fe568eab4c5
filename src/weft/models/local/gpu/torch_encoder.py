"""
Encoder in PyTorch, for GPUs: padded batches in bfloat16, sorted by length.

It multiplies by the weights of the installed graph, so its vectors differ from those of onnxruntime only by
rounding. On the CPU it computes in float32; tests compare it there with the numpy encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.local.catalog import Architecture
from weft.models.local.gpu.length_batches import length_batches
from weft.models.local.weights import Dense, Encoder, Layer, Norm
from weft.records import Vectors

GPU_TOKENS_PER_BATCH = 131_072
"""Tokens of one batch on a GPU, padding included. The largest activation then takes 0.4 GB in bfloat16."""
GPU_MIN_TOKENS = 16_384
"""Tokens of a batch on a GPU that take as long as its start, about two milliseconds (H200)."""
GPU_MIN_WIDTH = 64
"""
Least width of a batch on a GPU. Width and number of texts are rounded up to powers of two.

CUDA loads other kernels for a new shape, which takes about 0.1 s; a batch of a known shape takes 3 ms (H200).
"""
CPU_TOKENS_PER_BATCH = 2_048
"""Tokens of one batch on the CPU, padding included. Larger activations do not fit into the processor's cache."""


class TorchEncoder:
    """The encoder on one device of PyTorch: `cuda`, `cuda:1`, `mps`, `xpu` or `cpu`. Not thread-safe."""

    def __init__(self, encoder: Encoder, *, architecture: Architecture, device: str) -> None:
        """Copy the weights to the device. Raises `MissingExtra` or `ModelUnavailable`."""
        self._torch = torch = import_torch()
        self._architecture = architecture
        on_cpu = device == "cpu"
        self._tokens_per_batch = CPU_TOKENS_PER_BATCH if on_cpu else GPU_TOKENS_PER_BATCH
        self._min_tokens = 0 if on_cpu else GPU_MIN_TOKENS
        self._min_width = 0 if on_cpu else GPU_MIN_WIDTH
        dtype = torch.float32 if on_cpu else torch.bfloat16
        try:
            self._device = torch.device(device)

            def copy(array: NDArray[np.float32]) -> Any:
                return torch.tensor(array, dtype=dtype, device=self._device)

            self._words, self._positions = copy(encoder.words), copy(encoder.positions + encoder.segment)
            self._norm = _Norm(encoder.norm, copy=copy)
            self._layers = [_Layer(layer, copy=copy) for layer in encoder.layers]
        except (RuntimeError, AssertionError) as error:  # AssertionError: PyTorch was built without this device
            raise device_failed(device, error) from error

    def encode(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """
        Return the unit vectors of texts, given as token ids. Raises `ModelUnavailable`.

        Batches are queued on the device; the vectors are copied back once, at the end.
        """
        torch = self._torch
        lengths = [len(text) for text in texts]
        batches = length_batches(lengths, max_tokens=self._tokens_per_batch, min_tokens=self._min_tokens)
        vectors = np.empty((len(texts), self._architecture.hidden), np.float32)
        try:
            with torch.inference_mode():
                parts = [self._encode_batch([texts[number] for number in batch]) for batch in batches]
                rows = torch.cat(parts).cpu().numpy()
        except RuntimeError as error:
            raise device_failed(str(self._device), error) from error
        vectors[[number for batch in batches for number in batch]] = rows
        return vectors

    def _encode_batch(self, texts: Sequence[Sequence[int]]) -> Any:
        """Return the unit vectors of one padded batch in float32, on the device."""
        torch, functional = self._torch, self._torch.nn.functional
        padded, used = self._pad(texts)
        width = padded.shape[1]
        token_ids = torch.from_numpy(padded).to(self._device, non_blocking=True)
        is_token = None if used.all() else torch.from_numpy(used).to(self._device, non_blocking=True)
        states = functional.embedding(token_ids, self._words) + self._positions[:width]
        states = self._normalise(states, self._norm)
        is_cls = self._architecture.pooling == "cls"
        for number, layer in enumerate(self._layers):
            # The vector is the state of the first token, so the last layer computes no other.
            first_only = is_cls and number == len(self._layers) - 1
            states = self._run_layer(states, layer=layer, is_token=is_token, first_only=first_only)
        return functional.normalize(self._pool(states, is_token).float(), dim=-1)[: len(texts)]

    def _pad(self, texts: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the token ids as a matrix, and which of them are tokens; on a GPU, rounded up to a common shape."""
        lengths = np.array([len(text) for text in texts])
        rows, width = len(texts), int(lengths.max())
        if self._min_width:
            rows, width = _power_of_two(rows), max(self._min_width, _power_of_two(width))
            width = max(int(lengths.max()), min(width, len(self._positions)))
        padded = np.zeros((rows, width), np.int32)
        used = np.arange(width) < np.append(lengths, np.ones(rows - len(texts), lengths.dtype))[:, None]
        padded[: len(texts)][used[: len(texts)]] = np.concatenate(texts)
        return padded, used

    def _run_layer(self, states: Any, *, layer: _Layer, is_token: Any, first_only: bool) -> Any:
        functional = self._torch.nn.functional
        texts, tokens, hidden = states.shape
        heads = self._architecture.heads
        stacked = functional.linear(states, layer.attention_in.weight, layer.attention_in.bias)
        query, key, value = stacked.view(texts, tokens, 3, heads, hidden // heads).permute(2, 0, 3, 1, 4)
        if first_only:
            query, states = query[:, :, :1], states[:, :1]
        mask = None if is_token is None else is_token[:, None, None, :]
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(texts, -1, hidden)
        attended = functional.linear(mixed, layer.attention_out.weight, layer.attention_out.bias)
        states = self._normalise(states + attended, layer.attention_norm)
        wide = functional.gelu(functional.linear(states, layer.feed_in.weight, layer.feed_in.bias))
        fed = functional.linear(wide, layer.feed_out.weight, layer.feed_out.bias)
        return self._normalise(states + fed, layer.feed_norm)

    def _pool(self, states: Any, is_token: Any) -> Any:
        if self._architecture.pooling == "cls":
            return states[:, 0]
        if is_token is None:
            return states.float().mean(dim=1)
        weights = is_token[:, :, None].float()
        return (states.float() * weights).sum(dim=1) / weights.sum(dim=1)

    def _normalise(self, states: Any, norm: _Norm) -> Any:
        hidden = (self._architecture.hidden,)
        return self._torch.nn.functional.layer_norm(states, hidden, norm.scale, norm.shift, self._architecture.epsilon)


class _Dense:
    def __init__(self, dense: Dense, *, copy: Callable[[NDArray[np.float32]], Any]) -> None:
        self.weight, self.bias = copy(dense.weight), copy(dense.bias)


class _Norm:
    def __init__(self, norm: Norm, *, copy: Callable[[NDArray[np.float32]], Any]) -> None:
        self.scale, self.shift = copy(norm.scale), copy(norm.shift)


class _Layer:
    def __init__(self, layer: Layer, *, copy: Callable[[NDArray[np.float32]], Any]) -> None:
        self.attention_in, self.attention_out = (
            _Dense(dense, copy=copy) for dense in (layer.attention_in, layer.attention_out)
        )
        self.feed_in, self.feed_out = _Dense(layer.feed_in, copy=copy), _Dense(layer.feed_out, copy=copy)
        self.attention_norm, self.feed_norm = (
            _Norm(norm, copy=copy) for norm in (layer.attention_norm, layer.feed_norm)
        )


def _power_of_two(number: int) -> int:
    """Return the next power of two: 5 gives 8, 8 gives 8."""
    return 1 << (number - 1).bit_length()


def import_torch() -> Any:
    """Return the module `torch`. Raises `MissingExtra`."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("torch", extra="torch") from error
    return torch


def device_failed(device: str, error: BaseException) -> ModelUnavailable:
    """Return the error for a device that PyTorch cannot use."""
    reason = " ".join(str(error).split())[:300]
    return ModelUnavailable(f"PyTorch cannot run the model on {device!r}: {reason}", hint="set models.device to cpu")
