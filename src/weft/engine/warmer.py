"""Getting ready before anybody asks: for doors that stay open."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from weft.errors import MissingExtra, ModelError, WeftError
from weft.models.base import Loadable

if TYPE_CHECKING:
    from weft.engine.engine import Engine

logger = logging.getLogger(__name__)

EVERY = 60.0
"""Seconds between two rounds where nothing that was read is kept."""


def warm(engine: Engine) -> int:
    """Load the model and read what is recalled most; return of how many entities. Without a model it does without."""
    try:
        embedder: object = engine.embedder
        if isinstance(embedder, Loadable):
            embedder.load()
    except (MissingExtra, ModelError) as error:
        logger.warning("the model could not be loaded: %s", error)
    return engine.memory.warm()


class Warmer:
    """
    Keeps an engine warm in a thread of its own, from entering to leaving: a door that stays open enters it once.

    A round comes `every` so many seconds, without it as often as `memory.cache_seconds` says that what was read is
    kept. One that fails is logged and tried again in the next one. Leaving waits for the round under way, at most
    `patience` seconds.
    """

    def __init__(self, engine: Engine, *, every: float | None = None, patience: float | None = None) -> None:
        self._engine = engine
        self._every = every or engine.settings.memory.cache_seconds or EVERY
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
                self._engine.warm()
            except WeftError as error:
                logger.warning("warming failed: %s", error)
            self._stopped.wait(self._every)
