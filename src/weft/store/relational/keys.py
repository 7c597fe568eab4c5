"""API keys in a relational database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from weft.records import ApiKey, KeyPresence
from weft.store.relational.json_columns import read_list, unreadable
from weft.store.relational.retry import retry_once
from weft.store.relational.session import Connections, Row


@retry_once
class RelationalKeys:
    """API keys; they belong to no namespace."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def write(self, key: ApiKey) -> None:
        values = {
            "id": key.id,
            "name": key.name,
            "digest": key.digest,
            "namespaces": json.dumps(key.namespaces, ensure_ascii=False),
            "access": key.access,
            "created": key.created.isoformat(),
            "revoked": key.revoked.isoformat() if key.revoked else None,
        }
        with self._connections.write() as db:
            db.run("write_key", values)

    def all(self) -> list[ApiKey]:
        with self._connections.read() as db:
            return [parse_key(row) for row in db.run("list_keys")]

    def find(self, ids: Sequence[str]) -> dict[str, ApiKey]:
        with self._connections.read() as db:
            found = [parse_key(row) for row in db.run("find_keys", {"ids": json.dumps(list(ids))})]
        return {key.id: key for key in found}

    def match(self, id: str, *, digest: str) -> ApiKey | None:
        with self._connections.read() as db:
            rows = db.run("match_key", {"id": id, "digest": digest})
        return parse_key(rows[0]) if rows else None

    def presence(self) -> KeyPresence:
        with self._connections.read() as db:
            (row,) = db.run("find_key_presence")
        return KeyPresence(*map(bool, row))

    def forget(self, ids: Sequence[str]) -> int:
        with self._connections.write() as db:
            db.run("delete_keys", {"ids": json.dumps(list(ids))})
            return db.changes()


def parse_key(row: Row) -> ApiKey:
    """Return the key in a row. Raises `StoreCorrupt`."""
    id, name, digest, namespaces, access, created, revoked = row
    what = f"the key {id!r}"
    try:
        return ApiKey(
            id=id,
            name=name,
            digest=digest,
            namespaces=tuple(read_list(namespaces, what=what)),
            access=access,
            created=datetime.fromisoformat(created),
            revoked=datetime.fromisoformat(revoked) if revoked else None,
        )
    except ValueError as error:
        raise unreadable(what) from error
