"""Base of the embedders behind a library with models of a hub: the card, and vectors of unit length."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.models.base import TextKind, replace_surrogates
from weft.models.hub import HubAdapter, find_hub_model, make_card, unit_rows
from weft.models.loaded_models import LoadedModels
from weft.records import ModelCard, Vectors


class HubEmbedder(HubAdapter):
    """An embedder behind a library. A subclass opens the model and encodes texts."""

    def __init__(self, model: str, *, memory: LoadedModels | None) -> None:
        super().__init__(find_hub_model(model), memory=memory)
        self._dimension = self._hub_model.dimension

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
