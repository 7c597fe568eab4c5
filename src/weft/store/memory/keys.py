"""Keys without a database."""

from __future__ import annotations

from collections.abc import Sequence

from weft.records import ApiKey


class MemoryKeys:
    """Keys in memory."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    def write(self, key: ApiKey) -> None:
        self._keys[key.id] = key

    def all(self) -> list[ApiKey]:
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    def find(self, ids: Sequence[str]) -> dict[str, ApiKey]:
        return {id: self._keys[id] for id in ids if id in self._keys}

    def forget(self, ids: Sequence[str]) -> int:
        return sum(self._keys.pop(id, None) is not None for id in set(ids))
