"""Per-question cache of chunks and documents. Each is read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.records import Chunk, DocumentInfo
from weft.search.cite import cite, find_hidden_prefix
from weft.store.base import StoreReader


class Chunks:
    """Cache of the chunks and documents of one state of a store."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: dict[str, Chunk | None] = {}
        self._documents: dict[str, DocumentInfo] = {}

    def read(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, by id; unknown ids are left out. Their documents come with them."""
        missing = [id for id in ids if id not in self._known]
        if missing:
            found = self._store.passages.with_documents(missing)
            self._known |= dict.fromkeys(missing) | {chunk.id: chunk for chunk, _ in found}
            self._documents |= {document.id: document for _, document in found}
        return {id: chunk for id in ids if (chunk := self._known[id])}

    def documents(self, chunks: Iterable[Chunk]) -> dict[str, DocumentInfo]:
        """Return the documents of chunks that were read, by document id."""
        return {chunk.document_id: self._documents[chunk.document_id] for chunk in chunks}

    def cite(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the citations of chunks by id; deleted chunks are left out."""
        chunks = self.read(list(dict.fromkeys(ids)))
        owners = self.documents(chunks.values())
        hidden = find_hidden_prefix(self._store, [document.source for document in owners.values()])
        return {id: cite(owners[chunk.document_id], chunk, hidden=hidden) for id, chunk in chunks.items()}
