"""Embedder that runs large calls on a GPU and small ones on the CPU."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from weft.errors import BadModelOutput, MissingExtra, ModelUnavailable
from weft.models.base import TextKind
from weft.models.local.catalog import LocalModel
from weft.models.local.embedder import LocalEmbedder, not_fetched
from weft.models.local.gpu.encoder_process import EncoderProcess
from weft.models.local.model_folder import find_installed
from weft.records import ModelCard, Vectors

logger = logging.getLogger(__name__)

MIN_TEXTS = 32
"""Calls with fewer texts run on the CPU, where they take less time than the start of PyTorch and the GPU (5 s)."""

TEXTS_PER_CALL = 512
"""Chunks of one call. An H200 embeds three times as many texts per second as in calls of 64."""


class TorchEmbedder:
    """
    A local model on a device of PyTorch, in a process of its own.

    Queries and calls with fewer than `MIN_TEXTS` texts run on `cpu`. Its vectors differ from those of the CPU by
    rounding only, so both are one model (decision 0036). If `may_fail` is set and the device fails, a warning is logged
    and the CPU takes over. Threads may share it.
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
        self._process: EncoderProcess | None = None
        self._has_worked = False
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
        interruptions = self._interruptions
        try:
            return self._embed_on_device(texts)
        except (ModelUnavailable, MissingExtra) as error:
            if not self._may_fail or self._has_worked or self._interruptions != interruptions:
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
            process, self._process = self._process, None
        if process is not None:
            process.close()

    def interrupt(self) -> None:
        """End running calls of `embed`."""
        self._interruptions += 1
        process = self._process
        if process is not None:
            process.interrupt()
        self._cpu.interrupt()

    def _embed_on_device(self, texts: Sequence[str]) -> Vectors:
        vectors = self._open_process().embed(texts)
        if not np.isfinite(vectors).all():
            raise BadModelOutput(
                f"{self.card.name!r} returned a non-finite vector on {self._device!r}", hint="set models.device to cpu"
            )
        self._has_worked = True
        return vectors

    def _open_process(self) -> EncoderProcess:
        """Return the process of the model; it starts with its first call."""
        with self._lock:
            if self._process is None:
                self._cpu.load()  # fetches the model if it is missing, and loads it for queries
                installed = find_installed(self._model, cache_dir=self._cache_dir)
                if installed is None:
                    raise not_fetched(self._model)
                self._process = EncoderProcess(installed, model=self._model, device=self._device)
            return self._process
