"""Embedder for the models of the `sentence-transformers` package, on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.models.base import TextKind
from weft.models.embedders.hub_embedder import HubEmbedder
from weft.models.hub import HubModel, check_no_folder
from weft.models.loaded_models import LoadedModels


class SentenceTransformersEmbedder(HubEmbedder):
    """
    An embedder behind sentence-transformers.

    Texts are embedded in batches, which a GPU needs. The models are not quantised, so a batch changes a vector
    only by rounding, about 1e-6.
    """

    library = "sentence-transformers"

    def __init__(self, model: str, *, device: str | None = None, memory: LoadedModels | None = None) -> None:
        super().__init__(model, memory=memory)
        self._device = device

    def _open(self, model: HubModel) -> Any:
        import sentence_transformers

        check_no_folder(model.id, library=self.library)
        return sentence_transformers.SentenceTransformer(model.id, device=self._device)

    def _encode(self, model: Any, texts: list[str], *, kind: TextKind) -> Iterable[Any]:
        """Encode with the prefix of a known model, else with the model's own prompt."""
        rows: Iterable[Any]
        if prefix := self._hub_model.prefix(kind):
            rows = model.encode(texts, prompt=prefix, show_progress_bar=False)
        else:  # since version 5 the library selects the prompt for each kind of text
            rows = getattr(model, f"encode_{kind}", model.encode)(texts, show_progress_bar=False)
        return rows
