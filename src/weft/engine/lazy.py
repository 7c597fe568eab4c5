"""An engine that is opened when it is first needed, for doors that answer before it is there."""

from __future__ import annotations

import logging
import threading
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from weft.config.location import is_missing
from weft.errors import StoreUnavailable, WeftError

if TYPE_CHECKING:
    from weft.config import Settings
    from weft.engine.engine import Engine
    from weft.models.base import Embedder

logger = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds that leaving waits for a model that is still being loaded."""


LOADING = 5.0
"""Seconds that a question waits for a model that is still being loaded; then it is answered without."""


class Standby:
    """
    Opens an engine once, in whichever thread asks first. Use it as a context manager.

    Nothing is imported, opened or loaded before `start` or `engine` is called.
    """

    def __init__(self, settings: Settings, *, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._embedder = embedder
        self._engine: Engine | None = None
        self._lock = threading.Lock()
        self._starting = threading.Event()
        self._closing = ExitStack()

    def start(self) -> None:
        """Open the store and load the model in the background; again it does nothing."""
        if not self._starting.is_set():
            self._starting.set()
            threading.Thread(target=self._prepare, name="weft-standby", daemon=True).start()

    def engine(self, *, writes: bool = False) -> Engine:
        """Return the engine. Where there is no file yet, only writing makes one; else it raises `StoreUnavailable`."""
        from weft.engine.engine import Engine
        from weft.engine.fallback import wait_at_most
        from weft.engine.warmer import Warmer

        with self._lock:
            if self._engine is None:
                if not writes and self.is_missing():
                    raise StoreUnavailable(
                        f"there is no store {self.settings.store.db!r} yet",
                        hint="index documents with `weft index PATH`, or remember a fact; `--db` names another store",
                    )
                engine = Engine(self.settings, embedder=self._embedder)
                self._closing.callback(engine.close)
                wait_at_most(engine, LOADING)
                self._closing.enter_context(Warmer(engine, patience=PATIENCE))
                self._engine = engine
            return self._engine

    def is_missing(self) -> bool:
        """Return whether the settings name a file that nobody has made yet."""
        return self._engine is None and is_missing(self.settings.store.db)

    def __enter__(self) -> Standby:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def _prepare(self) -> None:
        try:
            self.engine()
        except WeftError as error:
            logger.warning("not ready: %s", error)
