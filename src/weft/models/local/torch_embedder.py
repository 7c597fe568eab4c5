"""Embedder that runs large calls on a GPU and small ones on the CPU."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import numpy as np

from weft.errors import BadModelOutput, MissingExtra, ModelUnavailable
from weft.models.base import TextKind
from weft.models.local.catalog import LocalModel
from weft.models.local.embedder import LocalEmbedder, not_fetched
from weft.models.local.model_folder import ONNX_FILE, TOKENIZER_FILE, find_installed, read_verified
from weft.models.local.text_tokenizer import TextTokenizer
from weft.models.local.torch_encoder import TorchEncoder
from weft.models.local.weights import read_graph
from weft.records import ModelCard, Vectors

logger = logging.getLogger(__name__)

MIN_TEXTS = 32
"""Calls with fewer texts run on the CPU, where they take less time than the start of PyTorch and the GPU (5 s)."""

TEXTS_PER_CALL = 512
"""Chunks of one call. An H200 embeds three times as many texts per second as in calls of 64 (`benchmarks/gpu.py`)."""

SWITCH_SECONDS = 0.0001
"""
Switch interval of Python's threads while a GPU works; the default is 0.005.

A batch is about a hundred calls of PyTorch, and each waits for the interpreter lock if another thread computes. Beside
the thread that writes, it raises the rate of an H200 from 383 to 523 texts per second; alone, the rate is 13,000.
"""

_device_lock = Lock()
"""One call on the device at a time: PyTorch would queue them anyway, and the switch interval is global."""


class TorchEmbedder:
    """
    A local model on a device of PyTorch. Queries and calls with fewer than `MIN_TEXTS` texts run on `cpu`.

    Its vectors differ from those of the CPU by rounding only, so both are one model (decision 0036). If `may_fail` is
    set and the device fails, a warning is logged and the CPU takes over. Threads may share it.
    """

    def __init__(
        self, cpu: LocalEmbedder, *, model: LocalModel, cache_dir: Path, device: str, may_fail: bool = False
    ) -> None:
        self._cpu = cpu
        self._model = model
        self._cache_dir = cache_dir
        self._device = device
        self._may_fail = may_fail
        self._lock = Lock()
        self._encoder: TorchEncoder | None = None
        self._tokenizer: TextTokenizer | None = None
        self._has_failed = False
        self._interruptions = 0

    @property
    def card(self) -> ModelCard:
        """Description of the embedder, the same as on the CPU."""
        return self._cpu.card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return one unit-length row per text. Raises `ModelUnavailable` or `MissingExtra`."""
        if kind == "query" or len(texts) < MIN_TEXTS or self._has_failed:
            return self._cpu.embed(texts, kind=kind)
        try:
            return self._embed_on_device(texts)
        except (ModelUnavailable, MissingExtra) as error:
            if not self._may_fail or self._encoder is not None:
                raise
            logger.warning("%s; the model runs on the CPU", error)
            self._has_failed = True
            return self._cpu.embed(texts, kind=kind)

    @property
    def texts_per_call(self) -> int:
        """Texts that occupy a GPU."""
        return 0 if self._has_failed else TEXTS_PER_CALL

    def load(self) -> None:
        """Load the weights on the CPU; those on the device are loaded by the first large call."""
        self._cpu.load()

    def unload(self) -> None:
        """Release the weights on both devices; the next call loads them again."""
        self._cpu.unload()
        with self._lock:
            self._encoder = None

    def interrupt(self) -> None:
        """End running calls of `embed` after their current batch."""
        self._interruptions += 1
        self._cpu.interrupt()

    def _embed_on_device(self, texts: Sequence[str]) -> Vectors:
        interruptions = self._interruptions

        def check() -> None:
            if self._interruptions != interruptions:
                raise ModelUnavailable("embedding was interrupted", hint="run the command again")

        with self._lock:
            encoder, tokenizer = self._load()
        token_ids = tokenizer.encode_all(texts)
        with _frequent_switches():
            vectors = encoder.encode(token_ids, check=check)
        if not np.isfinite(vectors).all():
            raise BadModelOutput(
                f"{self.card.name!r} returned a non-finite vector on {self._device!r}", hint="set models.device to cpu"
            )
        return vectors

    def _load(self) -> tuple[TorchEncoder, TextTokenizer]:
        """Return encoder and tokenizer; copy the weights to the device on first use."""
        if self._encoder is None or self._tokenizer is None:
            self._cpu.load()  # fetches the model if it is missing, and loads it for queries
            installed = find_installed(self._model, cache_dir=self._cache_dir)
            if installed is None:
                raise not_fetched(self._model)
            weights = read_graph(read_verified(installed, name=ONNX_FILE), architecture=self._model.architecture)
            tokenizer = read_verified(installed, name=TOKENIZER_FILE)
            self._encoder = TorchEncoder(weights, architecture=self._model.architecture, device=self._device)
            self._tokenizer = TextTokenizer(tokenizer, max_tokens=self._model.max_tokens)
        return self._encoder, self._tokenizer


@contextmanager
def _frequent_switches() -> Iterator[None]:
    """Hold the lock of the device, and let threads switch more often meanwhile."""
    with _device_lock:
        before = sys.getswitchinterval()
        sys.setswitchinterval(min(before, SWITCH_SECONDS))
        try:
            yield
        finally:
            sys.setswitchinterval(before)
