"""From a document to what must be written: its chunks, their terms, and which of them need a vector."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from weft.config import SplitOptions
from weft.records import Batch, Chunk, Document, DocumentInfo, IndexedChunk, Metadata, Vector
from weft.store.base import Store
from weft.text import analyse, split
from weft.text.ids import digest, document_id

NOT_SEARCHED = frozenset({"_id", "links"})
"""Metadata that is no content: BEIR ids, and the wikilinks, whose words stand in the text already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A document that has to be written."""

    document: DocumentInfo
    chunks: tuple[Chunk, ...]
    terms: tuple[Counter[str], ...]
    texts: dict[str, str]
    """By chunk id, what is to be embedded: the chunks the store has no vector of."""
    is_new: bool


def make_plan(document: Document, *, store: Store, options: SplitOptions) -> Plan | None:
    """Return what has to be written for a document, or None when the store has it already."""
    id = document_id(store.namespace, document.source)
    known = store.documents([id])
    info = DocumentInfo(
        id=id,
        source=document.source,
        title=document.title,
        metadata=document.metadata,
        content_hash=content_hash(document, options=options),
        unit=document.unit,
    )
    if known and known[0].content_hash == info.content_hash:
        return None
    chunks = split.split(document, document_id=id, options=options)
    texts = {chunk.id: split.indexed_text(document.title, chunk.heading, chunk.text) for chunk in chunks}
    terms = [analyse.count_terms(text) for text in texts.values()]
    if terms:
        # Metadata is searched by keyword too, once: repeating it in every chunk would drown their own words.
        terms[0].update(analyse.terms(metadata_text(document.metadata)))
    stored = {chunk.id for chunk in store.find_chunks(id)} if known else set()
    return Plan(
        document=info,
        chunks=tuple(chunks),
        terms=tuple(terms),
        texts={chunk_id: text for chunk_id, text in texts.items() if chunk_id not in stored},
        is_new=not known,
    )


def make_batch(plan: Plan, *, vectors: dict[str, Vector], model: str) -> Batch:
    """Return the transaction that carries out a plan."""
    chunks = tuple(
        IndexedChunk(chunk=chunk, terms=terms, vector=vectors.get(chunk.id))
        for chunk, terms in zip(plan.chunks, plan.terms, strict=True)
    )
    return Batch(document=plan.document, chunks=chunks, model=model)


def content_hash(document: Document, *, options: SplitOptions) -> str:
    """Return a hash of all that shapes what is stored, so that an equal hash means nothing to do."""
    return digest(
        (
            document.title,
            document.text,
            document.form,
            document.unit,
            json.dumps(dict(document.metadata), sort_keys=True, ensure_ascii=False),
            digest(map(str, document.lines)) if document.lines is not None else "",
            f"{options.max_tokens} {options.min_tokens} {split.VERSION} {analyse.VERSION}",
        )
    )


def metadata_text(metadata: Metadata) -> str:
    """Return the words of the metadata: its text values, and the elements of its lists."""
    kept = [value for key, value in metadata.items() if key not in NOT_SEARCHED]
    values = [item for value in kept for item in (value if isinstance(value, list) else [value])]
    return "\n".join(str(value) for value in values if isinstance(value, (str, int, float)) and value is not True)
