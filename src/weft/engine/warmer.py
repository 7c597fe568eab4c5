"""Prefetching for servers: read indexes, the weights of the embedder and the most recalled facts."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Protocol

from weft.config import Settings
from weft.engine.embedder import EmbedderSlot
from weft.engine.memory import Memory
from weft.errors import MissingExtra, ModelError, WeftError
from weft.store.base import Database

logger = logging.getLogger(__name__)

DEFAULT_PERIOD_SECONDS = 60.0
"""Time between two rounds if `memory.cache_seconds` is 0."""


def warm(embedder: EmbedderSlot, memory: Memory) -> int:
    """Load the weights and prefetch the most recalled facts; return the number of entities. Log a failed load."""
    try:
        embedder.load()
    except (MissingExtra, ModelError) as error:
        logger.warning("the embedder could not be loaded: %s", error)
    return memory.warm()


class Warmable(Protocol):
    """Interface of an engine that the warmer needs."""

    @property
    def settings(self) -> Settings:
        """The settings of the engine."""

    @property
    def database(self) -> Database:
        """The database of the engine."""

    def warm(self) -> int:
        """Load the weights and prefetch facts."""


class Warmer:
    """
    Thread that warms an engine periodically while the context manager is entered.

    The period is `every` seconds, by default `memory.cache_seconds`, the lifetime of prefetched facts. A failed round
    is logged. Exit waits for the current round, at most `patience` seconds; None sets no limit.
    """

    def __init__(self, engine: Warmable, *, every: float | None = None, patience: float | None = None) -> None:
        self._engine = engine
        self._every = every or engine.settings.memory.cache_seconds or DEFAULT_PERIOD_SECONDS
        self._patience = patience
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weft-warm", daemon=True)

    def __enter__(self) -> Warmer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join(self._patience)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._engine.database.prefetch(resident=True)
                self._engine.warm()
            except WeftError as error:
                logger.warning("warming failed: %s", error)
            self._stopped.wait(self._every)
