"""Engine that opens on first use. A server can then answer before store and model are open."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from weft.config.location import is_missing
from weft.errors import StoreUnavailable
from weft.system.lazy_resource import LazyResource

if TYPE_CHECKING:
    from weft.config import Settings
    from weft.engine.engine import Engine
    from weft.models.base import Embedder

logger = logging.getLogger(__name__)

MAX_CLOSE_SECONDS = 1.0
"""Maximum time that `close` waits for a model that is still loading."""


class LazyEngine:
    """
    Opens one engine in the first thread that needs it. Use it as a context manager.

    Nothing is imported, opened or loaded before `start` or `engine` is called.

    """

    def __init__(self, settings: Settings, *, embedder: Embedder | None = None, namespaces: Sequence[str] = ()) -> None:
        """`namespaces` are searched as one by `reader`; the default is that of the settings."""
        self.settings = settings
        self.namespaces = tuple(dict.fromkeys(namespaces)) or (settings.store.namespace,)
        self._embedder = embedder
        self._opened = LazyResource(self._open, name="weft-open", on_done=self._log_failure)
        self._closing = ExitStack()

    def start(self) -> None:
        """Open the store and load the model in the background, once."""
        if self._opened.state == "unstarted" and not self.is_missing():
            self._opened.start()

    def engine(self, *, writes: bool = False) -> Engine:
        """Return the engine. With `writes`, a missing file is created; otherwise it raises `StoreUnavailable`."""
        if not writes and self.is_missing():
            raise StoreUnavailable(
                f"the store {self.settings.store.db!r} does not exist yet",
                hint="index documents with `weft index PATH`, remember a fact, or pass another store with --db",
            )
        return self._opened.get()

    def reader(self) -> Engine:
        """Return the engine that searches all namespaces. Raises `StoreUnavailable`."""
        return self.engine().across(*self.namespaces)

    def is_missing(self) -> bool:
        """Return True if the settings name a file that does not exist yet."""
        return self._opened.state in ("unstarted", "failed") and is_missing(self.settings.store.db)

    def __enter__(self) -> LazyEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def _open(self) -> Engine:
        from weft.engine.engine import Engine
        from weft.engine.warmer import Warmer

        engine = Engine(self.settings, embedder=self._embedder)
        self._closing.callback(engine.close)
        engine.embedder_slot.limit_waiting(self.settings.models.loading_seconds)
        self._closing.enter_context(Warmer(engine, patience=MAX_CLOSE_SECONDS))
        return engine

    def _log_failure(self) -> None:
        if self._opened.error is not None:
            logger.warning("the store could not be opened: %s", self._opened.error)
