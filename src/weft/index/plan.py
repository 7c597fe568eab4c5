"""
Stages from a document to its batch.

    Document ─make_draft→ Draft ─extract→ Reading ─finish_plan→ Plan ─make_batch→ Batch

`make_draft` compares the document with the store first and splits it only if it changed. `prepare` does the same work
without a store, in a parser process; `compare` then compares its result with the store.

    Document ─prepare→ Draft or Plan ─compare→ the same without stored chunks ─→ …
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

from weft.config import SplitOptions
from weft.errors import InputError
from weft.extract.links.page_reader import find_urls
from weft.extract.mentions import proposed_mentions
from weft.extract.names import name_text
from weft.graph.entity_resolution import preference
from weft.index.merge_extractions import merge_given
from weft.index.note_facts import FactReader
from weft.models.base import Extractor
from weft.records import (
    STRONG_KINDS,
    URLS,
    Batch,
    Chunk,
    Document,
    DocumentInfo,
    Extraction,
    Fact,
    IndexedChunk,
    Metadata,
    Reading,
    StatedMention,
    Vector,
)
from weft.store.base import Store
from weft.text import analyzer, split
from weft.text.ids import digest, document_id
from weft.text.searchable_metadata import READ_BY, searched_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A new or changed document with all content to write except the vectors."""

    document: DocumentInfo
    chunks: tuple[Chunk, ...]
    terms: tuple[Counter[str], ...]
    texts: dict[str, str]
    """Text to embed by chunk id, for chunks that are not stored yet."""
    is_new: bool
    extractions: tuple[Extraction, ...]
    """One per chunk."""
    mentions: tuple[tuple[StatedMention, ...], ...]
    """Mentions of the proposed names, one tuple per chunk."""
    packed: tuple[tuple[bytes, bytes] | None, ...] = ()
    """One per chunk, as in `IndexedChunk`, if a parser process compressed them."""
    entity_texts: dict[tuple[str, str], str] = field(default_factory=dict)
    """Name with description, to be embedded, by chunk id and entity key."""
    facts: tuple[Fact, ...] = ()
    """Facts that the document states."""

    @property
    def outcome(self) -> Literal["added", "changed"]:
        """Outcome of the document in the receipt."""
        return "added" if self.is_new else "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A new or changed document, split into chunks but not read by the extractor yet."""

    document: Document
    info: DocumentInfo
    chunks: tuple[Chunk, ...]
    terms: tuple[Counter[str], ...]
    texts: dict[str, str]
    is_new: bool
    facts: tuple[Fact, ...] = ()


Prepared: TypeAlias = Draft | Plan
"""A document that needs only the store and the embedder; a draft needs its extractor too."""

P = TypeVar("P", bound=Prepared)


def make_plan(
    document: Document,
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
) -> Plan | None:
    """Return the plan of a document; None if the stored document is the same."""
    draft = make_draft(document, store=store, options=options, extractor=extractor, fact_reader=fact_reader)
    return finish_plan(draft, extract(draft, extractor), fact_reader=fact_reader) if draft else None


def make_draft(
    document: Document,
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
) -> Draft | None:
    """Return the chunks of a document and the texts to embed; None if the stored document is the same."""
    facts = fact_reader(document, ()) if fact_reader else ()
    info = describe_document(document, namespace=store.namespace, options=options, extractor=extractor, facts=facts)
    known = next(iter(store.documents([info.id])), None)
    if known and known.content_hash == info.content_hash:
        return None
    draft = split_document(document, info, options=options, facts=facts)
    return _without_stored(draft, info.id, store=store) if known else draft


def split_document(document: Document, info: DocumentInfo, *, options: SplitOptions, facts: tuple[Fact, ...]) -> Draft:
    """Return the chunks and terms of a document as if nothing were stored."""
    chunks = split.split(document, document_id=info.id, options=options)
    texts = indexed_texts(chunks, title=document.title)
    return Draft(
        document=document,
        info=info,
        chunks=tuple(chunks),
        terms=tuple(searched_terms(texts.values(), metadata=_searched_metadata(document))),
        texts=texts,
        is_new=True,
        facts=facts,
    )


