"""
Entries of an outbox: what a document of a part states, as JSON.

    number   document   chunks   removed   statements
       812   d-17            3   []        {"number": 809, "source": "a.md", "chunks": [[810, "c-1", …], …], …}
       840   d-17            2   ["c-3"]   {"number": 809, …}      written again, without its last chunk
       841   d-20            0   ["c-9"]                           deleted
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from weft.records import Batch, Chunk, Claim, DocumentInfo, Extraction, Fact, IndexedChunk, Nomination, Vector
from weft.store.relational.fact_rows import to_number, to_time
from weft.store.relational.json_columns import read_object
from weft.text.ids import document_id

MAX_INDEXED_BYTES = 2_000
"""Bytes of a name, claim or fact that fit into every index: a row of an index has at most 2,704 bytes."""

NOMINATION = tuple(field.name for field in fields(Nomination))
CLAIM = tuple(field.name for field in fields(Claim))
FACT = tuple(field.name for field in fields(Fact))
TIMES = ("created", "valid_from", "valid_to", "last_accessed")
"""Fields of a fact that are times."""


class Entry(NamedTuple):
    """A row of an outbox."""

    number: int
    document: str
    """Id of the document."""
    chunks: int
    """Chunks that are written or deleted."""
    statements: str
    """JSON object; empty if the document was deleted."""


class Statements(NamedTuple):
    """What a document states, without its text."""

    number: int
    """Number of the document."""
    chunks: Mapping[str, int]
    """Numbers of its chunks, by id."""
    batch: Batch


def to_json(batch: Batch, *, number: int, chunks: Mapping[str, int]) -> str:
    """Return what a document states; `chunks` are the numbers of its chunks by id."""
    values = {
        "number": number,
        "source": batch.document.source,
        "model": batch.model,
        "chunks": [_chunk_values(item, number=chunks[item.chunk.id]) for item in batch.chunks],
        "facts": [_fact_values(fact) for fact in batch.facts],
        "fact_vectors": _to_texts(batch.fact_vectors),
    }
    return json.dumps(values, ensure_ascii=False)


def read_statements(entry: Entry) -> Statements:
    """Return the statements of an entry. Raises `StoreCorrupt`."""
    values = read_object(entry.statements, what=f"the outbox entry of document {entry.document!r}")
    id = entry.document
    items = tuple(_read_chunk(id, *chunk) for chunk in values["chunks"])
    document = DocumentInfo(id=id, source=values["source"], title="", metadata={}, content_hash="")
    batch = Batch(
        document=document,
        chunks=items,
        model=values["model"],
        facts=tuple(_read_fact(fact) for fact in values["facts"]),
        fact_vectors=_to_vectors(values["fact_vectors"]),
    )
    return Statements(values["number"], {chunk[1]: chunk[0] for chunk in values["chunks"]}, batch)


def accepts(batch: Batch, *, namespace: str) -> bool:
    """
    Return True if the tables of the graph surely accept what a document states.

    Other documents are written together with their graph, so that an error refuses the whole document.
    """
    if batch.document.id != document_id(namespace, batch.document.source):
        return False
    try:
        text = to_json(batch, number=0, chunks={item.chunk.id: 0 for item in batch.chunks}).encode()
    except UnicodeEncodeError:
        return False
    extractions = [item.extraction for item in batch.chunks]
    sizes = [
        *(_size(n.key, n.name, n.type, n.alias_of, n.reason, n.extractor) for e in extractions for n in e.nominations),
        *(_size(c.source, c.target, c.type, c.extractor) for e in extractions for c in e.claims),
        *(_size(f.id, f.subject, f.predicate, f.object, f.source, f.supersedes) for f in batch.facts),
        *(_size(key) for key in batch.fact_vectors),
        *(2 * _size(n.key) for e in extractions for n in e.nominations),  # a derived claim has two
    ]
    return rb"\u0000" not in text and max(sizes, default=0) <= MAX_INDEXED_BYTES


def _size(*texts: str) -> int:
    return sum(len(text.encode()) for text in texts)


def _chunk_values(item: IndexedChunk, *, number: int) -> list[Any]:
    chunk, extraction = item.chunk, item.extraction
    return [
        number,
        chunk.id,
        chunk.ordinal,
        chunk.start_line,
        chunk.end_line,
        [[getattr(nomination, name) for name in NOMINATION] for nomination in extraction.nominations],
        [[getattr(claim, name) for name in CLAIM] for claim in extraction.claims],
    ]


def _read_chunk(
    document: str,
    number: int,
    id: str,
    ordinal: int,
    start_line: int,
    end_line: int,
    nominations: list[list[Any]],
    claims: list[list[Any]],
    vectors: Mapping[str, str] | None = None,
) -> IndexedChunk:
    """Return a chunk without its text. Entries of schema 16 and before have vectors of names."""
    chunk = Chunk(
        id=id, document_id=document, ordinal=ordinal, heading=(), start_line=start_line, end_line=end_line, text=""
    )
    extraction = Extraction(
        nominations=tuple(Nomination(**dict(zip(NOMINATION, row, strict=True))) for row in nominations),
        claims=tuple(Claim(**dict(zip(CLAIM, row, strict=True))) for row in claims),
    )
    return IndexedChunk(chunk=chunk, terms={}, extraction=extraction, entity_vectors=_to_vectors(vectors or {}))


def _fact_values(fact: Fact) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in FACT}
    return {name: to_number(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _read_fact(values: Mapping[str, Any]) -> Fact:
    times = {name: to_time(values[name]) for name in TIMES if values[name] is not None}
    return Fact(**{**values, **times})


def _to_texts(vectors: Mapping[str, Vector]) -> dict[str, str]:
    return {key: b64encode(vector.astype("<f4").tobytes()).decode() for key, vector in vectors.items()}


def _to_vectors(texts: Mapping[str, str]) -> dict[str, Vector]:
    return {key: np.frombuffer(b64decode(text), "<f4").astype(np.float32) for key, text in texts.items()}
