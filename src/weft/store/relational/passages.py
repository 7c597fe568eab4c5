"""Chunks by document, time and place in a conversation, in a relational database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from weft.records import Chunk, DocumentInfo, DocumentTitle, Filter
from weft.store.relational.chunk_rows import read_chunk, read_document
from weft.store.relational.filters import bind
from weft.store.relational.retry import retry_once
from weft.store.relational.session import Connections, read_rows


@retry_once
class RelationalPassages:
    """Chunks of one namespace by document, time and place."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace

    def titles(self, chunk_ids: Sequence[str]) -> dict[str, DocumentTitle]:
        rows = read_rows(self._connections, self._name, "titles_by_chunk", {"ids": json.dumps(list(chunk_ids))})
        return {chunk: DocumentTitle(id, source, title) for chunk, id, source, title in rows}

    def with_documents(self, chunk_ids: Sequence[str]) -> list[tuple[Chunk, DocumentInfo]]:
        ids = json.dumps(list(chunk_ids))
        rows = read_rows(self._connections, self._name, "chunks_with_documents", {"ids": ids})
        documents = {row[1]: row for row in rows}
        owners = {id: read_document((id, *row[9:])) for id, row in documents.items()}
        found = {row[0]: (read_chunk(row[:9]), owners[row[1]]) for row in rows}
        return [found[id] for id in chunk_ids if id in found]

    def find_terms(self, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        with self._connections.read(self._name) as db:
            return db.keywords.find_terms(db.namespace_key(self._name), chunk_ids, terms)

    def have_times(self) -> bool:
        with self._connections.read(self._name) as db:
            found = db.namespace(self._name)
            return found is not None and found.has_times

    def latest(self, where: Filter, *, limit: int) -> list[Chunk]:
        rows = read_rows(self._connections, self._name, "latest_chunks", {**bind(where), "limit": limit})
        return [read_chunk(row) for row in rows]

    def openings(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        rows = read_rows(self._connections, self._name, "opening_chunks", {"ids": json.dumps(list(chunk_ids))})
        return {row[0]: read_chunk(row[1:]) for row in rows}

    def answers(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        rows = read_rows(self._connections, self._name, "answer_chunks", {"ids": json.dumps(list(chunk_ids))})
        return {row[0]: read_chunk(row[1:]) for row in rows}
