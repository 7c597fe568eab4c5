"""Embedder for the models of the `fastembed` package, which downloads them from a model hub."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from weft.errors import MissingExtra
from weft.models.base import TextKind, replace_surrogates
from weft.models.hub import find_hub_model, load_error, make_card, unit_rows
from weft.models.loaded_models import LoadedModels
from weft.records import ModelCard, Vectors

LIBRARY = "fastembed"


class FastembedEmbedder:
    """
    An embedder behind fastembed.

    Texts are embedded one at a time, because with many quantised models a vector depends on its batch. On a CPU,
    padding costs more time than a batch saves.
    """

    def __init__(
        self,
        model: str,
        *,
        cache_dir: Path | None = None,
        threads: int | None = None,
        memory: LoadedModels | None = None,
    ) -> None:
        if importlib.util.find_spec(LIBRARY) is None:
            raise MissingExtra(LIBRARY, extra=LIBRARY)
        self._hub_model = find_hub_model(model)
        self._dimension = self._hub_model.dimension
        self._cache_dir = cache_dir
        self._threads = threads
        self._memory = memory
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def card(self) -> ModelCard:
        """Description of the embedder; the dimension of an unknown model is 0 until the first call."""
        return make_card(self._hub_model, library=LIBRARY, dimension=self._dimension)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return one unit-length row per text. Raises `ModelUnavailable` or `BadModelOutput`."""
        if not texts:
            return np.zeros((0, self._dimension), np.float32)
        model = self._load()
        prefix = self._hub_model.prefix(kind)
        prepared = [prefix + replace_surrogates(text) for text in texts]
        method = model.query_embed if kind == "query" else model.passage_embed
        vectors = unit_rows(method(prepared, batch_size=1), count=len(texts), dimension=self._dimension)
        self._dimension = vectors.shape[1]
        return vectors

    def load(self) -> None:
        """Load the model now. Raises `ModelUnavailable`."""
        self._load()

    def _load(self) -> Any:
        with self._lock:
            loaded = self._loaded
            if loaded is None:
                import fastembed

                folder = str(self._cache_dir) if self._cache_dir else None
                try:
                    loaded = self._loaded = fastembed.TextEmbedding(
                        model_name=self._hub_model.id, cache_dir=folder, threads=self._threads
                    )
                except (ValueError, OSError, RuntimeError) as error:
                    raise load_error(self._hub_model, library=LIBRARY, error=error) from error
        if self._memory is not None:
            self._memory.use(self)
        return loaded

    def unload(self) -> None:
        """Release the weights; the next call loads them again."""
        self._loaded = None
