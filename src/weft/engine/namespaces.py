"""One engine for each namespace of a database, for servers with several namespaces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from weft.config import Settings, check_namespace
from weft.engine.adapters import Progress, embedder_opener
from weft.engine.api_keys import utc_now
from weft.engine.embedder import EmbedderSlot, find_active, find_name
from weft.engine.engine import Engine
from weft.engine.opening.databases import open_database
from weft.engine.result_models import ResultModels
from weft.models.base import Embedder, Reranker
from weft.store.base import Database

MAX_LOADED_MODELS = 3
"""Maximum number of embedders of a server with weights in memory; each takes about 100 MB."""


class Engines:
    """
    Engines by namespace, opened on first use.

    They share the database and the models. The weights of a model are loaded when a namespace first needs them, and at
    most `MAX_LOADED_MODELS` stay in memory. Threads may share this object.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        on_fetch: Progress | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.settings = settings
        self.database = database or open_database(settings)
        self._custom_embedder = embedder
        self._models = ResultModels(settings, reranker=reranker)
        self._on_fetch = on_fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._engines: dict[str, Engine] = {}
        self._embedders: dict[str, Embedder | None] = {}
        self._open = embedder_opener(settings, max_loaded=MAX_LOADED_MODELS, progress=on_fetch)

    def engine(self, namespace: str) -> Engine:
        """Return the engine of a namespace without loading anything. Raises `ConfigError` if the name is invalid."""
        check_namespace(namespace)
        with self._lock:
            if namespace not in self._engines:
                self._engines[namespace] = self._make(namespace)
            return self._engines[namespace]

    def across(self, namespaces: Sequence[str]) -> Engine:
        """Return an engine that searches several namespaces as one. Raises `ConfigError` if a name is invalid."""
        engines = [self.engine(name) for name in dict.fromkeys(namespaces)]
        # The embedder of an indexed namespace is shared; an empty one has none yet.
        first = next((engine for engine in engines if find_active(engine.store)), engines[0])
        return first.across(*namespaces)

    def close(self) -> None:
        """Close the database."""
        self._models.close()
        self.database.close()

    def _make(self, namespace: str) -> Engine:
        return Engine(
            replace(self.settings, store=replace(self.settings.store, namespace=namespace)),
            database=self.database,
            embedder=EmbedderSlot(lambda: self._find_embedder(namespace), follows=self._is_choice_open()),
            result_models=self._models,
            on_fetch=self._on_fetch,
            clock=self._clock,
        )

    def _find_embedder(self, namespace: str) -> Embedder | None:
        """
        Return the embedder of the settings, or else of the namespace.

        Namespaces with the same embedder share one object.
        """
        if self._custom_embedder is not None:
            return self._custom_embedder
        name = find_name(self.database.store(namespace), self.settings) or self.settings.models.embedder
        with self._lock:
            if name not in self._embedders:
                self._embedders[name] = self._open(name)
            return self._embedders[name]

    def _is_choice_open(self) -> bool:
        return self._custom_embedder is None and "models.embedder" not in self.settings.origins
