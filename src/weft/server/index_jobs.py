"""Background indexing jobs with progress, in short transactions with other writes in between."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeAlias

from weft.config import ServerOptions
from weft.context.serialise import receipt_to_dict
from weft.engine.engine import Engine
from weft.engine.indexing.runs import add_receipts
from weft.errors import WeftError
from weft.index.plan import Prepared
from weft.index.progress import Step
from weft.records import Receipt, Skipped
from weft.server.errors import Refused, refusal
from weft.server.paging import MAX_ITEMS
from weft.server.threads import Threads

logger = logging.getLogger(__name__)

Items: TypeAlias = Generator[Prepared | Skipped, None, None]

State: TypeAlias = Literal["queued", "running", "done", "failed", "interrupted"]
ENDED = frozenset({"done", "failed", "interrupted"})
MAX_PENDING_UPLOADS = 5
"""Limit for the data of unfinished jobs, in multiples of `max_upload_bytes`. Files are on disk, JSON in memory."""
PING_SECONDS = 15.0
"""Interval of keep-alive comments in an event stream."""


@dataclass
class Job:
    """One indexing job. Only the event loop modifies it."""

    id: str
    namespace: str
    total: int
    """Number of files or documents in the request. A file may contain many documents."""
    size: int
    """Bytes of request data, kept until the job ends."""
    state: State = "queued"
    processed: int = 0
    """Number of documents and skipped files so far."""
    chunks: int = 0
    receipt: Receipt = field(default_factory=Receipt)
    """Lists at most `MAX_ITEMS` skipped items, because one file may contain millions of invalid records."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Number of all skipped items by reason."""
    error: Refused | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def notify(self) -> None:
        """Wake the watchers of this job."""
        self.changed.set()
        self.changed = asyncio.Event()

    def step(self, step: Step) -> None:
        """Count one processed document."""
        self.processed += 1
        self.chunks += step.chunks
        self.notify()

    def add(self, receipt: Receipt) -> None:
        """Add the receipt of one transaction."""
        self.skipped.update(item.reason for item in receipt.skipped)
        remaining = MAX_ITEMS - len(self.receipt.skipped)
        merged = add_receipts(self.receipt, replace(receipt, skipped=receipt.skipped[:remaining]))
        self.receipt = replace(merged, notes=tuple(dict.fromkeys(merged.notes)))

    def end(self, state: State, error: Refused | None = None) -> None:
        """Set the final state."""
        self.state, self.error = state, error
        self.notify()

    def to_dict(self) -> dict[str, Any]:
        """Return the job as JSON values."""
        error = self.error
        return {
            "id": self.id,
            "state": self.state,
            "total": self.total,
            "processed": self.processed,
            "chunks": self.chunks,
            "receipt": self._receipt() if self.state in ENDED else None,
            "error": {"code": error.code, "message": error.message, "hint": error.hint} if error else None,
        }

    def _receipt(self) -> dict[str, Any]:
        return {**receipt_to_dict(self.receipt), "skipped": dict(sorted(self.skipped.items()))}


class Jobs:
    """Jobs of a server. Those of one namespace run one at a time, in order of arrival."""

    def __init__(self, threads: Threads, options: ServerOptions, *, stop_parsing: Callable[[], None]) -> None:
        self._threads = threads
        self._options = options
        self._stop_parsing = stop_parsing
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By namespace."""
        self.closing = asyncio.Event()
        """Set when shutdown begins: event streams end and no job starts."""
        self.is_stopping = False
        """True once the shutdown time is over. Jobs then stop after the current transaction."""

    def start(
        self,
        engine: Engine,
        items: Items,
        *,
        total: int,
        size: int,
        cleanup: Callable[[], None],
    ) -> Job:
        """
        Start a job with `size` bytes of request data. `cleanup` runs when it ends, also after a failure.

        Raises `Refused` (503) during shutdown or if unfinished jobs have too much data.
        """
        if self.closing.is_set() or not self._fits(size):
            cleanup()
            raise Refused(
                503, "busy", "too many unfinished jobs, or the server is shutting down", hint="retry in a few seconds"
            )
        job = Job(id=secrets.token_hex(12), namespace=engine.store.namespace, total=total, size=size)
        self._jobs[job.id] = job
        for old in [id for id, known in self._jobs.items() if known.state in ENDED][: -self._options.max_jobs]:
            del self._jobs[old]
        task = asyncio.get_running_loop().create_task(self._run(job, engine, items, cleanup))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def find(self, id: str, *, namespace: str) -> Job | None:
        """Return a job of this namespace, or None."""
        job = self._jobs.get(id)
        return job if job and job.namespace == namespace else None

    def count(self, namespace: str) -> int:
        """Return the number of unfinished jobs of a namespace."""
        return sum(job.namespace == namespace and job.state not in ENDED for job in self._jobs.values())

    async def watch(self, job: Job) -> AsyncIterator[dict[str, Any] | None]:
        """Yield the job after each change until it ends or the server stops. Yields None as a keep-alive."""
        closing = asyncio.ensure_future(self.closing.wait())
        try:
            while True:
                changed = asyncio.ensure_future(job.changed.wait())
                yield job.to_dict()
                if job.state in ENDED or closing.done():
                    return
                while not changed.done() and not closing.done():
                    await asyncio.wait({changed, closing}, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                    if not changed.done() and not closing.done():
                        yield None
                changed.cancel()
        finally:
            closing.cancel()

    async def close(self) -> None:
        """Wait for jobs up to `shutdown_seconds`, then stop parsing, and the jobs after the current transaction."""
        self.closing.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._options.shutdown_seconds)
        self.is_stopping = True
        await asyncio.to_thread(self._stop_parsing)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _fits(self, size: int) -> bool:
        """Return True if a job of `size` bytes may start. The only unfinished job may have any size."""
        pending = [job.size for job in self._jobs.values() if job.state not in ENDED]
        fits = sum(pending) + size <= MAX_PENDING_UPLOADS * self._options.max_upload_bytes
        return not pending or (fits and len(pending) < self._options.max_jobs)

    async def _run(self, job: Job, engine: Engine, items: Items, cleanup: Callable[[], None]) -> None:
        try:
            async with self._turns[job.namespace]:
                job.state = "running"
                job.notify()
                state = await self._index(job, engine, items)
                job.end(state)
        except WeftError as error:
            job.end("interrupted" if self.is_stopping else "failed", refusal(error))
        except Exception:  # an unexpected error fails the job, not the server
            logger.exception("job %s failed", job.id)
            job.end("failed", Refused(500, "failed", "internal server error", hint="read the log of the server"))
        finally:
            items.close()  # gives its parser process back
            cleanup()

    async def _index(self, job: Job, engine: Engine, items: Items) -> State:
        loop, size = asyncio.get_running_loop(), self._options.max_inline_documents

        def on_step(step: Step) -> None:
            loop.call_soon_threadsafe(job.step, step)

        while not self.is_stopping:
            batch = await self._threads.parse(lambda: list(islice(items, size)), namespace=job.namespace)
            if not batch:
                return "done"
            receipt = await self._threads.store(partial(engine.indexing.add_prepared, batch, on_step=on_step))
            job.add(receipt)
        return "interrupted"
