"""Embedder for the models of the `fastembed` package, which downloads them from a model hub."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from weft.models.base import TextKind
from weft.models.embedders.hub_embedder import HubEmbedder
from weft.models.hub import HubModel
from weft.models.loaded_models import LoadedModels


class FastembedEmbedder(HubEmbedder):
    """
    An embedder behind fastembed.

    Texts are embedded one at a time, because with many quantised models a vector depends on its batch. On a CPU,
    padding costs more time than a batch saves.
    """

    library = "fastembed"

    def __init__(
        self,
        model: str,
        *,
        cache_dir: Path | None = None,
        threads: int | None = None,
        memory: LoadedModels | None = None,
    ) -> None:
        super().__init__(model, memory=memory)
        self._cache_dir = cache_dir
        self._threads = threads

    def _open(self, model: HubModel) -> Any:
        import fastembed

        folder = str(self._cache_dir) if self._cache_dir else None
        return fastembed.TextEmbedding(model_name=model.id, cache_dir=folder, threads=self._threads)

    def _encode(self, model: Any, texts: list[str], *, kind: TextKind) -> Iterable[Any]:
        prefix = self._hub_model.prefix(kind)
        method = model.query_embed if kind == "query" else model.passage_embed
        rows: Iterable[Any] = method([prefix + text for text in texts], batch_size=1)
        return rows
