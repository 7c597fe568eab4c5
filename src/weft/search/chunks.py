"""Per-question cache of chunks. Each chunk is read once."""

from __future__ import annotations

from collections.abc import Sequence

from weft.records import Chunk
from weft.store.base import StoreReader


class Chunks:
    """Cache of the chunks of one state of a store."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: dict[str, Chunk | None] = {}

    def read(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, by id; unknown ids are left out."""
        missing = [id for id in ids if id not in self._known]
        if missing:
            self._known |= dict.fromkeys(missing) | {chunk.id: chunk for chunk in self._store.chunks(missing)}
        return {id: chunk for id in ids if (chunk := self._known[id])}
