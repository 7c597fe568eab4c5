"""
Outbox of the parts of a namespace: the graph follows the text.

    writer, locks its part                   text, postings, all vectors, and an entry of the outbox
    settler, locks the home, one at a time   ids, graph and facts of many entries; deletes the entries

A writer of documents never waits for a settler, and a settler never for a writer: entries are added and deleted, never
changed. Entries are settled in the order of their numbers. The text may be newer than an entry; then a later entry of
the same document follows, and reads its chunks again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Any

from weft.records import Batch
from weft.store.postgres.buckets.name_vectors import fill_parts, forget_names, read_present
from weft.store.postgres.outbox_entries import Entry, Statements, read_statements, to_json
from weft.store.postgres.parts import NO_CHUNK, NO_DOCUMENT, PartedSession
from weft.store.relational.document_graph import DocumentGraph, NameVectors
from weft.store.relational.session import Row, read_models

MAX_SETTLED_CHUNKS = 4_096
"""Chunks that one transaction adds to the graph, and that a process may defer. Edits wait for it, up to a minute."""

MAX_READ_ENTRIES = 4_096
"""Entries of all parts together that a settler reads at once."""


MAX_MOVED_ENTRIES = 64
"""Entries in memory while their vectors of names move to the part."""


class PartNameVectors(NameVectors):
    """Vectors of the names that the documents of a part describe; they are in the part."""

    def __init__(self, db: PartedSession, *, home: str, part: str) -> None:
        super().__init__(db, namespace=part)
        self._parted, self._home, self._part = db, home, part

    def _forget(self, described: Mapping[int, Sequence[str]]) -> None:
        forget_names(self._parted, self._home, self._part, described)


class Outbox:
    """Writes the vectors of names of a part, collects what its documents state, and writes that as entries."""

    def __init__(self, db: PartedSession, *, home: str, part: str, models: Mapping[str, int | None]) -> None:
        """`models` are the numbers of embedders by fingerprint."""
        self._db = db
        self._part = part
        self._models = models
        self._names = PartNameVectors(db, home=home, part=part)
        self._removed: list[str] = []
        """Ids of the deleted chunks of the current document."""
        self._rows: list[dict[str, Any]] = []

    def withdraw(self, document: int, *, chunks: Collection[int]) -> None:
        """Do nothing: the settler reads what the graph has of the document."""

    def remove(self, chunk: int, *, id: str) -> None:
        self._removed.append(id)

    def write(
        self, batch: Batch, *, number: int, is_new: bool, chunks: Mapping[str, int], old: Collection[str]
    ) -> None:
        self._add(batch.document.id, chunks=len(chunks), statements=to_json(batch, number=number, chunks=chunks))
        model = self._models.get(batch.model)
        if model is not None:
            self._names.write(batch, model=model, chunks=chunks, old=old)

    def delete(self, document: str) -> None:
        self._add(document, chunks=0, statements="")

    def flush(self) -> None:
        """Write the vectors of names; entries are written at the end."""
        self._names.flush()

    def finish(self, *, defer_graph: bool) -> None:
        self.flush()
        self._db.run_many("write_outbox", self._rows)
        self._rows = []

    def _add(self, document: str, *, chunks: int, statements: str) -> None:
        row = {"namespace": self._part, "document": document, "chunks": chunks, "removed": self._removed}
        self._rows.append({**row, "statements": statements})
        self._removed = []


def divide_name_vectors(db: PartedSession, namespace: str, parts: Sequence[str]) -> None:
    """
    Move the vectors of names from the home, and from entries of the outbox, to the parts.

    Older versions have them there. The transaction has locked the home and all parts.
    """
    fill_parts(db, namespace, parts)
    for part in parts:
        models: dict[str, int] = {row.model.fingerprint: row.number for row in read_models(db, part)}
        names = PartNameVectors(db, home=namespace, part=part)
        for entry in _all_entries(db, part):
            statements = read_statements(entry)
            present = read_present(db, part, statements.chunks.values())
            chunks = {id: number for id, number in statements.chunks.items() if number in present}
            items = tuple(item for item in statements.batch.chunks if item.chunk.id in chunks)
            if statements.batch.model in models:
                batch = replace(statements.batch, chunks=items)
                names.write(batch, model=models[batch.model], chunks=chunks, old=chunks)
                names.flush()


def _all_entries(db: PartedSession, part: str) -> Iterator[Entry]:
    """Yield the entries of documents of a part in their order, except deleted ones."""
    last = 0
    while rows := db.run_at(part, "outbox_after", {"last": last, "limit": MAX_MOVED_ENTRIES}):
        yield from (Entry(*row) for row in rows)
        last = rows[-1][0]


def settle_all(db: PartedSession, namespace: str) -> None:
    """Add all entries to the graph. The transaction has locked the home and all parts."""
    while settle_some(db, namespace, last=db.last_entry()):
        pass


def settle_some(db: PartedSession, namespace: str, *, last: int) -> bool:
    """
    Add the first entries, up to the number `last`, to the graph; return False if there are none.

    The transaction has locked the home. A document is among them once, and they have a bounded number of chunks.
    """
    found: dict[str, list[Entry]] = {
        part: [Entry(*row) for row in rows] for part, rows in _read(db, namespace, last=last).items()
    }
    entries: list[Entry] = []
    documents, chunks = set[str](), 0
    for entry in merge(*found.values(), key=attrgetter("number")):
        chunks += entry.chunks
        if entry.document in documents or (entries and chunks > MAX_SETTLED_CHUNKS):
            break
        documents.add(entry.document)
        entries.append(entry)
    if not entries:
        return False
    _HomeWriter(db, namespace).write(entries)
    settled = {entry.number for entry in entries}
    for part, some in found.items():
        if numbers := sorted(settled.intersection(entry.number for entry in some)):
            db.run("delete_outbox", {"namespace": part, "numbers": json.dumps(numbers)})
    return True


def _read(db: PartedSession, namespace: str, *, last: int) -> dict[str, list[Row]]:
    """Return the first rows of each part. Where a part has more, later rows of others are left out."""
    parts = db.part_names(namespace)
    limit = max(1, MAX_READ_ENTRIES // max(1, len(parts)))
    found = {part: db.run("read_outbox", {"namespace": part, "last": last, "limit": limit}) for part in parts}
    end = min((rows[-1][0] for rows in found.values() if len(rows) == limit), default=last)
    return {part: [row for row in rows if row[0] <= end] for part, rows in found.items()}


class _HomeWriter:
    """Writes the ids, the graph and the facts of documents to the home."""

    def __init__(self, db: PartedSession, namespace: str) -> None:
        self._db = db
        self._namespace = namespace
        models: dict[str, int | None] = {row.model.fingerprint: row.number for row in read_models(db, namespace)}
        self._graph = DocumentGraph(db, namespace=namespace, name=namespace, models={**models, "": None})
        self._chunks = 0

    def write(self, entries: Sequence[Entry]) -> None:
        """Write documents, each once, in their order, and update the graph."""
        at = {"namespace": self._namespace}
        ids = json.dumps([entry.document for entry in entries])
        known: dict[str, int] = dict(self._db.run("document_numbers", {**at, "ids": ids}))
        stated = {entry.document: read_statements(entry) for entry in entries if entry.statements}
        self._insert([statements for id, statements in stated.items() if id not in known])
        for entry in entries:
            statements, number = stated.get(entry.document), known.get(entry.document)
            if number is not None and (statements is None or statements.number != number):
                self._delete(number, id=entry.document)
                if statements is not None:
                    self._insert([statements])
                    number = None
            if statements is not None:
                old = () if number is None else self._replace(number, statements)
                self._graph.write(
                    statements.batch, number=statements.number, is_new=number is None, chunks=statements.chunks, old=old
                )  # fmt: skip
        self._graph.finish(defer_graph=False)
        self._db.run("touch_namespace", {**at, "chunks": self._chunks, "length": 0})

    def _insert(self, documents: Sequence[Statements]) -> None:
        """Write the rows of new documents and of their chunks."""
        at = {"namespace": self._namespace}
        rows = [
            {**at, **NO_DOCUMENT, "number": d.number, "id": d.batch.document.id, "source": d.batch.document.source}
            for d in documents
        ]
        self._db.run_many("write_document_at", rows)
        self._insert_chunks([row for document in documents for row in self._chunk_rows(document)])

    def _insert_chunks(self, rows: Sequence[dict[str, Any]]) -> None:
        self._db.run_many("write_chunk_at", rows)
        self._chunks += len(rows)

    def _replace(self, number: int, statements: Statements) -> list[str]:
        """Update the rows of a known document; return the ids of the chunks that stay."""
        stored = self._known_chunks(number)
        self._graph.withdraw(number, chunks=[chunk for chunk, _ in stored])
        rows = self._chunk_rows(statements)
        wanted = {row["number"] for row in rows}
        known = set()
        for chunk, id in stored:
            known.add(chunk)
            if chunk not in wanted:
                self._remove(chunk, id=id)
                self._db.run("delete_chunk", {"namespace": self._namespace, "number": chunk})
        self._insert_chunks([row for row in rows if row["number"] not in known])
        kept = [row for row in rows if row["number"] in known]
        self._db.run_many("move_chunk", kept)
        return [row["id"] for row in kept]

    def _delete(self, number: int, *, id: str) -> None:
        """Delete a document that is in the graph."""
        stored = self._known_chunks(number)
        self._graph.withdraw(number, chunks=[chunk for chunk, _ in stored])
        for chunk, chunk_id in stored:
            self._remove(chunk, id=chunk_id)
        self._db.run("delete_document", {"namespace": self._namespace, "document": number})
        self._graph.delete(id)

    def _remove(self, chunk: int, *, id: str) -> None:
        self._graph.remove(chunk, id=id)
        self._chunks -= 1

    def _known_chunks(self, number: int) -> list[tuple[int, str]]:
        rows = self._db.run("document_chunks", {"namespace": self._namespace, "document": number})
        return [(chunk, id) for chunk, id, *_ in rows]

    def _chunk_rows(self, statements: Statements) -> list[dict[str, Any]]:
        at = {"namespace": self._namespace, "document": statements.number, **NO_CHUNK}
        chunks = {item.chunk.id: item.chunk for item in statements.batch.chunks}
        return [
            {
                **at, "number": number, "id": id, "ordinal": chunks[id].ordinal,
                "start_line": chunks[id].start_line, "end_line": chunks[id].end_line,
            }
            for id, number in statements.chunks.items()
        ]  # fmt: skip
