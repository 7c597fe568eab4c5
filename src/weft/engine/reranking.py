"""Rerankers of an engine, opened on first use and shared by all questions."""

from __future__ import annotations

import threading

from weft.config import Settings
from weft.engine.adapters import TimedReranker, open_llm_budget, open_timed_llm_reranker, open_timed_reranker
from weft.models.base import Reranker
from weft.store.base import Store
from weft.system.lazy_resource import LazyResource


class Rerankers:
    """
    The reranker of the settings, or a custom one, opened on first use.

    A missing package fails the call, and the result contains the reason. An invalid setting raises `ConfigError`. A
    language model has one reranker per namespace, because each store records its cost. All rerankers share one budget.
    """

    def __init__(self, settings: Settings, *, custom: Reranker | None = None) -> None:
        self._settings = settings
        self._custom = custom
        self._lock = threading.Lock()
        self._opened: dict[str, TimedReranker] = {}
        self._budget = LazyResource(lambda: open_llm_budget(settings))

    def find(self, wanted: bool | None, *, store: Store) -> Reranker | None:
        """Return the reranker for a question, None if it is not `wanted`. If `wanted` is None, the settings decide."""
        options = self._settings.rerank
        if wanted is None:
            wanted = options.enabled and (self._custom is not None or bool(options.model))
        if not wanted:
            return None
        is_llm = self._custom is None and options.model == "llm"
        name = store.namespace if is_llm else ""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open_llm(store) if is_llm else self._open()
            return self._opened[name]

    def close(self) -> None:
        """Wait until the costs of finished calls are recorded."""
        with self._lock:
            opened = list(self._opened.values())
        for reranker in opened:
            reranker.close()

    def _open(self) -> TimedReranker:
        return open_timed_reranker(self._settings, custom=self._custom)

    def _open_llm(self, store: Store) -> TimedReranker:
        return open_timed_llm_reranker(self._settings, budget=self._budget.get(), record=store.spending.write)
