"""Shared parts of the model hub adapters: loading, known models, model cards, normalisation of vectors."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from weft.errors import BadModelOutput, MissingExtra, ModelUnavailable
from weft.models.base import TextKind
from weft.models.loaded_models import LoadedModels
from weft.records import ModelCard, Vectors

ANOTHER_EMBEDDER_HINT = "set models.embedder to another model"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModel:
    """Properties of a model that are known without loading it."""

    id: str
    """Name on the hub, with its owner."""
    dimension: int = 0
    """Dimension of the vectors; 0 until the first call if unknown."""
    floor: float = 0.3
    background: tuple[float, float] = (0.05, 0.1)
    """Mean and standard deviation of the cosine of unrelated pairs. Like the floor, estimated from the model's page."""
    scripts: frozenset[str] = frozenset({"*"})
    query_prefix: str = ""
    document_prefix: str = ""

    def prefix(self, kind: TextKind) -> str:
        """Return the prefix that the model expects before a text of this kind."""
        return self.query_prefix if kind == "query" else self.document_prefix


def _e5(size: str, *, dimension: int) -> HubModel:
    return HubModel(
        id=f"intfloat/multilingual-e5-{size}",
        dimension=dimension,
        floor=0.78,
        background=(0.75, 0.03),  # the training of E5 models puts all pairs above 0.7
        query_prefix="query: ",
        document_prefix="passage: ",
    )


def _bge(size: str, *, dimension: int) -> HubModel:
    return HubModel(
        id=f"BAAI/bge-{size}-en-v1.5",
        dimension=dimension,
        floor=0.55,
        background=(0.45, 0.07),
        scripts=frozenset({"latin"}),
    )


KNOWN_MODELS: tuple[HubModel, ...] = (
    _bge("small", dimension=384),
    _bge("base", dimension=768),
    _e5("small", dimension=384),
    _e5("base", dimension=768),
    _e5("large", dimension=1024),
)


def find_hub_model(name: str) -> HubModel:
    """Return a model by its name, with or without its owner. An unknown model gets default values."""
    for known in KNOWN_MODELS:
        if name.lower() in (known.id.lower(), known.id.split("/")[1].lower()):
            return known
    return HubModel(id=name)


def make_card(model: HubModel, *, library: str, dimension: int) -> ModelCard:
    """Return the card of an embedder that runs `model` through `library`."""
    facts = f"{library} {model.id} {model.query_prefix} {model.document_prefix}"
    return ModelCard(
        name=f"{library}/{model.id}",
        fingerprint=hashlib.sha256(facts.encode()).hexdigest()[:32],
        dimension=dimension,
        floor=model.floor,
        background=model.background,
        scripts=model.scripts,
    )


def unit_rows(rows: Iterable[Any], *, count: int, dimension: int) -> Vectors:
    """
    Return the rows as unit vectors.

    Raises `BadModelOutput` unless there are `count` rows of `dimension` columns; a dimension of 0 allows any.
    """
    vectors = np.array([np.asarray(row, dtype=np.float64) for row in rows])
    if vectors.ndim != 2 or len(vectors) != count or (dimension and vectors.shape[1] != dimension):
        expected = (count, dimension or "any")
        message = f"the model returned vectors of shape {vectors.shape} instead of {expected}"
        raise BadModelOutput(message, hint=ANOTHER_EMBEDDER_HINT)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise BadModelOutput("the model returned a zero or non-finite vector", hint=ANOTHER_EMBEDDER_HINT)
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def check_no_folder(name: str, *, library: str) -> None:
    """
    Raise `ModelUnavailable` if a library would take a name for a folder of the current folder.

    The libraries look there before they look for their own models, and a model folder may contain code.
    """
    if not Path(name).is_absolute() and os.path.lexists(name):
        raise ModelUnavailable(
            f"{library} would load {name!r} from the current folder",
            hint="run the command in another folder, or pass the absolute path of the model",
        )


class HubAdapter(ABC):
    """A model behind a library, loaded on first use. A subclass opens the model."""

    library: ClassVar[str]
    """Name of the library, as in the settings, and of its extra."""

    def __init__(self, model: HubModel, *, memory: LoadedModels | None = None) -> None:
        """Raises `MissingExtra` if the library is not installed."""
        if importlib.util.find_spec(self.library.replace("-", "_")) is None:
            raise MissingExtra(self.library, extra=self.library)
        self._hub_model = model
        self._memory = memory
        self._lock = Lock()
        self._loaded: Any = None

    @abstractmethod
    def _open(self, model: HubModel) -> Any:
        """Return the model of the library."""

    @property
    def name(self) -> str:
        """Name in the settings: `fastembed/Xenova/ms-marco-MiniLM-L-6-v2`."""
        return f"{self.library}/{self._hub_model.id}"

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
                    raise ModelUnavailable(
                        f"{self.library} cannot load {self._hub_model.id!r}: {str(error)[:300]}",
                        hint="correct the name of the model, connect to the model hub, or use a `local/` model",
                    ) from error
        if self._memory is not None:
            self._memory.use(self)
        return loaded
