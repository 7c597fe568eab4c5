"""Embedders for doors that owe an answer: one that is waited for only so long, and one that stands for none."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from weft.errors import MissingExtra, ModelError, ModelUnavailable, WeftError
from weft.models.base import Embedder, Expecting, Loadable, TextKind
from weft.records import ModelCard, Vectors


class PatientEmbedder:
    """
    An embedder whose weights are loaded in the background, and waited for at most `patience` seconds in all.

    `failure` is what went wrong last, until something goes well.
    """

    def __init__(self, inner: Embedder, *, patience: float) -> None:
        self._inner = inner
        self.patience = patience
        self._is_loaded = not isinstance(inner, Loadable)
        self._loading: threading.Thread | None = None
        self._until = 0.0
        self._lock = threading.Lock()
        self.failure: WeftError | None = None

    @property
    def card(self) -> ModelCard:
        """What the inner embedder knows of itself."""
        return self._inner.card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return what the inner embedder does. Raises `ModelUnavailable` also while its weights are being loaded."""
        try:
            self._wait()
            vectors = self._inner.embed(texts, kind=kind)
        except (ModelError, MissingExtra) as error:
            self.failure = error
            raise
        self.failure = None
        return vectors

    def expect(self, dimension: int) -> None:
        """Let the inner embedder know the dimension, where it cannot tell."""
        if isinstance(self._inner, Expecting):
            self._inner.expect(dimension)

    def load(self) -> None:
        """Load the weights, however long it takes."""
        try:
            if isinstance(self._inner, Loadable):
                self._inner.load()
        except (ModelError, MissingExtra) as error:
            self.failure = error
            raise
        self._is_loaded, self.failure = True, None

    def _wait(self) -> None:
        if self._is_loaded:
            return
        with self._lock:
            if self._loading is None or not self._loading.is_alive():
                self._loading = threading.Thread(target=self._try, name="weft-load", daemon=True)
                self._until = time.monotonic() + self.patience
                self._loading.start()
            loading = self._loading
        loading.join(max(0.0, self._until - time.monotonic()))
        if loading.is_alive():
            raise ModelUnavailable(f"{self.card.name!r} is still being loaded", hint="ask again in a moment")
        if not self._is_loaded and self.failure is not None:
            raise self.failure

    def _try(self) -> None:
        with suppress(ModelError, MissingExtra):  # `failure` has it
            self.load()


class AbsentEmbedder:
    """Stands for the embedder whose vectors a namespace has, where it cannot be used: every call says why."""

    def __init__(self, *, name: str, fingerprint: str, dimension: int, error: WeftError) -> None:
        self.card = ModelCard(name=name, fingerprint=fingerprint, dimension=dimension, floor=1.0)
        self._error = error

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Raise `ModelUnavailable`."""
        raise ModelUnavailable(str(self._error), hint=self._error.hint) from self._error
