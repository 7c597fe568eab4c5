"""The reranker of an engine: opened by the first question that wants it, shared by all that follow."""

from __future__ import annotations

import threading

from weft.config import Settings
from weft.engine.adapters import open_reranker
from weft.errors import MissingExtra
from weft.models.base import Reranker
from weft.models.punctual import AbsentReranker, PunctualReranker


class OnDemand:
    """
    Gives the reranker of the settings, or the one it was given, to questions that want it.

    Nothing is imported, loaded or sent before. A package that is not installed is a reason in the results, as is
    everything that goes wrong later; a setting that cannot be is a `ConfigError`.
    """

    def __init__(self, settings: Settings, *, given: Reranker | None = None) -> None:
        self._settings = settings
        self._given = given
        self._lock = threading.Lock()
        self._opened: Reranker | None = None

    def find(self, wanted: bool | None) -> Reranker | None:
        """Return the reranker for a question, None where it wants none; None leaves that to the settings."""
        options = self._settings.rerank
        if wanted is None:
            wanted = options.enabled and (self._given is not None or bool(options.model))
        if not wanted:
            return None
        with self._lock:
            if self._opened is None:
                self._opened = PunctualReranker(self._open(), seconds=options.deadline_ms / 1000)
            return self._opened

    def _open(self) -> Reranker:
        if self._given is not None:
            return self._given
        try:
            return open_reranker(self._settings)
        except MissingExtra as error:
            return AbsentReranker(self._settings.rerank.model, error=error)
