"""Runs that embed, and what they would do: counted by what the embedder says before and after."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from weft.engine.embedder_check import find_active
from weft.engine.worker_pool import index_with_workers
from weft.errors import BoundReached
from weft.index import run
from weft.index.embedding_cost import EmbedPreview, Meter
from weft.index.job_queue import Components
from weft.index.reembed import embed_facts, preview_reembed, reembed
from weft.models.base import Embedder, Remembering
from weft.records import Document, Receipt, Skipped, Usage
from weft.store.base import Store

if TYPE_CHECKING:
    from weft.engine.engine import Engine

Items = Iterable[Document | Skipped]


def add_documents(
    engine: Engine, documents: Items, *, workers: int, given: bool, on_step: Callable[[run.Step], None]
) -> Receipt:
    """Index documents, alone or with so many workers; `given` says that the embedder is an object of the caller."""
    components = engine.components()
    before = Meter.of(components.embedder)
    if workers != 1:
        receipt = index_with_workers(documents, components, engine.settings, size=workers, given=given, on_step=on_step)
    else:
        receipt = run.index_documents(
            documents,
            store=components.store,
            embedder=components.embedder,
            options=components.options,
            extractor=components.extractor,
            fact_reader=components.fact_reader(),
            on_step=on_step,
        )
    if not receipt.stopped:
        receipt = _with_facts(receipt, components)
    done = Meter.of(components.embedder) - before
    cached = receipt.cached + done.cached
    embedded = done.embedded if workers == 1 and _counts(components.embedder) else receipt.embedded - cached
    return replace(receipt, embedded=embedded, cached=cached, embedding=receipt.embedding + done.usage)


def preview_documents(engine: Engine, documents: Items, *, sample: int) -> Receipt:
    """Return what `add_documents` would do. Raises `SchemaMismatch` where it would."""
    components = engine.components(joining=True)
    embedder = components.embedder if find_active(engine.store) else engine.embedder
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
    """Give every chunk a vector of another embedder, then let it answer, unless a bound on its cost is reached."""
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
        notes=(f"{run.stop_note(stopped)}; until then the embedder before answers",) if stopped else (),
    )


def preview_switch(store: Store, embedder: Embedder) -> Receipt:
    """Return what `switch` would do."""
    start, embedding = time.perf_counter(), EmbedPreview(embedder)
    chunks = preview_reembed(store, embedder=embedder, embedding=embedding)
    return Receipt(
        chunks=chunks,
        embedded=embedding.embedded,
        cached=embedding.cached,
        seconds=time.perf_counter() - start,
        embedding=embedding.usage,
    )


def _with_facts(receipt: Receipt, components: Components) -> Receipt:
    """Embed entities of facts that documents state, and count them."""
    if components.embedder is None or not components.memory.from_files:
        return receipt
    try:
        embedded = embed_facts(components.store, embedder=components.embedder)
    except BoundReached as error:
        embedding = receipt.embedding + Usage(stopped=error.bound)
        return replace(receipt, embedding=embedding, notes=(*receipt.notes, run.stop_note(error.bound)))
    return replace(receipt, embedded=receipt.embedded + embedded)


def _counts(embedder: object) -> bool:
    return isinstance(embedder, Remembering)
