"""Reranker for the cross-encoders of the `fastembed` package, which downloads them from a model hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.models.base import replace_surrogates
from weft.models.hub import HubAdapter, HubModel


class FastembedReranker(HubAdapter):
    """
    A cross-encoder behind fastembed. Scores are logits; a score below 0 means irrelevant.

    Texts are scored one at a time, as in `FastembedEmbedder`, because a score must not depend on its batch.
    """

    library = "fastembed"

    def __init__(self, model: str, *, cache_dir: Path | None = None, threads: int | None = None) -> None:
        super().__init__(HubModel(id=model))
        self._cache_dir = cache_dir
        self._threads = threads

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one logit per text. Raises `ModelUnavailable`."""
        prepared = [replace_surrogates(text) for text in texts]
        return [float(score) for score in self._load().rerank(replace_surrogates(query), prepared, batch_size=1)]

    def _open(self, model: HubModel) -> Any:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        folder = str(self._cache_dir) if self._cache_dir else None
        return TextCrossEncoder(model_name=model.id, cache_dir=folder, threads=self._threads)
