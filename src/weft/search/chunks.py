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
        self._owners: dict[str, str] = {}

    def read(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, by id; unknown ids are left out."""
        missing = [id for id in ids if id not in self._known]
        if missing:
            self._known |= dict.fromkeys(missing) | {chunk.id: chunk for chunk in self._store.chunks(missing)}
        return {id: chunk for id in ids if (chunk := self._known[id])}

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the document ids of chunks, by chunk id; unknown ids are left out. No text is read."""
        self._owners |= {id: chunk.document_id for id in ids if (chunk := self._known.get(id))}
        missing = [id for id in ids if id not in self._owners]
        if missing:
            self._owners |= {id: document.document_id for id, document in self._store.passages.titles(missing).items()}
        return {id: self._owners[id] for id in ids if id in self._owners}

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
