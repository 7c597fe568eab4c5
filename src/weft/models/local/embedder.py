"""Embedder and token counter that run on this machine, without key, server or model hub."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from weft.errors import BadModelOutput, ModelUnavailable
from weft.models.base import TextKind, replace_surrogates
from weft.models.loaded_models import LoadedModels
from weft.models.local.catalog import LocalModel
from weft.models.local.fetch import Progress
from weft.models.local.model_folder import (
    ONNX_FILE,
    TOKENIZER_FILE,
    DamagedModel,
    InstalledModel,
    add_checksums,
    find_installed,
    read_verified,
)
from weft.models.local.text_tokenizer import TextTokenizer, open_tokenizer
from weft.records import ModelCard, Vector, Vectors
from weft.system.cores import usable_cores

logger = logging.getLogger(__name__)


class LocalEmbedder:
    """
    Embeds with a model of the catalog, on `threads` cores (default: all usable ones) or a `provider` of onnxruntime.

    Each text is a separate run on one thread, without padding, so a vector depends on its text alone. Padded batches
    are not faster on the CPU. Which graph runs was decided by the installation, never by a measured time
    (decision 0036).
    """

    def __init__(
        self,
        model: LocalModel,
        *,
        cache_dir: Path,
        threads: int | None = None,
        provider: str = "",
        auto_fetch: bool = False,
        progress: Progress | None = None,
        memory: LoadedModels | None = None,
    ) -> None:
        self._model = model
        self._memory = memory
        self._card = model.card
        self._cache_dir = cache_dir
        self._cores = threads or usable_cores()
        self._provider = provider
        self._auto_fetch = auto_fetch
        self._progress = progress
        self._lock = Lock()
        self._loaded: _Loaded | None = None
        self._interruptions = 0
        """Number of interruptions. A call that started before the last interruption ends."""

    @property
    def card(self) -> ModelCard:
        """Description of the embedder."""
        return self._card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """
        Return one unit-length row per text; these models ignore `kind`.

        Raises `ModelUnavailable` if the model is not installed.
        """
        if not texts:
            return np.zeros((0, self.card.dimension), np.float32)
        loaded, interruptions = self._load(), self._interruptions

        def embed_one(text: str) -> Vector:
            if self._interruptions != interruptions:
                raise ModelUnavailable("embedding was interrupted", hint="run the command again")
            return loaded.embed(text)

        if len(texts) == 1 or loaded.workers == 1:
            rows = [embed_one(text) for text in texts]
        else:
            with ThreadPoolExecutor(min(loaded.workers, len(texts))) as pool:
                rows = list(pool.map(embed_one, texts))
        vectors = np.stack(rows)
        if not np.isfinite(vectors).all():
            hint = f"run `weft models fetch {self.card.name}` again"
            raise BadModelOutput(f"{self.card.name!r} returned a non-finite vector", hint=hint)
        return vectors

    def load(self) -> None:
        """Load the model now. Raises `ModelUnavailable` if it is not installed."""
        self._load()

    def unload(self) -> None:
        """Release the weights; the next call loads them again."""
        self._loaded = None

    def interrupt(self) -> None:
        """End running calls of `embed` after their current text."""
        self._interruptions += 1

    def _load(self) -> _Loaded:
        with self._lock:
            loaded = self._loaded or self._load_installed()
            self._loaded = loaded
        if self._memory is not None:
            self._memory.use(self)
        return loaded

    def _load_installed(self) -> _Loaded:
        """Load the installed model; fetch it first if it is missing or damaged and `auto_fetch` is set."""
        installed = find_installed(self._model, cache_dir=self._cache_dir)
        try:
            if installed:
                return _Loaded(installed, model=self._model, cores=self._cores, provider=self._provider)
        except DamagedModel as error:
            if not self._auto_fetch:
                raise
            logger.warning("%s", error)
        if not self._auto_fetch:
            raise not_fetched(self._model)
        return _Loaded(self._fetch(), model=self._model, cores=self._cores, provider=self._provider)

    def _fetch(self) -> InstalledModel:
        from weft.models.local.install import install_model  # rarely needed

        logger.info("fetching %s, %d MB", self._model.name, self._model.megabytes)
        return install_model(self._model, cache_dir=self._cache_dir, progress=self._progress)


class LocalTokenCounter:
    """Counts tokens with the tokenizer of a local model."""

    def __init__(self, model: LocalModel, *, cache_dir: Path) -> None:
        self._model = model
        self._cache_dir = cache_dir
        self._lock = Lock()
        self._tokenizer: Any = None

    def count(self, text: str) -> int:
        """Return the number of tokens in `text`. Raises `ModelUnavailable` if the model is not installed."""
        with self._lock:
            if self._tokenizer is None:
                installed = find_installed(self._model, cache_dir=self._cache_dir)
                if not installed:
                    raise not_fetched(self._model)
                self._tokenizer = open_tokenizer(read_verified(installed, name=TOKENIZER_FILE))
        return len(self._tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids)


class _Loaded:
    """Graph and tokenizer in memory. Thread-safe."""

    def __init__(self, installed: InstalledModel, *, model: LocalModel, cores: int, provider: str = "") -> None:
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read_verified, installed, name=ONNX_FILE)
            from weft.models.local.onnx_session import OnnxSession  # slow to import; the file is verified meanwhile

            tokenizer = read_verified(installed, name=TOKENIZER_FILE)
            graph = reading.result()
        add_checksums(installed, contents={ONNX_FILE: graph, TOKENIZER_FILE: tokenizer})
        self._tokenizer = TextTokenizer(tokenizer, max_tokens=model.max_tokens)
        self.workers = 1 if provider else cores
        if provider:
            from weft.models.local.onnx_graph import make_float_graph  # rarely needed

            graph = make_float_graph(graph, architecture=model.architecture)
        self._session = OnnxSession(graph, provider=provider)

    def embed(self, text: str) -> Vector:
        """Return the vector of one text."""
        return self._session.encode(self._tokenizer.encode(text))


def not_fetched(model: LocalModel) -> ModelUnavailable:
    """Return the error for a model that is not installed."""
    return ModelUnavailable(
        f"the model {model.name!r} ({model.megabytes} MB) is not installed",
        hint=f"run `weft models fetch {model.card.name}`",
    )
