"""From a document to what must be written: its chunks, their terms, and which of them need a vector."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from weft.config import SplitOptions
from weft.errors import InputError
from weft.extract.names import name_text
from weft.graph.entity_resolution import preference
from weft.index.merge_extractions import join_given
from weft.index.note_facts import FactReader
from weft.models.base import Extractor
from weft.records import (
    STRONG_KINDS,
    Batch,
    Chunk,
    Document,
    DocumentInfo,
    Extraction,
    Fact,
    IndexedChunk,
    Reading,
    Vector,
)
from weft.store.base import Store
from weft.text import analyzer, split
from weft.text.ids import digest, document_id
from weft.text.searchable_metadata import READ_BY, searched_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A document that has to be written."""

    document: DocumentInfo
    chunks: tuple[Chunk, ...]
    terms: tuple[Counter[str], ...]
    texts: dict[str, str]
    """By chunk id, what is to be embedded: the chunks the store has no vector of."""
    is_new: bool
    extractions: tuple[Extraction, ...]
    """One per chunk."""
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """By chunk id and key, names with their descriptions, to be embedded."""
    facts: tuple[Fact, ...] = ()
    """What the document states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A document that has to be written, before it is read for its graph."""

    given: Document
    info: DocumentInfo
    chunks: tuple[Chunk, ...]
    terms: tuple[Counter[str], ...]
    texts: dict[str, str]
    is_new: bool
    facts: tuple[Fact, ...] = ()


def make_plan(
    document: Document,
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
) -> Plan | None:
    """Return what has to be written for a document, or None when the store has it already."""
    draft = make_draft(document, store=store, options=options, extractor=extractor, fact_reader=fact_reader)
    return complete(draft, read(draft, extractor), fact_reader=fact_reader) if draft else None


def make_draft(
    document: Document,
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
) -> Draft | None:
    """Return the chunks of a document and what of them is new, or None when the store has it already."""
    facts = fact_reader(document, ()) if fact_reader else ()
    info = describe(document, namespace=store.namespace, options=options, extractor=extractor, facts=facts)
    id, known = info.id, store.documents([info.id])
    if known and known[0].content_hash == info.content_hash:
        return None
    chunks = split.split(document, document_id=id, options=options)
    texts = {chunk.id: split.indexed_text(document.title, chunk.heading, chunk.text) for chunk in chunks}
    stored = {chunk.id for chunk in store.find_chunks(id)} if known else set()
    return Draft(
        given=document,
        info=info,
        chunks=tuple(chunks),
        terms=tuple(searched_terms(texts.values(), metadata=document.metadata)),
        texts={chunk_id: text for chunk_id, text in texts.items() if chunk_id not in stored},
        is_new=not known,
        facts=facts,
    )


def read(draft: Draft, extractor: Extractor | None) -> Reading:
    """Return what an extractor reads in a document."""
    if extractor is None:
        return Reading(extractions=[Extraction()] * len(draft.chunks))
    return Reading(extractions=extractor.extract(draft.given, draft.chunks))


def complete(draft: Draft, reading: Reading, *, fact_reader: FactReader | None = None, read_by: str = "") -> Plan:
    """
    Return what has to be written for a document that was read, and note by whom where that is given.

    One that was not read to its end gets a hash that no document has, so that it is read again the next time.
    """
    document, info, extractions = draft.given, draft.info, list(reading.extractions)
    if document.given != Extraction():
        extractions = join_given(document, extractions)
    if read_by:
        info = replace(info, metadata={**info.metadata, READ_BY: read_by})
    if not reading.is_complete:
        info = replace(info, content_hash=digest((info.content_hash, "incomplete")))
    return Plan(
        document=info,
        chunks=draft.chunks,
        terms=draft.terms,
        texts=draft.texts,
        is_new=draft.is_new,
        extractions=tuple(extractions),
        names={
            (chunk.id, item.key): name_text(item.name, item.description)
            for chunk, extraction in zip(draft.chunks, extractions, strict=True)
            # those of chunks that stay too: another extractor, place or graph says other things of the same text
            for item in sorted(extraction.nominations, key=preference, reverse=True)
            if item.description and item.kind in STRONG_KINDS
        },
        facts=fact_reader(document, reading.facts) if fact_reader and reading.facts else draft.facts,
    )


def describe(
    document: Document,
    *,
    namespace: str,
    options: SplitOptions,
    extractor: Extractor | None = None,
    facts: Sequence[Fact] = (),
) -> DocumentInfo:
    """Return a document as the store will know it, without cutting it into chunks."""
    check_document(document)
    return DocumentInfo(
        id=document_id(namespace, document.source),
        source=document.source,
        title=document.title,
        metadata=document.metadata,
        content_hash=content_hash(document, options=options, extractor=extractor, facts=facts),
        unit=document.unit,
    )


def check_document(document: Document) -> None:
    """Raise `InputError` for what cannot be kept: no source, half characters, metadata that JSON does not know."""
    if not document.source:
        raise InputError("a document has no source", hint="give it a path or a URI of its own")
    try:
        for text in (document.source, document.title, document.text, *_metadata_and_given(document)):
            text.encode("utf-8")
    except (TypeError, ValueError) as error:
        hint = "texts of whole characters; in metadata also numbers, true, false, null, and lists of these"
        raise InputError(f"{document.source!r} cannot be kept: {error}", hint=hint) from error


def make_batch(
    plan: Plan,
    *,
    vectors: dict[str, Vector],
    model: str,
    names: dict[tuple[str, str], Vector] | None = None,
    things: Mapping[str, Vector] | None = None,
) -> Batch:
    """
    Return the transaction that carries out a plan.

    `names` are vectors of names by chunk id and key, `things` those of entities of facts by key.
    """
    chunks = tuple(
        IndexedChunk(
            chunk=chunk,
            terms=terms,
            vector=vectors.get(chunk.id),
            extraction=extraction,
            entity_vectors={key: vector for (id, key), vector in (names or {}).items() if id == chunk.id},
        )
        for chunk, terms, extraction in zip(plan.chunks, plan.terms, plan.extractions, strict=True)
    )
    named = {key for fact in plan.facts for key in (fact.subject, fact.object)}
    mine = {key: vector for key, vector in (things or {}).items() if key in named}
    return Batch(document=plan.document, chunks=chunks, model=model, facts=plan.facts, fact_vectors=mine)


def content_hash(
    document: Document, *, options: SplitOptions, extractor: Extractor | None = None, facts: Sequence[Fact] = ()
) -> str:
    """Return a hash of all that shapes what is stored, so that an equal hash means nothing to do."""
    metadata, *given = _metadata_and_given(document)
    return digest(
        (
            document.title,
            document.text,
            document.form,
            document.unit,
            metadata,
            digest(map(str, document.lines)) if document.lines is not None else "",
            f"{options.max_tokens} {options.min_tokens} {split.VERSION} {analyzer.VERSION}",
            extractor.name if extractor else "",
            *given,
            *([digest(part for fact in facts for part in (fact.id, fact.value))] if facts else []),
        )
    )


def _metadata_and_given(document: Document) -> list[str]:
    """Return the metadata as JSON, and what comes with the document if there is any."""
    values = [dict(document.metadata), *([asdict(document.given)] if document.given != Extraction() else [])]
    return [json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False) for value in values]
