"""
Secrets in a store that was written without masking, or before a format was known.

    find_stored_secrets → StoredSecrets (the preview) ─erase_secrets→ documents masked, facts deleted, file compacted

A document keeps its text, apart from the values. Chunks that change get new ids, terms and vectors. The caches of
models are erased first: if a step fails, the command can be repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from weft.admin.copy_parts import Documents
from weft.admin.forget import CONVERSATIONS
from weft.engine.adapters import erase_cached_texts
from weft.engine.engine import Engine
from weft.facts.validation import find_secret
from weft.index.reembed import embed_names
from weft.masking.mask import find_secrets, mask_secrets
from weft.masking.masked_documents import mask_extraction, mask_metadata
from weft.records import Batch, DocumentInfo, Extraction, Fact
from weft.text.ids import chunk_id
from weft.text.searchable_metadata import searched_terms
from weft.text.split import indexed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSecret:
    """A document or a fact that contains secrets; neither field shows them."""

    id: str
    name: str
    """Source of the document, or the statement without its value."""
    kinds: tuple[str, ...]
    """Kinds of its secrets, such as `a password`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSecrets:
    """All documents and facts of a namespace that contain secrets."""

    documents: tuple[StoredSecret, ...]
    facts: tuple[StoredSecret, ...]

    def __bool__(self) -> bool:
        return bool(self.documents or self.facts)


def find_stored_secrets(engine: Engine) -> StoredSecrets:
    """Return the documents and facts that contain secrets, whatever the settings allow."""
    facts = [
        StoredSecret(
            id=fact.id, name=f"{mask_secrets(fact.subject_name)} {mask_secrets(fact.predicate)}", kinds=(kind,)
        )
        for fact in engine.memory.list()
        if (kind := find_secret(fact))
    ]
    return StoredSecrets(documents=tuple(iter_secret_documents(engine)), facts=tuple(facts))


def iter_secret_documents(engine: Engine) -> Iterator[StoredSecret]:
    """Yield the documents that contain secrets, in the order of their sources."""
    for page in Documents().pages(engine.store):
        for batch in engine.store.batches(page):
            if kinds := _kinds(_texts_of(batch)):
                yield StoredSecret(id=batch.document.id, name=batch.document.source, kinds=kinds)


def erase_secrets(engine: Engine, found: StoredSecrets) -> None:
    """
    Mask the secrets of documents and delete facts that contain one, with all traces in the store and in the caches.

    Raises `StoreUnavailable` if another process reads the file: the rows are changed then, but old pages remain.
    """
    store, ids = engine.store, [item.id for item in found.documents]
    hidden = {item.id for item in found.facts}
    embedder = engine.embedder_slot.answering(engine.reader)
    try:
        for batch in store.batches(ids):
            erase_cached_texts(engine.settings, [batch])
            masked = _mask_batch(batch, facts=_stated_facts(engine, batch.document, hidden=hidden))
            changed = [item for item in masked.chunks if item.vector is None]
            if embedder and changed:
                texts = [indexed_text(masked.document.title, c.chunk.heading, c.chunk.text) for c in changed]
                vectors = dict(zip((item.chunk.id for item in changed), embedder.embed(texts), strict=True))
                chunks = [replace(item, vector=vectors.get(item.chunk.id, item.vector)) for item in masked.chunks]
                masked = replace(masked, chunks=tuple(chunks))
            store.write(masked)
        _mask_annotations(engine)
        known = {fact.id for fact in engine.memory.list()}
        if remaining := sorted(hidden & known):
            engine.memory.forget(*remaining)
        if embedder:
            embed_names(store, embedder=embedder)
    finally:
        engine.database.compact()


def _texts_of(batch: Batch) -> Iterator[str]:
    """Yield title, metadata, headings and texts of a document."""
    yield batch.document.title
    for key, value in batch.document.metadata.items():
        yield from (f"{key}: {item}" for item in (value if isinstance(value, list) else [value]))
    for item in batch.chunks:
        yield from (*item.chunk.heading, item.chunk.text)


def _kinds(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(span.kind for text in texts for span in find_secrets(text)))


def _mask_batch(batch: Batch, *, facts: Sequence[Fact]) -> Batch:
    """Return a batch without secrets. A chunk that changes has a new id and no vector."""
    title, metadata = mask_secrets(batch.document.title), mask_metadata(batch.document.metadata)
    values = {value for text in _texts_of(batch) for value in _values(text)}
    seen: Counter[str] = Counter()
    chunks, texts = [], []
    for item in batch.chunks:
        heading = tuple(map(mask_secrets, item.chunk.heading))
        chunk = replace(item.chunk, text=mask_secrets(item.chunk.text), heading=heading)
        text = indexed_text(title, heading, chunk.text)
        chunk = replace(chunk, id=chunk_id(chunk.document_id, text, seen[text]))
        is_same = chunk == item.chunk
        chunks.append(
            replace(
                item,
                chunk=chunk,
                vector=item.vector if is_same else None,
                extraction=_without(item.extraction, values),
                entity_vectors=item.entity_vectors if is_same else {},
            )
        )
        texts.append(text)
        seen[text] += 1
    is_conversation = dict(CONVERSATIONS).items() <= metadata.items()
    terms = searched_terms(texts, metadata={} if is_conversation else metadata)
    return replace(
        batch,
        document=replace(batch.document, title=title, metadata=metadata),
        chunks=tuple(replace(item, terms=counts) for item, counts in zip(chunks, terms, strict=True)),
        facts=tuple(facts),
    )


def _values(text: str) -> Iterator[str]:
    yield from (text[span.start : span.end].casefold() for span in find_secrets(text))


def _without(extraction: Extraction, values: set[str]) -> Extraction:
    """Return names and relations without those that contain a secret of the document, in any case."""

    def is_clean(*texts: str) -> bool:
        return not any(value in text.casefold() for text in texts for value in values)

    return mask_extraction(
        Extraction(
            candidates=tuple(i for i in extraction.candidates if is_clean(i.key, i.name, i.description, i.alias_of)),
            stated_relations=tuple(
                i for i in extraction.stated_relations if is_clean(i.source, i.target, i.description)
            ),
        )
    )


def _stated_facts(engine: Engine, document: DocumentInfo, *, hidden: set[str]) -> list[Fact]:
    """Return the facts that a document states, without the `hidden` ones."""
    facts = [fact for fact in engine.memory.list() if fact.id not in hidden]
    origins = engine.store.facts.origins([fact.id for fact in facts])
    return [fact for fact in facts if document.id in origins.get(fact.id, ())]


def _mask_annotations(engine: Engine) -> None:
    for origin in engine.store.annotations.origins():
        extractions = engine.store.annotations.read(origin)
        masked = {id: mask_extraction(extraction) for id, extraction in extractions.items()}
        if masked != extractions:
            engine.store.annotations.write(origin, masked)