def _searched_metadata(document: Document) -> Metadata:
    """Return the metadata to index; none for a conversation, whose dates and ids change as it grows."""
    return {} if document.form == "conversation" else document.metadata


def indexed_texts(chunks: Sequence[Chunk], *, title: str) -> dict[str, str]:
    """Return the indexed texts of the chunks of a document by chunk id."""
    return {chunk.id: split.indexed_text(title, chunk.heading, chunk.text) for chunk in chunks}


def prepare(
    document: Document,
    *,
    namespace: str,
    options: SplitOptions,
    extractor: Extractor | None,
    extractor_name: str = "",
    fact_reader: FactReader | None = None,
) -> Prepared:
    """
    Return the plan of a document as if nothing were stored; needs neither store nor embedder.

    With an `extractor_name` the caller extracts: the result is a draft whose content hash has that name.
    """
    facts = fact_reader(document, ()) if fact_reader else ()
    info = describe_document(
        document,
        namespace=namespace,
        options=options,
        extractor=_NamedExtractor(extractor_name) if extractor_name else extractor,
        facts=facts,
    )
    draft = split_document(document, info, options=options, facts=facts)
    return draft if extractor_name else finish_plan(draft, extract(draft, extractor), fact_reader=fact_reader)


def compare(prepared: P, known: DocumentInfo | None, *, store: Store) -> P | None:
    """Return a prepared document without the texts of chunks that its `known` form has; None if it is the same."""
    info = described(prepared)
    if known and known.content_hash == info.content_hash:
        return None
    return _without_stored(prepared, info.id, store=store) if known else prepared


def described(prepared: Prepared) -> DocumentInfo:
    """Return the stored form of a prepared document."""
    return prepared.info if isinstance(prepared, Draft) else prepared.document


def _without_stored(prepared: P, document_id: str, *, store: Store) -> P:
    stored = {chunk.id for chunk in store.find_chunks(document_id)}
    texts = {chunk_id: text for chunk_id, text in prepared.texts.items() if chunk_id not in stored}
    return replace(prepared, texts=texts, is_new=False)


