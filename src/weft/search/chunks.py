"""The chunks a question looks at, each read once."""

from __future__ import annotations

from collections.abc import Sequence

from weft.records import Chunk
from weft.store.base import Store


class Chunks:
    """Reads chunks of a store and keeps them, for as long as one state of it is read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Chunk | None] = {}

    def read(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, without those that are not here."""
        missing = [id for id in ids if id not in self._known]
        if missing:
            self._known |= dict.fromkeys(missing) | {chunk.id: chunk for chunk in self._store.chunks(missing)}
        return {id: chunk for id in ids if (chunk := self._known[id])}
