"""
Indexing by workers, producer side: enqueues one job per document and collects the results.

    index_by_jobs ─enqueue→ jobs table ─claim→ Worker (job_worker.py) ─write→ documents
          ↑                     │
          └───────collect───────┘
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

from weft.config import MemoryOptions, SplitOptions
from weft.errors import InputError, StoreError
from weft.index.note_facts import FactReader
from weft.index.plan import describe_document
from weft.index.progress import ReceiptBuilder, Step
from weft.index.run import index_documents
from weft.models.base import Embedder, Extractor
from weft.records import (
    Candidate,
    Document,
    DocumentInfo,
    Extraction,
    Job,
    PageLink,
    Receipt,
    Skipped,
    StatedRelation,
    Turn,
)
from weft.store.base import Store
from weft.text import analyzer, split
from weft.text.ids import digest

MAX_PAYLOAD_CHARS = 8 * 1024 * 1024
"""Maximum size of a job's JSON. The producer indexes a larger document itself."""

JOBS_PER_ENQUEUE = 16

MAX_OPEN_JOBS = 512
"""Maximum number of open jobs. Loading of documents waits until fewer are open."""

POLL_INTERVAL_S = 0.05

MAX_RESULTS_READ = 100_000
"""Finished or failed jobs read in one call."""


class WorkerPool(Protocol):
    """Workers that the producer starts and stops."""

    def maintain(self, jobs: int) -> None:
        """Start missing workers for this number of open jobs and replace dead ones. Called repeatedly."""

    def shut_down(self) -> None:
        """Stop all workers after their current transaction, and wait for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Store, models and options of the write path."""

    store: Store
    embedder: Embedder | None
    options: SplitOptions
    extractor: Extractor | None
    fact_reader: Callable[[], FactReader | None]
    """Returns a fact reader for the current time."""
    memory: MemoryOptions

    @property
    def recipe(self) -> str:
        """
        Hash of all settings and models that affect the stored document.

        Workers claim only jobs with their own recipe.
        """
        memory = self.memory
        rules = (memory.allow_secrets, sorted(memory.confirm_sources), sorted(memory.single_valued))
        return digest(
            (
                f"{self.options.max_tokens} {self.options.min_tokens} {split.installed_version()} {analyzer.VERSION}",
                self.extractor.name if self.extractor else "",
                self.embedder.card.fingerprint if self.embedder else "",
                repr(rules) if memory.from_files else "",
            )
        )

    def describe(self, document: Document, fact_reader: FactReader | None) -> DocumentInfo:
        """Return the stored form of a document."""
        facts = fact_reader(document, ()) if fact_reader else ()
        return describe_document(
            document, namespace=self.store.namespace, options=self.options, extractor=self.extractor, facts=facts
        )


def make_job(document: Document, info: DocumentInfo, *, run: str, recipe: str) -> Job:
    """Return the job that indexes a document."""
    payload = write_payload(document)
    return Job(id=info.id, run=run, source=info.source, content_hash=info.content_hash, recipe=recipe, payload=payload)


def write_payload(document: Document) -> str:
    """Return a document as JSON."""
    values = {field.name: getattr(document, field.name) for field in fields(document)}
    values |= {"metadata": dict(document.metadata), "given": asdict(document.given)}
    values["lines"] = None if document.lines is None else list(document.lines)
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def read_payload(payload: str, *, source: str) -> Document:
    """Return the document of a payload; `source` is named in the error. Raises `InputError`."""
    try:
        values: dict[str, Any] = json.loads(payload)
        given = values.pop("given")
        values["links"] = tuple(PageLink(*item) for item in values.get("links", ()))
        values["turns"] = tuple(Turn(*item) for item in values.get("turns", ()))
        extraction = Extraction(
            candidates=tuple(Candidate(*item) for item in given["candidates"]),
            stated_relations=tuple(StatedRelation(*item) for item in given["stated_relations"]),
        )
        return Document(**values, given=extraction)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"invalid job payload of {source!r}: {error}", hint="index the document again") from error


def index_by_jobs(
    items: Iterable[Document | Skipped],
    components: Components,
    *,
    pool: WorkerPool,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Index every new or changed document by workers; return when all jobs are done or failed.

    On an interruption the pool is shut down and jobs that no worker has started are deleted.

    """
    store, fact_reader, recipe = components.store, components.fact_reader(), components.recipe
    producer = _JobProducer(store, pool=pool, on_step=on_step)
    counts = producer.counts
    seen: set[str] = set()
    try:
        for document in counts.iter_documents(items):
            if document.source in seen:
                producer.finish()  # the document is compared with the stored one of the same source
            seen.add(document.source)
            info = components.describe(document, fact_reader)
            known = store.documents([info.id])
            if known and known[0].content_hash == info.content_hash:
                counts.add_document(document.source, "unchanged")
                continue
            job = make_job(document, info, run=producer.run, recipe=recipe)
            if len(job.payload) <= MAX_PAYLOAD_CHARS:
                producer.add(job)
                continue
            receipt = index_documents(
                [document],
                store=store,
                embedder=components.embedder,
                options=components.options,
                extractor=components.extractor,
                fact_reader=fact_reader,
                on_step=on_step,
            )
            counts.add_receipt(receipt)
        producer.finish()
        producer.record_failed()
    except BaseException:
        pool.shut_down()
        with suppress(StoreError):  # the error may come from the store
            store.jobs.withdraw(producer.run)
        raise
    return counts.build()


class _JobProducer:
    """Enqueues the jobs of one run and collects their results."""

    def __init__(self, store: Store, *, pool: WorkerPool, on_step: Callable[[Step], None]) -> None:
        self.run = uuid.uuid4().hex
        self.counts = ReceiptBuilder(on_step=on_step)
        self._jobs = store.jobs
        self._pool = pool
        self._buffer: list[Job] = []
        self._open = 0

    def add(self, job: Job) -> None:
        """Enqueue a job, buffered; wait while too many jobs are open."""
        self._buffer.append(job)
        if len(self._buffer) >= JOBS_PER_ENQUEUE:
            self._enqueue()
            self._wait(MAX_OPEN_JOBS)

    def finish(self) -> None:
        """Wait until no job is open."""
        self._enqueue()
        self._wait(0)

    def record_failed(self) -> None:
        """Report the failed jobs as skipped. They stay in the queue with their errors."""
        for job in self._jobs.failed(self.run, limit=MAX_RESULTS_READ):
            self.counts.add_skipped(Skipped(source=job.source, reason="failed", detail=job.error))

    def _enqueue(self) -> None:
        self._jobs.enqueue(self._buffer)
        self._open += len(self._buffer)
        self._buffer = []

    def _wait(self, max_open: int) -> None:
        """Maintain the pool and collect results until at most `max_open` jobs are open."""
        while self._open:
            self._pool.maintain(self._open)
            # Count before collecting: a job that finishes in between is collected, but still counts as open.
            self._open = self._jobs.counts(self.run).open
            self._collect()
            if self._open <= max_open:
                return
            time.sleep(POLL_INTERVAL_S)

    def _collect(self) -> None:
        while jobs := self._jobs.collect(self.run, limit=MAX_RESULTS_READ):
            for job in jobs:
                assert job.result is not None
                result, counts = job.result, self.counts
                counts.embedded += result.embedded
                counts.cached += result.cached
                counts.embedding += result.embedding
                counts.add_document(job.source, result.outcome, chunks=result.chunks, facts=result.facts)
