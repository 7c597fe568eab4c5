"""Embedders for servers with deadlines: one limits the loading time, one always fails."""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import MissingExtra, ModelError, ModelUnavailable, WeftError
from weft.models.base import Embedder, LearnsDimension, Loadable, TextKind
from weft.records import ModelCard, Vectors
from weft.system.lazy_resource import DeadlinePassed, LazyResource, State


class DeferredEmbedder:
    """
    An embedder whose weights are loaded in the background.

    Calls wait for the weights. All calls share one deadline of `seconds` per attempt to load them.
    """

    def __init__(self, inner: Embedder, *, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._weights = LazyResource(self._load_weights, name="weft-load")
        self._error: WeftError | None = None

    @property
    def card(self) -> ModelCard:
        """The card of the inner embedder."""
        return self._inner.card

    @property
    def state(self) -> State:
        """The state of the weights; also `failed` after a failed call of `embed`."""
        if self._error is not None:
            return "failed"
        return self._weights.state if isinstance(self._inner, Loadable) else "ready"

    @property
    def error(self) -> WeftError | None:
        """The failure of the last call; None after a successful call."""
        return self._error

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return the vectors of the inner embedder. Raises `ModelUnavailable`, also if loading exceeds the deadline."""
        try:
            if isinstance(self._inner, Loadable):
                self._wait()
            vectors = self._inner.embed(texts, kind=kind)
        except (ModelError, MissingExtra) as error:
            self._error = error
            raise
        self._error = None
        return vectors

    def expect(self, dimension: int) -> None:
        """Set the dimension of an inner embedder that does not know it, from stored vectors."""
        if isinstance(self._inner, LearnsDimension):
            self._inner.expect(dimension)

    def load(self) -> None:
        """Load the weights without a deadline."""
        try:
            self._weights.get()
        except (ModelError, MissingExtra) as error:
            self._error = error
            raise
        self._error = None

    def _wait(self) -> None:
        try:
            self._weights.get_within(self._seconds)
        except DeadlinePassed:
            raise ModelUnavailable(f"{self.card.name!r} is still being loaded", hint="retry in a few seconds") from None

    def _load_weights(self) -> None:
        if isinstance(self._inner, Loadable):
            self._inner.load()


class UnavailableEmbedder:
    """Placeholder for an embedder that cannot be used. It has the model card; every call raises the error."""

    def __init__(self, *, name: str, fingerprint: str, dimension: int, error: WeftError) -> None:
        self.card = ModelCard(name=name, fingerprint=fingerprint, dimension=dimension, floor=1.0)
        self._error = error

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Raise `ModelUnavailable`."""
        raise ModelUnavailable(str(self._error), hint=self._error.hint) from self._error
