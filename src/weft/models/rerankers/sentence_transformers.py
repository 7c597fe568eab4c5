"""Reranker for the cross-encoders of the `sentence-transformers` package, on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.errors import BadModelOutput
from weft.models.base import replace_surrogates
from weft.models.hub import HubAdapter, HubModel, check_no_folder


class SentenceTransformersReranker(HubAdapter):
    """A cross-encoder behind sentence-transformers. Depending on the model, scores are logits or between 0 and 1."""

    library = "sentence-transformers"

    def __init__(self, model: str, *, device: str | None = None) -> None:
        super().__init__(HubModel(id=model))
        self._device = device

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

    def _open(self, model: HubModel) -> Any:
        import sentence_transformers

        check_no_folder(model.id, library=self.library)
        return sentence_transformers.CrossEncoder(model.id, device=self._device)
