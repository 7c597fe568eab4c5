"""The rerankers of an engine: opened by the first question that wants one, shared by all that follow."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

from weft.config import Settings
from weft.engine.adapters import open_reranker
from weft.errors import MissingExtra
from weft.models.base import Reranker
from weft.models.rerankers.deadline import AbsentReranker, PunctualReranker
from weft.store.base import Store

if TYPE_CHECKING:
    from weft.models.llm.budget import Account


class OnDemand:
    """
    Gives the reranker of the settings, or the one it was given, to questions that want it.

    Nothing is imported, loaded or sent before. A package that is not installed is a reason in the results, as is
    everything that goes wrong later; a setting that cannot be is a `ConfigError`. A language model as judge is one for
    each namespace, whose store keeps what it costs, and all of them share one budget.
    """

    def __init__(self, settings: Settings, *, given: Reranker | None = None) -> None:
        self._settings = settings
        self._given = given
        self._lock = threading.Lock()
        self._opened: dict[str, PunctualReranker] = {}

    def find(self, wanted: bool | None, *, store: Store) -> Reranker | None:
        """Return the reranker for a question, None where it wants none; None leaves that to the settings."""
        options = self._settings.rerank
        if wanted is None:
            wanted = options.enabled and (self._given is not None or bool(options.model))
        if not wanted:
            return None
        is_judge = self._given is None and options.model == "llm"
        name = store.namespace if is_judge else ""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open(store if is_judge else None)
            return self._opened[name]

    def close(self) -> None:
        """Wait until what answers that came have cost is kept."""
        with self._lock:
            opened = list(self._opened.values())
        for reranker in opened:
            reranker.close()

    @cached_property
    def _purse(self) -> Account:
        from weft.engine.language_models import open_purse

        return open_purse(self._settings)

    def _open(self, store: Store | None) -> PunctualReranker:
        """Open the reranker; with a store, the judge whose cost it keeps."""
        options = self._settings.rerank
        seconds = options.deadline_ms / 1000
        try:
            if store is not None:
                from weft.engine.language_models import open_judge

                judge = open_judge(self._settings, purse=self._purse, record=store.spending.write)
                return PunctualReranker(judge, seconds=seconds, afterwards=judge.write_receipt)
            inner = open_reranker(self._settings) if self._given is None else self._given
        except MissingExtra as error:
            inner = AbsentReranker(options.model, error=error)
        return PunctualReranker(inner, seconds=seconds)
