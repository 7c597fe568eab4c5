"""
The embedder of an engine: opened on first use, checked against the vectors of the namespace, and replaced.

    loading ──▶ ready ──replace──▶ replaced
      │ ▲         │                   │
      ▼ │         └──────follow───────┴──▶ loading
     failed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Literal, TypeAlias

from weft.config import LOCAL_EMBEDDERS, Settings, is_store_chosen
from weft.engine.adapters import defer_loading, unavailable_embedder
from weft.errors import ConfigError, MissingExtra, ModelError, SchemaMismatch, WeftError
from weft.index.reembed import expect_dimension, probe_dimension
from weft.models.base import Embedder, Loadable
from weft.records import StoredModel
from weft.store.base import Store, StoreReader
from weft.system.lazy_resource import LazyResource

EmbedderState: TypeAlias = Literal["loading", "ready", "failed", "replaced"]

UNUSABLE = (ConfigError, MissingExtra, ModelError, SchemaMismatch)
"""Errors of an embedder after which search by keywords and graph still works."""


class EmbedderSlot:
    """
    Embedder of one engine, opened on first use. Threads may share it.

    | state | |
    | --- | --- |
    | `loading` | not opened yet, or its weights are being loaded |
    | `ready` | opened |
    | `failed` | opening, loading or the last call failed, see `error`; the next use tries again |
    | `replaced` | `replace` has set another embedder |

    With `follows`, the namespace determines the embedder, and `follow` opens a changed one.
    """

    def __init__(self, open_embedder: Callable[[], Embedder | None], *, follows: bool = False) -> None:
        self._open = open_embedder
        self.follows = follows
        self._max_seconds: float | None = None
        self._opened = LazyResource(self._open_limited)
        self._is_replaced = False

    @property
    def state(self) -> EmbedderState:
        """The current state."""
        if self.error is not None:
            return "failed"
        if self._is_replaced:
            return "replaced"
        return "ready" if self._is_loaded() else "loading"

    @property
    def error(self) -> Exception | None:
        """The failure of the last use."""
        is_open = self._opened.state == "ready"
        return getattr(self._opened.get(), "error", None) if is_open else self._opened.error

    @property
    def is_quick(self) -> bool:
        """True if a question is embedded in this process without loading weights, or not at all."""
        if not self._is_loaded():
            return False
        embedder = self._opened.get()
        return embedder is None or not embedder.card.remote

    def _is_loaded(self) -> bool:
        """Return True if the embedder is open, and ready if it reports its own state."""
        return self._opened.state == "ready" and getattr(self._opened.get(), "state", "ready") == "ready"

    def get(self) -> Embedder | None:
        """Return the embedder; None if the settings name none. Errors while opening it are raised."""
        return self._opened.get()

    def answering(self, store: StoreReader) -> Embedder | None:
        """
        Return the embedder that made the vectors of a namespace; None if it has no vectors.

        Raises `SchemaMismatch` if the settings name another one.
        """
        with store.reading():
            active = find_active(store)
        embedder = self.get() if active else None
        if active and embedder:
            check_embedder(active, embedder, namespace=store.namespace)
        return embedder

    def load(self) -> None:
        """Load the weights now. Errors while opening and loading are raised."""
        embedder: object = self.get()
        if isinstance(embedder, Loadable):
            embedder.load()

    @contextmanager
    def preloading(self) -> Iterator[None]:
        """Load the weights in another thread meanwhile. A failure is raised by the first call of the embedder."""
        embedder: object = self.get()
        with ThreadPoolExecutor(1, thread_name_prefix="weft-preload") as pool:
            if isinstance(embedder, Loadable):
                pool.submit(embedder.load)
            yield

    def replace(self, embedder: Embedder | None) -> None:
        """Use another embedder from now on."""
        self._opened = LazyResource(lambda: self._limit(embedder))
        self._opened.get()
        self._is_replaced = True

    def follow(self, active: StoredModel | None) -> None:
        """Open the embedder again if another process has switched the namespace to the model `active`."""
        if not self.follows or active is None or self._opened.state != "ready":
            return
        embedder = self._opened.get()
        if embedder is not None and embedder.card.fingerprint != active.fingerprint:
            self._opened, self._is_replaced = LazyResource(self._open_limited), False

    def limit_waiting(self, seconds: float) -> None:
        """Load weights in the background from now on. Calls wait at most `seconds` for the weights, then fail."""
        self._max_seconds = seconds
        self._opened = LazyResource(self._open_limited)

    def _open_limited(self) -> Embedder | None:
        return self._limit(self._open())

    def _limit(self, embedder: Embedder | None) -> Embedder | None:
        if embedder is None or self._max_seconds is None:
            return embedder
        return defer_loading(embedder, seconds=self._max_seconds)


def find_active(store: StoreReader) -> StoredModel | None:
    """Return the model that made the vectors of the namespace."""
    return next((model for model in store.models() if model.active), None)


def find_name(store: StoreReader, settings: Settings) -> str:
    """
    Return the name of the embedder that made the vectors of the namespace, if the settings name none; else empty.

    A cloned folder may contain a store whose embedder sends text to an endpoint, or loads a model from that folder.
    Raises `ConfigError` for such an embedder if the user did not choose the store.
    """
    active = find_active(store) if "models.embedder" not in settings.origins else None
    if active is None:
        return ""
    if not active.name.startswith(LOCAL_EMBEDDERS) and not is_store_chosen(settings):
        raise ConfigError(
            f"the embedder {active.name!r} is named by the store of this folder, not by your settings",
            hint=f"if you know this store, pass --embedder {active.name}, or set models.embedder",
        )
    return active.name


def adopt_embedder(store: Store, embedder: Embedder | None) -> None:
    """
    Record the embedder of a new namespace.

    Raises `SchemaMismatch` if the namespace has vectors of another embedder.
    """
    active = find_active(store)
    if embedder is None:
        if active:
            raise SchemaMismatch(
                f"namespace {store.namespace!r} is indexed with {active.name!r}, but the settings name no embedder",
                hint=f"pass --embedder {active.name}, or set models.embedder",
            )
        return
    card = embedder.card
    if active is None:
        if card.dimension == 0:
            probe_dimension(embedder)
            card = embedder.card
        store.write_model(
            StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True)
        )
    else:
        check_embedder(active, embedder, namespace=store.namespace)


def check_embedder(active: StoredModel, embedder: Embedder, *, namespace: str) -> None:
    """Raise `SchemaMismatch` if embedder and active model produce different vectors, even under the same name."""
    card, indexed = embedder.card, f"namespace {namespace!r} is indexed with {active.name!r}"
    if active.fingerprint == card.fingerprint:
        if (
            card.dimension != active.dimension
        ):  # unknown dimension: a request to the endpoint for each question would cost money
            expect_dimension(embedder, active.dimension)
    elif active.name != card.name:
        raise SchemaMismatch(
            f"{indexed} (dimension {active.dimension}), but the settings name {card.name!r}",
            hint=f"run weft reembed --embedder {card.name}, or pass --embedder {active.name}",
        )
    else:
        is_remote = card.name.startswith("openai/")
        former = ", or restore models.base_url and models.dimensions" if is_remote else ""
        raise SchemaMismatch(
            f"{indexed} (dimension {active.dimension}), but the settings name another model with that name",
            hint=f"run weft reembed --embedder {card.name}{former}",
        )


def require_embedder(embedder: Embedder | None) -> Embedder:
    """Return the embedder. Raises `ConfigError` if there is none."""
    if embedder is None:
        hint = "pass an embedder, for example weft reembed --embedder local/granite-30m"
        raise ConfigError("the settings name no embedder", hint=hint)
    return embedder


def make_stand_in(active: StoredModel | None, *, name: str, error: WeftError) -> Embedder:
    """Return an embedder whose calls raise `error`, for a namespace with an active model, else under a `name`."""
    return unavailable_embedder(
        name=active.name if active else name,
        fingerprint=active.fingerprint if active else "",
        dimension=active.dimension if active else 0,
        error=error,
    )


def find_usable(store: Store, find: Callable[[], Embedder | None], *, writes: bool) -> tuple[Embedder | None, str]:
    """Return the embedder that `find` returns, or None and the reason. With `writes`, a new namespace records it."""
    try:
        embedder = find()
        if embedder is not None and (writes or find_active(store)):
            adopt_embedder(store, embedder)
    except UNUSABLE as error:
        return None, str(error)
    return embedder, ""
