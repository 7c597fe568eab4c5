"""Factories that open the stores that the settings name. Without models, so that it is imported fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from weft.config import Settings, check_address, find_path, is_server
from weft.errors import ConfigError, MissingExtra
from weft.store.base import Database, Store, StoreReader

if TYPE_CHECKING:
    from weft.store.federated.federated_store import FederatedCache


def open_database(settings: Settings) -> Database:
    """Open the file or the server that the settings name; create missing files and tables."""
    db = settings.store.db
    check_address(db)
    if is_server(db):
        require_postgres()
        from weft.store.postgres.database import PostgresDatabase

        check_address(settings.store.replica)
        return PostgresDatabase(db, replica=settings.store.replica)
    if settings.store.replica:
        raise ConfigError(
            "store.replica is set, but store.db is a file",
            hint="remove store.replica, or set store.db to a PostgreSQL server",
        )
    from weft.store.sqlite.database import SqliteDatabase

    return SqliteDatabase(str(find_path(db) or db))


def join_stores(stores: Mapping[str, Store], *, cache: FederatedCache) -> StoreReader:
    """Return several namespaces, by label, as one store. A label stands for one namespace as long as `cache` lives."""
    from weft.store.federated.federated_store import FederatedStore

    return FederatedStore(stores, cache=cache)


def make_cache() -> FederatedCache:
    """Return the cache of `join_stores`."""
    from weft.store.federated.federated_store import FederatedCache

    return FederatedCache()


def require_postgres() -> None:
    """Raise `MissingExtra` if the PostgreSQL driver is not installed."""
    if find_spec("psycopg") is None or find_spec("pgvector") is None:
        raise MissingExtra("psycopg", extra="postgres")
