"""Reranker for the cross-encoders of the `sentence-transformers` package, on a GPU if there is one."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from weft.errors import BadModelOutput, MissingExtra
from weft.models.base import replace_surrogates
from weft.models.hub import HubModel, check_no_folder, load_error

LIBRARY = "sentence-transformers"


class SentenceTransformersReranker:
    """A cross-encoder behind sentence-transformers. Depending on the model, scores are logits or between 0 and 1."""

    def __init__(self, model: str, *, device: str | None = None) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtra(LIBRARY, extra=LIBRARY)
        self._model = model
        self._device = device
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def name(self) -> str:
        """Name in the settings: `sentence-transformers/cross-encoder/ms-marco-MiniLM-L6-v2`."""
        return f"{LIBRARY}/{self._model}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text. Raises `ModelUnavailable`, or `BadModelOutput` for a model with several labels."""
        if not texts:
            return []
        pairs = [(replace_surrogates(query), replace_surrogates(text)) for text in texts]
        scores = np.asarray(self._load().predict(pairs, show_progress_bar=False), dtype=np.float64)
        if scores.shape != (len(texts),):
            hint = "set rerank.model to a cross-encoder with one label"
            raise BadModelOutput(f"{self.name} returned scores of shape {scores.shape}", hint=hint)
        return [float(score) for score in scores]

    def _load(self) -> Any:
        with self._lock:
            if self._loaded is None:
                import sentence_transformers

                check_no_folder(self._model, library=LIBRARY)
                try:
                    self._loaded = sentence_transformers.CrossEncoder(self._model, device=self._device)
                except (ValueError, OSError, RuntimeError) as error:
                    raise load_error(HubModel(id=self._model), library=LIBRARY, error=error) from error
            return self._loaded
