"""Long indexing: jobs with progress, each cut into transactions between which others may write."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeAlias

from weft.config import ServerOptions
from weft.context.serialise import receipt_to_dict
from weft.engine.embedding import add_receipts
from weft.engine.engine import Engine
from weft.errors import WeftError
from weft.index.progress import Step
from weft.records import Document, Receipt, Skipped
from weft.server.errors import Refused, refusal
from weft.server.paging import MAX_ITEMS
from weft.server.threads import Threads

logger = logging.getLogger(__name__)

State: TypeAlias = Literal["queued", "running", "done", "failed", "interrupted"]
ENDED = frozenset({"done", "failed", "interrupted"})
WAITING = 5
"""How many times `max_upload_bytes` the jobs hold that have not ended: on disk, or in memory if they came as JSON."""
PING_SECONDS = 15.0
"""How often a stream without news says that it is still there."""


@dataclass
class Job:
    """One run of indexing. Only the event loop changes it."""

    id: str
    namespace: str
    total: int
    """Files or documents it was given; a file may hold many documents."""
    size: int
    """Bytes that are kept for it until it has ended."""
    state: State = "queued"
    processed: int = 0
    """Documents and skipped files that were dealt with."""
    chunks: int = 0
    receipt: Receipt = field(default_factory=Receipt)
    """Lists the first of what was skipped; a file may hold millions of records that are none."""
    skipped: Counter[str] = field(default_factory=Counter)
    """All of it, by reason."""
    error: Refused | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def notice(self) -> None:
        """Wake those who watch."""
        self.changed.set()
        self.changed = asyncio.Event()

    def step(self, step: Step) -> None:
        """Count one document."""
        self.processed += 1
        self.chunks += step.chunks
        self.notice()

    def add(self, receipt: Receipt) -> None:
        """Count what a part of the job did."""
        self.skipped.update(item.reason for item in receipt.skipped)
        room = MAX_ITEMS - len(self.receipt.skipped)
        both = add_receipts(self.receipt, replace(receipt, skipped=receipt.skipped[:room]))
        self.receipt = replace(both, notes=tuple(dict.fromkeys(both.notes)))

    def end(self, state: State, error: Refused | None = None) -> None:
        """Say how it went."""
        self.state, self.error = state, error
        self.notice()

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
    """The jobs of a server, run one after the other in the order they came."""

    def __init__(self, threads: Threads, options: ServerOptions) -> None:
        self._threads = threads
        self._options = options
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self.closing = asyncio.Event()
        """Set when the server is asked to stop: streams end, nothing new begins."""
        self.is_stopping = False
        """Whether jobs have no more time: the transaction under way is the last."""

    def start(
        self, engine: Engine, items: Iterator[Document | Skipped], *, total: int, size: int, cleanup: Callable[[], None]
    ) -> Job:
        """Begin a job with `size` bytes of text or files; `cleanup` runs when it has ended, however it did."""
        if self.closing.is_set() or not self._has_room(size):
            cleanup()
            raise Refused(503, "busy", "no job can begin now", hint="try again")
        job = Job(id=secrets.token_hex(12), namespace=engine.store.namespace, total=total, size=size)
        self._jobs[job.id] = job
        for old in [id for id, known in self._jobs.items() if known.state in ENDED][: -self._options.max_jobs]:
            del self._jobs[old]
        task = asyncio.get_running_loop().create_task(self._run(job, engine, items, cleanup))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def find(self, id: str, *, namespace: str) -> Job | None:
        """Return a job of a namespace; those of others are not there."""
        job = self._jobs.get(id)
        return job if job and job.namespace == namespace else None

    def count(self, namespace: str) -> int:
        """Return how many jobs of a namespace have not ended."""
        return sum(job.namespace == namespace and job.state not in ENDED for job in self._jobs.values())

    async def watch(self, job: Job) -> AsyncIterator[dict[str, Any] | None]:
        """Yield the job whenever it changes, until it has ended or the server stops; None where there is no news."""
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
        """Let jobs go on for the time the settings give them, then stop after the transaction under way."""
        self.closing.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._options.shutdown_seconds)
        self.is_stopping = True
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _has_room(self, size: int) -> bool:
        """Tell whether so many bytes may wait beside the others; those of one job alone always may."""
        waiting = [job.size for job in self._jobs.values() if job.state not in ENDED]
        fits = sum(waiting) + size <= WAITING * self._options.max_upload_bytes
        return not waiting or (fits and len(waiting) < self._options.max_jobs)

    async def _run(
        self, job: Job, engine: Engine, items: Iterator[Document | Skipped], cleanup: Callable[[], None]
    ) -> None:
        try:
            async with self._turn:
                job.state = "running"
                job.notice()
                job.end(await self._index(job, engine, items))
        except WeftError as error:
            job.end("failed", refusal(error))
        except Exception:  # an unexpected error fails the job, not the server
            logger.exception("job %s failed", job.id)
            job.end("failed", Refused(500, "failed", "the server failed", hint="its log has more"))
        finally:
            cleanup()

    async def _index(self, job: Job, engine: Engine, items: Iterator[Document | Skipped]) -> State:
        loop, size = asyncio.get_running_loop(), self._options.max_inline_documents

        def on_step(step: Step) -> None:
            loop.call_soon_threadsafe(job.step, step)

        while not self.is_stopping:
            batch = await self._threads.load(lambda: list(islice(items, size)))
            if not batch:
                return "done"
            receipt = await self._threads.store(partial(engine.add, batch, on_step=on_step))
            job.add(receipt)
        return "interrupted"
