"""Models of an engine that act on results: rerankers and writers of answers, opened on first use."""

from __future__ import annotations

import threading

from weft.config import Settings
from weft.engine.adapters import (
    TimedReranker,
    open_llm_budget,
    open_llm_writer,
    open_timed_llm_reranker,
    open_timed_reranker,
)
from weft.errors import ConfigError
from weft.models.base import AnswerWriter, Reranker
from weft.store.base import Store
from weft.system.lazy_resource import LazyResource


class ResultModels:
    """
    The reranker of the settings, or a custom one, and the writer of answers, shared by all questions.

    A missing package fails the call of a reranker, and the result contains the reason. An invalid setting raises
    `ConfigError`. A language model is opened once per namespace, because each store records its cost. All rerankers
    share one budget, and all writers another.
    """

    def __init__(self, settings: Settings, *, reranker: Reranker | None = None) -> None:
        self._settings = settings
        self._custom = reranker
        self._lock = threading.Lock()
        self._rerankers: dict[str, TimedReranker] = {}
        self._writers: dict[str, AnswerWriter] = {}
        self._rerank_budget = LazyResource(lambda: open_llm_budget(settings))
        self._answer_budget = LazyResource(lambda: open_llm_budget(settings))

    def find_reranker(self, wanted: bool | None, *, store: Store) -> Reranker | None:
        """Return the reranker for a question, None if it is not `wanted`. If `wanted` is None, the settings decide."""
        options = self._settings.rerank
        if wanted is None:
            wanted = options.enabled and (self._custom is not None or bool(options.model))
        if not wanted:
            return None
        is_llm = self._custom is None and options.model == "llm"
        name = store.namespace if is_llm else ""
        with self._lock:
            if name not in self._rerankers:
                self._rerankers[name] = self._open_llm(store) if is_llm else self._open()
            return self._rerankers[name]

    def find_writer(self, wanted: bool | None, *, store: Store) -> AnswerWriter | None:
        """
        Return the writer of answers, None if it is not `wanted`. If `wanted` is None, a configured model writes.

        Raises `ConfigError` if it is wanted and no language model is configured.
        """
        is_configured = bool(self._settings.llm.model)
        if not (is_configured if wanted is None else wanted):
            return None
        if not is_configured:
            raise ConfigError("llm.model is not set", hint="set llm.model, or ask without a written answer")
        with self._lock:
            if store.namespace not in self._writers:
                self._writers[store.namespace] = open_llm_writer(
                    self._settings, budget=self._answer_budget.get(), record=store.spending.write
                )
            return self._writers[store.namespace]

    def close(self) -> None:
        """Wait until the costs of finished calls are recorded."""
        with self._lock:
            opened = list(self._rerankers.values())
        for reranker in opened:
            reranker.close()

    def _open(self) -> TimedReranker:
        return open_timed_reranker(self._settings, custom=self._custom)

    def _open_llm(self, store: Store) -> TimedReranker:
        return open_timed_llm_reranker(self._settings, budget=self._rerank_budget.get(), record=store.spending.write)
