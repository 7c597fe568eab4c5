"""Writing and deleting of documents with everything derived from them, inside one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from weft.records import Batch, DocumentInfo, IndexedChunk
from weft.store.relational.graph.document_graph import DocumentGraph
from weft.store.relational.json_columns import read_object
from weft.store.relational.session import Namespace, Session, touch_namespace
from weft.store.shared.labels import labels

PENDING = ("write_document", "write_chunk", "write_label", "write_vector")
"""Statements whose rows are collected, in the order of references: a server answers many rows as fast as one."""


class _OldChunk(NamedTuple):
    """Stored row of a chunk."""

    number: int
    terms: Mapping[str, int]
    length: int


class DocumentWriter:
    """Changes one namespace inside an open transaction. Use an instance once."""

    def __init__(self, db: Session, *, namespace: Namespace, name: str, statements: DocumentGraph) -> None:
        self._db = db
        self._name = name
        self._namespace = namespace
        self._terms = db.keywords.collect(namespace)
        self._statements = statements
        self._chunks = 0
        self._length = 0
        self._stored: dict[str, int] = {}
        """Numbers of the documents that are stored, among those to be written, by id."""
        self._numbers: tuple[Iterator[int], Iterator[int]] = iter(()), iter(())
        """Numbers for new documents and for their chunks."""
        self._pending: dict[str, list[dict[str, Any]]] = {name: [] for name in PENDING}
        """Rows of new chunks and documents by statement, written together."""

    def write_all(self, batches: Sequence[Batch], *, models: Mapping[str, int | None]) -> None:
        """
        Replace documents by batches, with the numbers of their embedders by fingerprint. `finish` must follow.

        New documents are written in a shared turn, all else in the next one.
        """
        values = {"namespace": self._namespace, "ids": json.dumps([batch.document.id for batch in batches])}
        self._stored = dict(self._db.run("stored_documents", values))
        new: dict[str, Batch] = {}
        others: list[Batch] = []
        for batch in batches:
            if batch.document.id in self._stored or new.setdefault(batch.document.id, batch) is not batch:
                others.append(batch)
        self._numbers = self._draw(len(new), chunks=sum(len(_items(batch)) for batch in new.values()))
        for batch in new.values():
            self._write(batch, model=models[batch.model])
        self._flush()
        if others:
            self._db.lock(self._name)
        for batch in others:  # all numbers drawn for new ones have been used
            self._write(batch, model=models[batch.model])

    def _write(self, batch: Batch, *, model: int | None) -> None:
        db, namespace = self._db, self._namespace
        is_new = batch.document.id not in self._stored
        if not is_new:
            self._flush()  # its old rows may be pending
        new_documents, new_chunks = self._numbers
        document = next(new_documents) if is_new else self._stored[batch.document.id]
        self._stored[batch.document.id] = document
        self._write_document(batch.document, number=document, is_new=is_new)
        rows = [] if is_new else db.run("document_chunks", {"namespace": namespace, "document": document})
        old = {id: _OldChunk(number, _terms(id, terms), length) for number, id, terms, length in rows}
        new = _items(batch)
        if not is_new:
            _, new_chunks = self._draw(0, chunks=len(new.keys() - old.keys()))
        numbers: dict[str, int] = {}
        if not is_new:
            self._statements.withdraw(document, chunks=[chunk.number for chunk in old.values()])
        for id, chunk in old.items():
            self._length -= chunk.length
            if id not in new:
                self._remove_chunk(chunk.number, chunk.terms)
                db.run("delete_chunk", {"namespace": namespace, "number": chunk.number})
            elif chunk.terms != new[id].terms:
                self._terms.remove(chunk.number, chunk.terms)
        for id, item in new.items():
            number = numbers[id] = old[id].number if id in old else next(new_chunks)
            self._write_chunk(document, item, number=number, is_new=id not in old)
            if id not in old or old[id].terms != item.terms:
                self._terms.add(number, item.terms, length=_length(item))
            self._length += _length(item)
            if model is not None and item.vector is not None:
                row = {"namespace": namespace, "chunk": number, "model": model}
                self._pending["write_vector"].append({**row, "vector": db.vectors.pack_half(item.vector)})
        self._chunks += len(new) - len(old)
        self._statements.write(batch, number=document, is_new=is_new, chunks=numbers, old=old.keys())

    def delete(self, document_ids: Sequence[str]) -> int:
        """Delete documents; return how many existed. `finish` must follow."""
        self._flush()
        deleted = 0
        for id in dict.fromkeys(document_ids):
            document = self._db.one("document_number", {"namespace": self._namespace, "id": id})
            if document is None:
                continue
            key = {"namespace": self._namespace, "document": document}
            rows = self._db.run("document_chunks", key)
            self._statements.withdraw(document, chunks=[number for number, *_ in rows])
            for number, chunk, terms, length in rows:
                self._remove_chunk(number, _terms(chunk, terms))
                self._chunks -= 1
                self._length -= length
            self._db.run("delete_document", key)
            self._statements.delete(id)
            deleted += 1
        return deleted

    def finish(self) -> None:
        """Update postings, graph and counts after all writes and deletions."""
        self._flush()
        self._terms.apply()
        self._db.lock(self._name)
        self._statements.finish()
        touch_namespace(self._db, self._namespace, chunks=self._chunks, length=self._length)

    def _flush(self) -> None:
        """Write the pending rows."""
        for name, rows in self._pending.items():
            self._db.run_many(name, rows)
        self._pending = {name: [] for name in PENDING}
        self._statements.flush()

    def _remove_chunk(self, number: int, terms: Iterable[str]) -> None:
        self._terms.remove(number, terms)
        self._statements.remove(number)

    def _draw(self, documents: int, *, chunks: int) -> tuple[Iterator[int], Iterator[int]]:
        """Return unused numbers of documents and of chunks."""
        values = {"documents": documents, "chunks": chunks}
        numbers = [number for (number,) in self._db.run("draw_numbers", values)] if documents or chunks else []
        return iter(numbers[:documents]), iter(numbers[documents:])

    def _write_document(self, document: DocumentInfo, *, number: int, is_new: bool) -> None:
        row = {
            "namespace": self._namespace,
            "number": number,
            "id": document.id,
            "source": document.source,
            "title": document.title,
            "metadata": json.dumps(dict(document.metadata), ensure_ascii=False, sort_keys=True),
            "content_hash": document.content_hash,
            "unit": document.unit,
        }
        self._pending["write_document"].append(row)
        if not is_new:
            self._db.run("delete_labels", {"namespace": self._namespace, "document": number})
        self._pending["write_label"] += label_rows(self._namespace, number, labels(document.metadata))

    def _write_chunk(self, document: int, item: IndexedChunk, *, number: int, is_new: bool) -> None:
        """Insert a chunk, or update the existing row."""
        chunk = item.chunk
        text, terms = self._db.keywords.pack(item)
        row = {
            "namespace": self._namespace,
            "number": number,
            "ordinal": chunk.ordinal,
            "heading": json.dumps(chunk.heading, ensure_ascii=False),
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "text": text,
            "terms": terms,
            "length": _length(item),
            "start_time": chunk.start_time,
            "end_time": chunk.end_time,
        }
        if is_new:
            self._pending["write_chunk"].append({**row, "document": document, "id": chunk.id})
        else:
            self._db.run("move_chunk", row)


def write_labels(db: Session, namespace: Namespace, document: int, found: Iterable[tuple[str, str]]) -> None:
    """Replace the labels of a document."""
    db.run("delete_labels", {"namespace": namespace, "document": document})
    db.run_many("write_label", label_rows(namespace, document, found))


def label_rows(namespace: Namespace, document: int, found: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the rows of the labels of a document."""
    key = {"namespace": namespace, "document": document}
    return [{**key, "key": name, "value": value} for name, value in sorted(found)]


def _items(batch: Batch) -> dict[str, IndexedChunk]:
    """Return the chunks of a batch by id."""
    return {item.chunk.id: item for item in batch.chunks}


def _length(item: IndexedChunk) -> int:
    return sum(item.terms.values())


def _terms(id: str, text: str) -> dict[str, int]:
    return read_object(text, what=f"the terms of chunk {id!r}")
