"""Index runs and re-embedding runs: receipts, previews and costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import fields, replace
from datetime import datetime

from weft.config import Settings
from weft.engine.parsing.parallel_extraction import extract_ahead
from weft.engine.parsing.parser_messages import make_recipe
from weft.engine.paths import count_broken_links
from weft.engine.worker_pool import index_with_workers
from weft.errors import BoundReached
from weft.index import run
from weft.index.embedding_cost import EmbedPreview, Meter
from weft.index.job_queue import Components
from weft.index.plan import Prepared
from weft.index.progress import EmbeddingProgress, Step, stop_note
from weft.index.reembed import embed_facts, preview_reembed, reembed
from weft.masking.masked_documents import mask_documents
from weft.models.base import CachingEmbedder, Embedder
from weft.records import Document, Receipt, Skipped, Usage
from weft.store.base import Store
from weft.system.cores import usable_cores

Items = Iterable[Document | Skipped]


def add_documents(
    documents: Iterable[Document | Prepared | Skipped],
    components: Components,
    *,
    on_step: Callable[[Step], None],
    on_texts: Callable[[EmbeddingProgress], None] = lambda progress: None,
) -> Receipt:
    """Index documents in this process."""
    before, written = Meter.of(components.embedder), list[str]()
    receipt = run.index_documents(
        documents,
        store=components.store,
        embedder=components.embedder,
        options=components.options,
        extractor=components.extractor,
        fact_reader=components.fact_reader(),
        on_step=_note_written(written, on_step),
        on_texts=on_texts,
    )
    receipt = _with_facts(_with_broken_links(receipt, written, components), components)
    done = Meter.of(components.embedder) - before
    cached = receipt.cached + done.cached
    embedded = done.embedded if _counts(components.embedder) else receipt.embedded - cached
    return replace(receipt, embedded=embedded, cached=cached, embedding=receipt.embedding + done.usage)


def add_all(
    documents: Items,
    components: Components,
    settings: Settings,
    *,
    workers: int,
    now: datetime,
    is_custom: bool,
    on_step: Callable[[Step], None],
    on_texts: Callable[[EmbeddingProgress], None],
) -> Receipt:
    """
    Index documents without their secrets, in this process, or by `workers` unless that is 1.

    The time `now` is that of the facts.
    """
    if workers != 1:
        documents = mask_documents(documents, settings.memory)
        return add_by_workers(documents, components, settings, workers=workers, is_custom=is_custom, on_step=on_step)
    recipe = make_recipe(settings, extractor=components.extractor, now=now)
    with closing(extract_ahead(documents, components, recipe, cores=usable_cores())) as items:
        return add_documents(items, components, on_step=on_step, on_texts=on_texts)


def add_by_workers(
    documents: Items,
    components: Components,
    settings: Settings,
    *,
    workers: int,
    is_custom: bool,
    on_step: Callable[[Step], None],
) -> Receipt:
    """Index documents in other processes (see `index_with_workers`)."""
    before, written = Meter.of(components.embedder), list[str]()
    note = _note_written(written, on_step)
    receipt = index_with_workers(documents, components, settings, size=workers, is_custom=is_custom, on_step=note)
    receipt = _with_facts(_with_broken_links(receipt, written, components), components)
    done = Meter.of(components.embedder) - before
    cached = receipt.cached + done.cached
    return replace(receipt, embedded=receipt.embedded - cached, cached=cached, embedding=receipt.embedding + done.usage)


def _note_written(written: list[str], on_step: Callable[[Step], None]) -> Callable[[Step], None]:
    """Return a function that reports a step and appends the source of a written document to `written`."""

    def note(step: Step) -> None:
        if step.outcome in ("added", "changed"):
            written.append(step.source)
        on_step(step)

    return note


def _with_broken_links(receipt: Receipt, sources: Sequence[str], components: Components) -> Receipt:
    """Return a receipt with the number of links of the written documents that lead to no document."""
    return replace(receipt, broken_links=count_broken_links(components.store, sources))


def preview_documents(documents: Items, components: Components, *, embedder: Embedder | None, sample: int) -> Receipt:
    """Return the receipt that indexing with `embedder` would return. A language model reads at most `sample` chunks."""
    return run.preview_documents(
        documents,
        store=components.store,
        options=components.options,
        extractor=components.extractor,
        fact_reader=components.fact_reader(),
        sample=sample,
        embedding=EmbedPreview(embedder),
    )


def switch(store: Store, embedder: Embedder, *, on_step: Callable[[int], None]) -> Receipt:
    """Embed every chunk with another embedder and make it the active one, unless a cost limit stops the run."""
    start, before, chunks = time.perf_counter(), Meter.of(embedder), 0
    stopped = ""

    def count(more: int) -> None:
        nonlocal chunks
        chunks += more
        on_step(more)

    try:
        reembed(store, embedder=embedder, on_step=count)
    except BoundReached as error:
        stopped = error.bound
    done = Meter.of(embedder) - before
    return Receipt(
        chunks=chunks,
        embedded=done.embedded if _counts(embedder) else chunks,
        cached=done.cached,
        seconds=time.perf_counter() - start,
        embedding=done.usage + Usage(stopped=stopped),
        notes=(f"{stop_note(stopped)}; until then the previous embedder stays active",) if stopped else (),
    )


def preview_switch(store: Store, embedder: Embedder) -> Receipt:
    """Return the receipt that `switch` would return; nothing is sent or written."""
    start, embedding = time.perf_counter(), EmbedPreview(embedder)
    chunks = preview_reembed(store, embedder=embedder, embedding=embedding)
    return Receipt(
        chunks=chunks,
        embedded=embedding.embedded,
        cached=embedding.cached,
        seconds=time.perf_counter() - start,
        embedding=embedding.usage,
    )


def add_receipts(first: Receipt, second: Receipt) -> Receipt:
    """Return the receipt of two runs: numbers are added, lists are joined."""
    return Receipt(**{item.name: getattr(first, item.name) + getattr(second, item.name) for item in fields(Receipt)})


def _with_facts(receipt: Receipt, components: Components) -> Receipt:
    """Embed the entities of facts read from documents, and add their number to the receipt."""
    if receipt.stopped or components.embedder is None or not components.memory.from_files:
        return receipt
    try:
        embedded = embed_facts(components.store, embedder=components.embedder)
    except BoundReached as error:
        embedding = receipt.embedding + Usage(stopped=error.bound)
        return replace(receipt, embedding=embedding, notes=(*receipt.notes, stop_note(error.bound)))
    return replace(receipt, embedded=receipt.embedded + embedded)


def _counts(embedder: object) -> bool:
    """Return True if an embedder counts embedded and cached texts."""
    return isinstance(embedder, CachingEmbedder)
