"""Embedder for the models of the `sentence-transformers` package, on a GPU if there is one."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from weft.errors import MissingExtra
from weft.models.base import TextKind, replace_surrogates
from weft.models.hub import check_no_folder, find_hub_model, load_error, make_card, unit_rows
from weft.models.loaded_models import LoadedModels
from weft.records import ModelCard, Vectors

LIBRARY = "sentence-transformers"


class SentenceTransformersEmbedder:
    """
    An embedder behind sentence-transformers.

    Texts are embedded in batches, which a GPU needs. The models are not quantised, so a batch changes a vector
    only by rounding, about 1e-6.
    """

    def __init__(self, model: str, *, device: str | None = None, memory: LoadedModels | None = None) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtra(LIBRARY, extra=LIBRARY)
        self._hub_model = find_hub_model(model)
        self._dimension = self._hub_model.dimension
        self._device = device
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
        rows = self._encode([replace_surrogates(text) for text in texts], kind=kind)
        vectors = unit_rows(rows, count=len(texts), dimension=self._dimension)
        self._dimension = vectors.shape[1]
        return vectors

    def _encode(self, texts: list[str], *, kind: TextKind) -> Any:
        """Encode with the prefix of a known model, else with the model's own prompt."""
        model = self._load()
        prefix = self._hub_model.prefix(kind)
        if prefix:
            return model.encode(texts, prompt=prefix, show_progress_bar=False)
        # Since version 5 the library selects the prompt for each kind of text.
        method = getattr(model, f"encode_{kind}", model.encode)
        return method(texts, show_progress_bar=False)

    def load(self) -> None:
        """Load the model now. Raises `ModelUnavailable`."""
        self._load()

    def _load(self) -> Any:
        with self._lock:
            loaded = self._loaded
            if loaded is None:
                import sentence_transformers

                check_no_folder(self._hub_model.id, library=LIBRARY)
                try:
                    loaded = self._loaded = sentence_transformers.SentenceTransformer(
                        self._hub_model.id, device=self._device
                    )
                except (ValueError, OSError, RuntimeError) as error:
                    raise load_error(self._hub_model, library=LIBRARY, error=error) from error
        if self._memory is not None:
            self._memory.use(self)
        return loaded

    def unload(self) -> None:
        """Release the weights; the next call loads them again."""
        self._loaded = None
