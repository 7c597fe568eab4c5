"""Base of the embedders behind a library with models of a hub: the card, and a model that is loaded once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from weft.models.base import TextKind, replace_surrogates
from weft.models.hub import HubModel, find_hub_model, load_error, make_card, unit_rows
from weft.models.loaded_models import LoadedModels
from weft.records import ModelCard, Vectors


class HubEmbedder(ABC):
    """An embedder behind a library. A subclass opens the model and encodes texts."""

    library: ClassVar[str]
    """Name of the library, as in the settings."""

    def __init__(self, model: str, *, memory: LoadedModels | None) -> None:
        self._hub_model = find_hub_model(model)
        self._dimension = self._hub_model.dimension
        self._memory = memory
        self._lock = Lock()
        self._loaded: Any = None

    @abstractmethod
    def _open(self, model: HubModel) -> Any:
        """Return the model of the library."""

    @abstractmethod
    def _encode(self, model: Any, texts: list[str], *, kind: TextKind) -> Iterable[Any]:
        """Return one row per text."""

    @property
    def card(self) -> ModelCard:
        """Description of the embedder; the dimension of an unknown model is 0 until the first call."""
        return make_card(self._hub_model, library=self.library, dimension=self._dimension)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return one unit-length row per text. Raises `ModelUnavailable` or `BadModelOutput`."""
        if not texts:
            return np.zeros((0, self._dimension), np.float32)
        rows = self._encode(self._load(), [replace_surrogates(text) for text in texts], kind=kind)
        vectors = unit_rows(rows, count=len(texts), dimension=self._dimension)
        self._dimension = vectors.shape[1]
        return vectors

    def load(self) -> None:
        """Load the model now. Raises `ModelUnavailable`."""
        self._load()

    def unload(self) -> None:
        """Release the weights; the next call loads them again."""
        self._loaded = None

    def _load(self) -> Any:
        with self._lock:
            loaded = self._loaded
            if loaded is None:
                try:
                    loaded = self._loaded = self._open(self._hub_model)
                except (ValueError, OSError, RuntimeError) as error:
                    raise load_error(self._hub_model, library=self.library, error=error) from error
        if self._memory is not None:
            self._memory.use(self)
        return loaded
