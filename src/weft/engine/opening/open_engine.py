"""Opening of an engine by the address of its store, for Python callers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.config import is_missing
from weft.config.read import read_settings
from weft.engine.engine import Engine
from weft.engine.opening.databases import open_database
from weft.engine.opening.federation import Federation, label_databases
from weft.errors import InputError
from weft.models.base import Embedder, Reranker


def open_engine(
    db: str | Path | Sequence[str | Path] | None = None,
    *,
    namespace: str | None = None,
    embedder: str | Embedder | None = None,
    reranker: str | Reranker | None = None,
    config: str | Path | None = None,
    **settings: Any,
) -> Engine:
    """
    Open an engine on a file, which is created if missing, or on a server (`postgresql://…`).

    With several of them, the namespace is searched in all of them as one; nothing can be written then.
    `embedder` is a name as in the settings or an `Embedder`; `reranker` is a name or a `Reranker`. Other settings are
    keywords of the form `group_field`, e.g. `search_top_k=5`. Defaults come from the environment and from files.
    """
    several = [str(item) for item in db] if isinstance(db, Sequence) and not isinstance(db, str) else []
    if isinstance(db, Sequence) and not db:
        raise InputError("no store was given", hint="pass the path of a file")
    first = several[0] if several else None if db is None else str(db)
    overrides: dict[str, Any] = {"store.db": first, "store.namespace": namespace}
    for name, model in (("models.embedder", embedder), ("rerank.model", reranker)):
        overrides[name] = model if isinstance(model, str) else None
    overrides |= {name.replace("_", ".", 1): value for name, value in settings.items()}
    made = read_settings(overrides, file=Path(config) if config is not None else None)
    engine = Engine(
        made,
        embedder=embedder if not isinstance(embedder, str) else None,
        reranker=reranker if not isinstance(reranker, str) else None,
        lists_namespaces=True,
    )
    return join_databases(engine, several) if len(several) > 1 else engine


def join_databases(engine: Engine, addresses: Sequence[str]) -> Engine:
    """
    Return an engine that searches the namespaces of `engine` in further databases too; closing it closes all.

    `addresses` are those of all databases, the one of `engine` first. Raises `InputError` for a missing file.
    """
    opened = [engine.database]
    try:
        for address in addresses[1:]:
            if is_missing(address):
                raise InputError(f"store {address!r} does not exist", hint="pass existing stores")
            settings = replace(engine.settings, store=replace(engine.settings.store, db=address))
            opened.append(open_database(settings))
    except BaseException:
        for database in opened:
            database.close()
        raise
    databases = dict(zip(label_databases(addresses), opened, strict=True))
    return engine.share(Federation(databases=databases, namespaces=(engine.settings.store.namespace,)))
