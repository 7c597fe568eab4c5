"""
Permanent deletion of conversations, and of everything that contains a text.

    select ─find_forgettable→ Forgettable (the preview) ─forget→ caches erased, rows deleted, file compacted

The caches are erased first: if a step fails, the documents are still stored and the command can be repeated.
On SQLite no byte of the deleted texts remains in the file, its WAL or its read indexes. On PostgreSQL no row remains;
docs/postgres.md says what vacuum and the write-ahead log keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

from weft.engine.adapters import erase_cached_texts
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.index.prune import iter_documents
from weft.records import DocumentInfo, Fact, Filter, parse_time

CONVERSATIONS = (("kind", "conversation"),)
"""Metadata of every conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selection of conversations and texts to forget. All fields that are set must match."""

    conversation: str = ""
    """Id of a conversation, or the source of its document."""
    before: datetime | None = None
    """Conversations whose last turn is before this time."""
    matching: str = ""
    """Documents of any kind, and facts, that contain this text in any case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgettable:
    """Documents and facts that a selection matches."""

    documents: tuple[DocumentInfo, ...]
    facts: tuple[Fact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.documents or self.facts)


def find_forgettable(engine: Engine, selection: Selection) -> Forgettable:
    """Return the documents and facts that a selection matches. Raises `InputError` for an empty selection."""
    wanted = selection.matching.strip().casefold()
    if not (selection.conversation or selection.before or wanted):
        raise InputError("nothing is selected", hint="select by conversation, before or matching")
    documents = [
        document
        for document in _iter_candidates(engine, selection)
        if (not wanted or _contains(engine, document, wanted)) and _ended_before(document, selection.before)
    ]
    is_text_alone = wanted and not (selection.conversation or selection.before)
    facts = [fact for fact in engine.memory.list() if wanted in _fact_text(fact)] if is_text_alone else []
    return Forgettable(documents=tuple(documents), facts=tuple(facts))


def forget(engine: Engine, found: Forgettable) -> None:
    """
    Delete the documents and facts with all traces of them in the store and in the caches of models.

    Raises `StoreUnavailable` if another process reads the file: the rows are deleted then, but old pages remain.
    """
    store = engine.store
    ids = [document.id for document in found.documents]
    erase_cached_texts(engine.settings, store.batches(ids))
    try:
        store.delete(ids)
        known = {fact.id for fact in engine.memory.list()}  # facts of the documents are deleted with them
        remaining = [fact.id for fact in found.facts if fact.id in known]
        if remaining:
            engine.memory.forget(*remaining)
    finally:  # the text is deleted before its graph, and a second call would not find it
        engine.database.compact()


def _iter_candidates(engine: Engine, selection: Selection) -> Iterator[DocumentInfo]:
    store = engine.store
    if not selection.conversation:
        metadata = CONVERSATIONS if selection.before else ()
        yield from iter_documents(store, Filter(metadata=metadata))
        return
    named = Filter(metadata=(*CONVERSATIONS, ("conversation", selection.conversation)))
    found = {document.id: document for document in iter_documents(store, named)}
    same_start = Filter(source_prefix=selection.conversation, metadata=CONVERSATIONS)
    found |= {d.id: d for d in iter_documents(store, same_start) if d.source == selection.conversation}
    yield from found.values()


def _ended_before(document: DocumentInfo, before: datetime | None) -> bool:
    if before is None:
        return True
    limit = before if before.tzinfo else before.replace(tzinfo=timezone.utc)
    try:
        return parse_time(str(document.metadata.get("end"))) < limit
    except ValueError:
        return False


def _contains(engine: Engine, document: DocumentInfo, wanted: str) -> bool:
    head = f"{document.source}\n{document.title}\n{dict(document.metadata)}"
    if wanted in head.casefold():
        return True
    text = "\n".join(chunk.text for chunk in engine.store.find_chunks(document.id))
    return wanted in text.casefold() or " ".join(wanted.split()) in " ".join(text.casefold().split())


def _fact_text(fact: Fact) -> str:
    return f"{fact.subject_name}\n{fact.predicate}\n{fact.value}\n{fact.note}".casefold()
