"""One engine for each namespace of a database, for doors that serve several."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from weft.config import Settings, check_namespace
from weft.engine.adapters import Progress, open_database, open_embedder
from weft.engine.engine import Engine
from weft.engine.api_keys import utc_now
from weft.engine.reranking import OnDemand
from weft.models.base import Embedder, Reranker
from weft.store.base import Database


class Engines:
    """Engines by namespace, made when first asked for. They share the database and the models; threads share them."""

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
        self._given = embedder
        self._reranker = OnDemand(settings, given=reranker)
        self._on_fetch = on_fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._engines: dict[str, Engine] = {}
        self._embedders: dict[str, Embedder | None] = {}

    def engine(self, namespace: str) -> Engine:
        """Return the engine of a namespace, at once. Raises `ConfigError` where that is no name for one."""
        check_namespace(namespace)
        with self._lock:
            if namespace not in self._engines:
                self._engines[namespace] = self._make(namespace)
            return self._engines[namespace]

    def close(self) -> None:
        """Release the database."""
        self._reranker.close()
        self.database.close()

    def _make(self, namespace: str) -> Engine:
        settings = replace(self.settings, store=replace(self.settings.store, namespace=namespace))
        return _Tenant(
            settings,
            database=self.database,
            find=lambda: self._embedder(namespace),
            reranker=self._reranker,
            clock=self._clock,
        )

    def _embedder(self, namespace: str) -> Embedder | None:
        """Return the one embedder of this name: that of the settings, or the one the namespace was indexed with."""
        if self._given is not None:
            return self._given
        name = self.settings.models.embedder
        if "models.embedder" not in self.settings.origins:
            models = self.database.store(namespace).models()
            name = next((model.name for model in models if model.active), name)
        with self._lock:
            if name not in self._embedders:
                self._embedders[name] = open_embedder(self.settings, name=name, progress=self._on_fetch)
            return self._embedders[name]


class _Tenant(Engine):
    """An engine that asks for the shared embedder when it first needs one."""

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database,
        find: Callable[[], Embedder | None],
        reranker: OnDemand,
        clock: Callable[[], datetime],
    ) -> None:
        super().__init__(settings, database=database, reranker=reranker, clock=clock)
        self._find = find

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder of this namespace; its weights are loaded when first used."""
        return self._find()
