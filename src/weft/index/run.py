"""
Write path: documents are split, read by the extractor, embedded and written.

    file ─load→ Document ─make_draft→ Draft ─extract_group→ Plan ─make_batches→ Batch ─write→ Store
                                      chunks  mentions             vectors
                                      terms   relations, facts

Documents are processed in groups; one group is one call of the embedder and one transaction.
After a crash a document is either fully indexed or unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat
from typing import TypeVar

from weft.config import SplitOptions
from weft.errors import BoundReached
from weft.index.batch_writer import BatchWriter, collect_texts, group_size, is_full
from weft.index.embedding_cost import EmbedPreview
from weft.index.note_facts import FactReader
from weft.index.plan import Draft, Plan, Prepared, compare, described, extract, finish_plan, make_draft
from weft.index.progress import EmbeddingProgress, ReceiptBuilder, Step
from weft.index.reembed import find_new_fact_entities, find_new_fact_texts, preview_facts, preview_texts
from weft.models.base import BatchExtractor, Embedder, Extractor, Metered
from weft.records import Document, Receipt, Skipped, Usage
from weft.store.base import Store

FIRST_GROUPS_CHUNKS = (1, 8)
"""
Chunks, or documents, of the first two groups of a run.

The first document is searchable when it is embedded and the second group is planned, before a whole group would be.
"""

COMPARED_TOGETHER = 16
"""Prepared documents whose stored forms are read at once. The first ones wait for the others."""

Item = TypeVar("Item", bound=Document | Prepared)
Made = TypeVar("Made", bound=Prepared)


def index_documents(
    items: Iterable[Document | Prepared | Skipped],
    *,
    store: Store,
    embedder: Embedder | None,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    on_texts: Callable[[EmbeddingProgress], None] = lambda progress: None,
) -> Receipt:
    """
    Write every new or changed document; return the counts. Prepared documents come from `plan.prepare`.

    A run may be interrupted at any time. Documents reported to `on_step` are committed, and the next run continues with
    the others. At a cost limit of the extractor or the embedder the run ends early; the receipt names the limit.
    """
    take_usage(extractor)  # resets the usage of an earlier run that failed
    counts = ReceiptBuilder(on_step=on_step, on_texts=on_texts)
    make = partial(make_draft, store=store, options=options, extractor=extractor, fact_reader=fact_reader)

    def draft(*items: Document | Prepared) -> Iterator[Prepared | None]:
        ids = [described(item).id for item in items if not isinstance(item, Document)]
        known = {info.id: info for info in store.documents(ids)} if ids else {}
        for item in items:
            if isinstance(item, Document):
                yield make(item)
            else:
                yield compare(item, known.get(described(item).id), store=store)

    with _stop_at_limit(counts), BatchWriter(store, embedder, counts=counts) as writer:
        for drafts in _group_drafts(items, draft=draft, counts=counts, size=group_size(embedder), flush=writer.flush):
            plans = extract_group(drafts, extractor, fact_reader)
            if plans:
                writer.submit(plans)
            if len(plans) < len(drafts):  # the extractor reached its limit
                break
        writer.flush()
    return counts.build(take_usage(extractor))


def preview_documents(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
    sample: int = 0,
    embedding: EmbedPreview,
) -> Receipt:
    """
    Return the receipt that `index_documents` would return, without writing or embedding.

    `embedding` counts the texts to embed. A language model reads at most `sample` chunks, to estimate its cost.

    """
    if isinstance(extractor, BatchExtractor):
        extractor = extractor.offline(sample=sample)
    counts, known, sentences = ReceiptBuilder(), set[str](), dict[str, str]()
    make = partial(make_draft, store=store, options=options, extractor=extractor, fact_reader=fact_reader)

    def draft(*items: Document) -> Iterator[Draft | None]:
        return map(make, items)

    for drafts in _group_drafts(items, draft=draft, counts=counts, size=group_size(embedding.embedder)):
        plans = extract_group(drafts, extractor, fact_reader)
        for plan in plans:
            counts.add_document(plan.document.source, plan.outcome, chunks=len(plan.chunks), facts=len(plan.facts))
        texts, entities = collect_texts(plans)
        facts = [fact for plan in plans for fact in plan.facts]
        new = find_new_fact_entities(store, facts)
        sentences |= find_new_fact_texts(store, facts)
        embedding.add([*texts.values(), *entities.values(), *(text for key, text in new.items() if key not in known)])
        known |= new.keys()
        if len(plans) < len(drafts):
            break
    preview_texts(list(sentences.values()), embedding=embedding)  # embedded after the documents
    if fact_reader:
        preview_facts(store, embedding=embedding)
    counts.embedded, counts.cached, counts.embedding = embedding.embedded, embedding.cached, embedding.usage
    return counts.build(take_usage(extractor))


def _group_drafts(
    items: Iterable[Item | Skipped],
    *,
    draft: Callable[..., Iterator[Made | None]],
    counts: ReceiptBuilder,
    size: int,
    flush: Callable[[str], None] = lambda source: None,
) -> Iterator[list[Made]]:
    """
    Yield groups of drafts, each with `size` chunks or documents, the first ones with fewer; count unchanged documents.

    `flush` writes pending documents of a source. They must be written first, because a draft is compared with the
    stored document of its source.
    """
    group: list[Made] = []
    limits = chain((min(size, first) for first in FIRST_GROUPS_CHUNKS), repeat(size))
    limit = next(limits)
    for together in _read_ahead(counts.iter_documents(items)):
        if not together.keys().isdisjoint(made.document.source for made in group):
            yield group
            group = []
        for source in together:
            flush(source)
        for source, made in zip(together, draft(*together.values()), strict=True):
            if made is None:
                counts.add_document(source, "unchanged")
                continue
            group.append(made)
            if is_full(group, size=limit):
                yield group
                group, limit = [], next(limits)
    if group:
        yield group


def _read_ahead(items: Iterable[Item]) -> Iterator[dict[str, Item]]:
    """Yield prepared documents together, each source once, and others one by one."""
    together: dict[str, Item] = {}
    for item in items:
        source = item.source if isinstance(item, Document) else item.document.source
        if together and (source in together or isinstance(item, Document)):
            yield together
            together = {}
        together[source] = item
        if isinstance(item, Document) or len(together) == COMPARED_TOGETHER:
            yield together
            together = {}
    if together:
        yield together


def extract_group(
    prepared: Sequence[Prepared], extractor: Extractor | None, fact_reader: FactReader | None
) -> list[Plan]:
    """Return the plans of the drafts; fewer if the extractor reached its cost limit. Plans are returned unchanged."""
    if not isinstance(extractor, BatchExtractor):
        return [
            item if isinstance(item, Plan) else finish_plan(item, extract(item, extractor), fact_reader=fact_reader)
            for item in prepared
        ]
    drafts = [item for item in prepared if isinstance(item, Draft)]
    readings = extractor.extract_all([(draft.document, draft.chunks) for draft in drafts])
    return [
        finish_plan(draft, reading, fact_reader=fact_reader, read_by=extractor.name)
        for draft, reading in zip(drafts, readings, strict=True)
        if reading is not None
    ]


@contextmanager
def _stop_at_limit(counts: ReceiptBuilder) -> Iterator[None]:
    """End the block at the cost limit of the embedder, and record the limit."""
    try:
        yield
    except BoundReached as error:
        counts.embedding += Usage(stopped=error.bound)


def take_usage(extractor: Extractor | None) -> Usage:
    """Return the language model usage of an extractor since the last call, and reset it."""
    return extractor.take_usage() if isinstance(extractor, Metered) else Usage()
