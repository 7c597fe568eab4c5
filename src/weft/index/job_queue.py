"""The write path in two halves: this one hands out documents and hears what became of them, `work.py` indexes them."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from weft.config import MemoryOptions, SplitOptions
from weft.errors import InputError, StoreError
from weft.index.note_facts import FactReader
from weft.index.plan import describe
from weft.index.run import Account, Step, index_documents, note_skipped
from weft.models.base import Embedder, Extractor
from weft.records import Claim, Document, DocumentInfo, Extraction, Job, Nomination, Receipt, Skipped
from weft.store.base import Store
from weft.text import analyzer, split
from weft.text.ids import digest

MAX_PAYLOAD = 8 * 1024 * 1024
"""Characters of a document as JSON; a larger one is no job, and is indexed where it was loaded."""

HANDED = 16
"""Jobs that are handed out at once."""

AHEAD = 512
"""Jobs that may wait; before there are more, loading waits for the workers."""

PAUSE_S = 0.05
"""How long to wait before looking again."""

MANY = 100_000


class WorkerPool(Protocol):
    """Those who do the jobs."""

    def maintain(self, jobs: int) -> None:
        """Start workers where some are missing for so many jobs, and see that they live. Called again and again."""

    def shut_down(self) -> None:
        """Let workers end after what they are at, and wait for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """What documents are indexed with."""

    store: Store
    embedder: Embedder | None
    options: SplitOptions
    extractor: Extractor | None
    fact_reader: Callable[[], FactReader | None]
    """Gives what reads facts out of documents, as of now."""
    memory: MemoryOptions

    @property
    def recipe(self) -> str:
        """A hash of all that shapes what becomes of a document, beside the document."""
        memory = self.memory
        rules = (memory.allow_secrets, sorted(memory.confirm_sources), sorted(memory.single_valued))
        return digest(
            (
                f"{self.options.max_tokens} {self.options.min_tokens} {split.VERSION} {analyzer.VERSION}",
                self.extractor.name if self.extractor else "",
                self.embedder.card.fingerprint if self.embedder else "",
                repr(rules) if memory.from_files else "",
            )
        )

    def describe(self, document: Document, fact_reader: FactReader | None) -> DocumentInfo:
        """Return a document as the store will know it."""
        facts = fact_reader(document, ()) if fact_reader else ()
        return describe(
            document, namespace=self.store.namespace, options=self.options, extractor=self.extractor, facts=facts
        )


def make_job(document: Document, info: DocumentInfo, *, run: str, recipe: str) -> Job:
    """Return the job of indexing a document."""
    values = asdict(replace(document, metadata={}, lines=None)) | {"metadata": dict(document.metadata)}
    values["lines"] = None if document.lines is None else list(document.lines)
    payload = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return Job(id=info.id, run=run, source=info.source, content_hash=info.content_hash, recipe=recipe, payload=payload)


def read_payload(job: Job) -> Document:
    """Return the document that a job is about. Raises `InputError`."""
    try:
        values: dict[str, Any] = json.loads(job.payload)
        given = values.pop("given")
        extraction = Extraction(
            nominations=tuple(Nomination(**item) for item in given["nominations"]),
            claims=tuple(Claim(**item) for item in given["claims"]),
        )
        return Document(**values, given=extraction)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"the job of {job.source!r} cannot be read: {error}") from error


def index_by_jobs(
    items: Iterable[Document | Skipped],
    components: Components,
    *,
    pool: WorkerPool,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Let a pool write every document that is new or changed; return when all of them are dealt with.

    Interrupted, it dismisses the pool and takes back what no worker has begun.
    """
    store, fact_reader, recipe = components.store, components.fact_reader(), components.recipe
    handing = _Handing(store, pool=pool, on_step=on_step)
    seen: set[str] = set()
    try:
        for document in note_skipped(items, account=handing.account, on_step=on_step):
            if document.source in seen:
                handing.settle()  # the second one starts from what the first one left
            seen.add(document.source)
            info = components.describe(document, fact_reader)
            known = store.documents([info.id])
            if known and known[0].content_hash == info.content_hash:
                handing.account.outcomes["unchanged"] += 1
                on_step(Step(source=document.source, chunks=0, outcome="unchanged"))
                continue
            job = make_job(document, info, run=handing.run, recipe=recipe)
            if len(job.payload) <= MAX_PAYLOAD:
                handing.add(job)
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
            handing.count(receipt)
        handing.settle()
        handing.note_failed()
    except BaseException:
        pool.shut_down()
        with suppress(StoreError):  # it may be what failed
            store.jobs.withdraw(handing.run)
        raise
    return handing.account.receipt()


class _Handing:
    """Jobs that were handed out, and what became of them."""

    def __init__(self, store: Store, *, pool: WorkerPool, on_step: Callable[[Step], None]) -> None:
        self.run = uuid.uuid4().hex
        self.account = Account()
        self._jobs = store.jobs
        self._pool = pool
        self._on_step = on_step
        self._waiting: list[Job] = []
        self._open = 0

    def add(self, job: Job) -> None:
        """Hand out a job, some at a time; wait where too many wait already."""
        self._waiting.append(job)
        if len(self._waiting) >= HANDED:
            self._hand_out()
            self._wait(AHEAD)

    def settle(self) -> None:
        """Wait until every job is dealt with."""
        self._hand_out()
        self._wait(0)

    def count(self, receipt: Receipt) -> None:
        """Add what was indexed here."""
        account = self.account
        for outcome in account.outcomes:
            account.outcomes[outcome] += getattr(receipt, outcome)
        account.chunks += receipt.chunks
        account.embedded += receipt.embedded
        account.facts += receipt.facts

    def note_failed(self) -> None:
        """Report the jobs that failed. They stay where they are, with their errors."""
        for job in self._jobs.failed(self.run, limit=MANY):
            self.account.skipped.append(Skipped(source=job.source, reason="failed", detail=job.error))
            self._on_step(Step(source=job.source, chunks=0, outcome="skipped"))

    def _hand_out(self) -> None:
        self._jobs.enqueue(self._waiting)
        self._open += len(self._waiting)
        self._waiting = []

    def _wait(self, allowed: int) -> None:
        """Look after the workers and collect what is done, until no more than `allowed` jobs are open."""
        while self._open:
            self._pool.maintain(self._open)
            counts = self._jobs.counts(self.run)  # before collecting, so that what is done by then is collected
            self._open = counts.open
            self._collect()
            if self._open <= allowed:
                return
            time.sleep(PAUSE_S)

    def _collect(self) -> None:
        while found := self._jobs.collect(self.run, limit=MANY):
            for job in found:
                assert job.result is not None
                result, account = job.result, self.account
                account.outcomes[result.outcome] += 1
                account.chunks += result.chunks
                account.embedded += result.embedded
                account.cached += result.cached
                account.facts += result.facts
                account.embedding += result.embedding
                self._on_step(Step(source=job.source, chunks=result.chunks, outcome=result.outcome))
