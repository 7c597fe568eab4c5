"""Per-question cache of chunks and documents. Each is read once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from weft.records import Chunk, DocumentInfo
from weft.store.base import StoreReader


class Chunks:
    """Cache of the chunks and documents of one state of a store."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: dict[str, Chunk | None] = {}
        self._documents: dict[str, DocumentInfo | None] = {}

    def read(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, by id; unknown ids are left out."""
        missing = [id for id in ids if id not in self._known]
        if missing:
            self._known |= dict.fromkeys(missing) | {chunk.id: chunk for chunk in self._store.chunks(missing)}
        return {id: chunk for id in ids if (chunk := self._known[id])}

    def documents(self, chunks: Collection[Chunk]) -> dict[str, DocumentInfo]:
        """Return the documents of chunks, by document id; unknown documents are left out."""
        ids = _owners(chunks)
        missing = [id for id in ids if id not in self._documents]
        if missing:
            found = self._store.documents(missing)
            self._documents |= dict.fromkeys(missing) | {document.id: document for document in found}
        return {id: document for id in ids if (document := self._documents[id])}


def _owners(chunks: Iterable[Chunk]) -> list[str]:
    return list(dict.fromkeys(chunk.document_id for chunk in chunks))
