"""Which embedder may write to a namespace and answer in it: the one its vectors come from."""

from __future__ import annotations

from collections.abc import Callable

from weft.errors import ConfigError, MissingExtra, ModelError, SchemaMismatch
from weft.index.reembed import ask_dimension, expect_dimension
from weft.models.base import Embedder
from weft.records import StoredModel
from weft.store.base import Store


def agree(store: Store, embedder: Embedder | None) -> None:
    """Make sure the namespace's vectors come from `embedder`; a new namespace takes it on. Raises `SchemaMismatch`."""
    active = find_active(store)
    if embedder is None:
        if active:
            raise SchemaMismatch(
                f"namespace {store.namespace!r} is indexed with {active.name!r}, the settings say none",
                hint=f"--embedder {active.name}",
            )
        return
    card = embedder.card
    if active is None:
        if card.dimension == 0:
            ask_dimension(embedder)
            card = embedder.card
        store.write_model(
            StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True)
        )
    else:
        check_same(active, embedder, namespace=store.namespace)


def find_active(store: Store) -> StoredModel | None:
    """Return the embedder the namespace's vectors come from."""
    return next((model for model in store.models() if model.active), None)


def check_same(active: StoredModel, embedder: Embedder, *, namespace: str) -> None:
    """Raise `SchemaMismatch` where the active embedder of a namespace is another one, also under the same name."""
    card, indexed = embedder.card, f"namespace {namespace!r} is indexed with {active.name!r}"
    if active.fingerprint == card.fingerprint:
        if card.dimension != active.dimension:  # not known yet: every question comes here, and asking has its price
            expect_dimension(embedder, active.dimension)
    elif active.name != card.name:
        raise SchemaMismatch(
            f"{indexed} (dimension {active.dimension}), the settings say {card.name!r}",
            hint=f"weft reembed --embedder {card.name}, or use --embedder {active.name}",
        )
    else:
        is_remote = card.name.startswith("openai/")
        former = ", or set models.base_url and models.dimensions as they were" if is_remote else ""
        raise SchemaMismatch(
            f"{indexed} (dimension {active.dimension}), and the settings now mean another model by that name",
            hint=f"weft reembed --embedder {card.name}{former}",
        )


def find_agreed(store: Store, find: Callable[[], Embedder | None], *, writes: bool) -> tuple[Embedder | None, str]:
    """Return the embedder of a namespace, or why it cannot be used. A new namespace takes it on where one `writes`."""
    try:
        embedder = find()
        if embedder is not None and (writes or find_active(store)):
            agree(store, embedder)
    except (ConfigError, ModelError, MissingExtra, SchemaMismatch) as error:
        return None, str(error)
    return embedder, ""
