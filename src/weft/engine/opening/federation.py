"""Namespaces of one or several databases that an engine searches together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from weft.config import check_namespace, is_server
from weft.engine.input_checks import describe_unknown_namespace
from weft.engine.opening.databases import join_stores, make_cache
from weft.errors import InputError
from weft.store.base import Database, StoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Federation:
    """Namespaces that are searched as one. Each of them is read in every database."""

    databases: Mapping[str, Database]
    """By label; the label is empty for a single database."""
    namespaces: tuple[str, ...]
    cache: Any = field(default_factory=make_cache)
    """The cache of `join_stores`."""

    def store(self) -> StoreReader:
        """Return the namespaces as one store."""
        stores = {
            ":".join(filter(None, (label, name))): database.store(name)
            for label, database in self.databases.items()
            for name in self.namespaces
        }
        return join_stores(stores, cache=self.cache)

    def across(self, namespaces: Sequence[str]) -> Federation:
        """Return other namespaces of the same databases. Raises `InputError` without any, or `ConfigError`."""
        return replace(self, namespaces=check_namespaces(namespaces))

    def describe_unknown(self) -> str:
        """Return a note about namespaces that do not exist; empty if all exist."""
        databases = self.databases.values()
        notes = [[describe_unknown_namespace(database, name) for database in databases] for name in self.namespaces]
        return "; ".join(dict.fromkeys(found[0] for found in notes if all(found)))


def check_namespaces(namespaces: Sequence[str]) -> tuple[str, ...]:
    """Return distinct names of namespaces in their order. Raises `InputError` or `ConfigError` for invalid ones."""
    if isinstance(namespaces, str) or not namespaces:
        raise InputError(
            f"invalid namespaces: {namespaces!r}", hint="pass a list of names: namespaces=['docs', 'notes']"
        )
    for name in namespaces:
        check_namespace(name)
    return tuple(dict.fromkeys(namespaces))


def label_databases(addresses: Sequence[str]) -> list[str]:
    """Return a short distinct label for each address: the name of the file or of the database, else a number too."""
    names = [
        urlsplit(address).path.strip("/") or "server" if is_server(address) else Path(address).name
        for address in addresses
    ]
    return [
        name if names.count(name) == 1 else f"{name}#{names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]
