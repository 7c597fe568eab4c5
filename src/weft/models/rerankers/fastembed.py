"""Reranker for the cross-encoders of the `fastembed` package, which downloads them from a model hub."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from weft.errors import MissingExtra
from weft.models.base import replace_surrogates
from weft.models.hub import HubModel, load_error

LIBRARY = "fastembed"


class FastembedReranker:
    """
    A cross-encoder behind fastembed. Scores are logits; a score below 0 means irrelevant.

    Texts are scored one at a time, as in `FastembedEmbedder`, because a score must not depend on its batch.
    """

    def __init__(self, model: str, *, cache_dir: Path | None = None, threads: int | None = None) -> None:
        if importlib.util.find_spec(LIBRARY) is None:
            raise MissingExtra(LIBRARY, extra=LIBRARY)
        self._model = model
        self._cache_dir = cache_dir
        self._threads = threads
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def name(self) -> str:
        """Name in the settings: `fastembed/Xenova/ms-marco-MiniLM-L-6-v2`."""
        return f"{LIBRARY}/{self._model}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one logit per text. Raises `ModelUnavailable`."""
        prepared = [replace_surrogates(text) for text in texts]
        return [float(score) for score in self._load().rerank(replace_surrogates(query), prepared, batch_size=1)]

    def _load(self) -> Any:
        with self._lock:
            if self._loaded is None:
                from fastembed.rerank.cross_encoder import TextCrossEncoder

                folder = str(self._cache_dir) if self._cache_dir else None
                try:
                    self._loaded = TextCrossEncoder(model_name=self._model, cache_dir=folder, threads=self._threads)
                except (ValueError, OSError, RuntimeError) as error:
                    raise load_error(HubModel(id=self._model), library=LIBRARY, error=error) from error
            return self._loaded