@dataclass(frozen=True, slots=True)
class _NamedExtractor:
    """The name of an extractor that runs elsewhere."""

    name: str

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Raise `NotImplementedError`."""
        raise NotImplementedError


def extract(draft: Draft, extractor: Extractor | None) -> Reading:
    """Return the mentions and relations of a draft, one extraction per chunk; empty without an extractor."""
    if extractor is None:
        return Reading(extractions=[Extraction()] * len(draft.chunks))
    return Reading(extractions=extractor.extract(draft.document, draft.chunks))


def finish_plan(draft: Draft, reading: Reading, *, fact_reader: FactReader | None = None, read_by: str = "") -> Plan:
    """
    Return the plan of a draft and its reading; `read_by` is stored as the name of the extractor.

    An incomplete reading gets a content hash that differs from the document's, so the next run reads it again.
    """
    document, info, extractions = draft.document, draft.info, list(reading.extractions)
    if document.given != Extraction():
        extractions = merge_given(document, extractions)
    own: dict[str, str | list[str]] = {READ_BY: read_by} if read_by else {}
    if urls := find_urls(document):
        own[URLS] = urls
    if own:
        info = replace(info, metadata={**info.metadata, **own})
    if not reading.is_complete:
        info = replace(info, content_hash=digest((info.content_hash, "incomplete")))
    return Plan(
        document=info,
        chunks=draft.chunks,
        terms=draft.terms,
        texts=draft.texts,
        is_new=draft.is_new,
        extractions=tuple(extractions),
        mentions=tuple(
            proposed_mentions(chunk.text, extraction.candidates)
            for chunk, extraction in zip(draft.chunks, extractions, strict=True)
        ),
        entity_texts={
            (chunk.id, item.key): name_text(item.name, item.description)
            for chunk, extraction in zip(draft.chunks, extractions, strict=True)
            # includes unchanged chunks: another extractor or graph may describe their entities differently
            for item in sorted(extraction.candidates, key=preference, reverse=True)
            if item.description and item.kind in STRONG_KINDS
        },
        facts=fact_reader(document, reading.facts) if fact_reader and reading.facts else draft.facts,
    )


def describe_document(
    document: Document,
    *,
    namespace: str,
    options: SplitOptions,
    extractor: Extractor | None = None,
    facts: Sequence[Fact] = (),
) -> DocumentInfo:
    """Return the stored form of a document without splitting it. Raises `InputError`."""
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
    """Raise `InputError` for a missing source, an unpaired surrogate, or metadata that JSON cannot represent."""
    if not document.source:
        raise InputError(
            f"the document {document.title!r} has no source", hint="set Document.source to a unique path or URI"
        )
    try:
        for text in (document.source, document.title, document.text, *_hashed_json(document)):
            text.encode("utf-8")
    except (TypeError, ValueError) as error:
        hint = "use valid Unicode text; metadata may also contain numbers, true, false, null, and lists of these"
        raise InputError(f"cannot store {document.source!r}: {error}", hint=hint) from error


def make_batch(
    plan: Plan,
    *,
    model: str,
    vectors: Mapping[str, Vector],
    entity_vectors: Mapping[tuple[str, str], Vector] | None = None,
    fact_vectors: Mapping[str, Vector] | None = None,
) -> Batch:
    """
    Return the batch that writes a plan.

    `vectors` are by chunk id, `entity_vectors` by chunk id and entity key, `fact_vectors` by key of an entity of facts.
    """
    chunks = tuple(
        IndexedChunk(
            chunk=chunk,
            terms=terms,
            vector=vectors.get(chunk.id),
            extraction=extraction,
            mentions=mentions,
            entity_vectors={key: vector for (id, key), vector in (entity_vectors or {}).items() if id == chunk.id},
            packed=packed,
        )
        for chunk, terms, extraction, mentions, packed in zip(
            plan.chunks,
            plan.terms,
            plan.extractions,
            plan.mentions,
            plan.packed or (None,) * len(plan.chunks),
            strict=True,
        )
    )
    keys = {key for fact in plan.facts for key in (fact.subject, fact.object)}
    own_vectors = {key: vector for key, vector in (fact_vectors or {}).items() if key in keys}
    return Batch(document=plan.document, chunks=chunks, model=model, facts=plan.facts, fact_vectors=own_vectors)


def content_hash(
    document: Document, *, options: SplitOptions, extractor: Extractor | None = None, facts: Sequence[Fact] = ()
) -> str:
    """Return a hash of all inputs of the stored document. A document with an equal hash is not written again."""
    metadata, *given = _hashed_json(document)
    return digest(
        (
            document.title,
            document.text,
            document.form,
            document.unit,
            metadata,
            digest(map(str, document.lines)) if document.lines is not None else "",
            f"{options.max_tokens} {options.min_tokens} {split.split_version(document)} {analyzer.VERSION}",
            extractor.name if extractor else "",
            *given,
            *([digest(str(part) for link in document.links for part in link)] if document.links else []),
            *([digest(repr(tuple(turn)) for turn in document.turns)] if document.turns else []),
            *([digest(part for fact in facts for part in (fact.id, fact.value))] if facts else []),
        )
    )


def _hashed_json(document: Document) -> list[str]:
    """Return the metadata as JSON, followed by the document's ready-made graph, if any."""
    values = [dict(document.metadata), *([asdict(document.given)] if document.given != Extraction() else [])]
    return [json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False) for value in values]
