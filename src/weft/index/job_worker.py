"""The write path in two halves: this one indexes the documents that `jobs.py` hands out."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.errors import ClaimLost, ConfigError, InputError, MissingExtra, ModelError, StoreError, StoreUnavailable
from weft.index.embedding_cost import Meter
from weft.index.job_queue import Components, read_payload
from weft.index.note_facts import FactReader
from weft.index.plan import Plan, make_plan
from weft.index.run import Step, count_texts, is_full, make_batches
from weft.records import Done, Job, JobResult, Usage

logger = logging.getLogger(__name__)

LEASE_S = 60.0
"""How long a worker may be silent before others take over what it has."""

ATTEMPTS = 3
"""How often a job is begun before it is failed."""

CLAIMED = 4
"""Jobs a worker takes at once, until they fill a transaction: few, so that others get some too."""

IDLE_S = (0.05, 2.0)
"""How long a worker without jobs waits before it looks again: at first, and at most."""

Until: TypeAlias = Literal["stopped", "empty", "once"]
"""When a worker ends: when it is told to, when there are no jobs left, or after one job."""

_NOT_THE_JOB = (StoreError, ModelError, ConfigError, MissingExtra)
"""Errors that would meet any job: the worker gives back what it has, and ends."""


@dataclass
class Tally:
    """What a worker did."""

    done: int = 0
    chunks: int = 0
    failed: int = 0
    """Attempts that went wrong."""


class Worker:
    """
    Claims jobs of one namespace and indexes their documents.

    Writing a document and finishing its job are one transaction, and only who still has the job may do it: whenever a
    worker dies, its jobs are done by another one, and none is done twice.
    """

    def __init__(
        self,
        components: Components,
        *,
        name: str = "",
        lease: float = LEASE_S,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> None:
        self.name = name or uuid.uuid4().hex
        self.tally = Tally()
        self._components = components
        self._store = components.store
        self._recipe = components.recipe
        self._fact_reader: FactReader | None = None
        self._lease = lease
        self._on_step = on_step

    def run(self, stop: threading.Event, *, until: Until = "stopped") -> Tally:
        """
        Index until it is time to end; what was claimed and not begun is given back.

        `stop` ends it after the transaction under way. Where it ends only when stopped, a store that cannot be reached
        is waited for.
        """
        idle, has_left, has_warned = IDLE_S[0], False, False
        with self._renewing():
            try:
                while not stop.is_set():
                    try:
                        if has_left:
                            self._give_back()
                        has_left = True
                        is_idle = not self._perform_some(stop, once=until == "once")
                        has_left = stop.is_set()
                        if until == "once" or (is_idle and until == "empty" and self._is_empty()):
                            break
                        if is_idle and idle == IDLE_S[1] and not has_warned:
                            has_warned = self._warn_of_others()
                    except StoreUnavailable as error:
                        if until != "stopped":
                            raise
                        logger.warning("waiting for the store: %s", error)
                        is_idle, idle = True, IDLE_S[1]
                    if is_idle:
                        stop.wait(idle)
                    idle = min(idle * 2, IDLE_S[1]) if is_idle else IDLE_S[0]
            finally:
                if has_left:
                    with suppress(StoreError):  # others take over when the lease ends
                        self._give_back()
        return self.tally

    def _is_empty(self) -> bool:
        return not self._store.jobs.counts(recipe=self._recipe).open

    def _warn_of_others(self) -> bool:
        """Say that there are jobs which this worker must leave alone; return whether there are."""
        jobs = self._store.jobs
        waiting = jobs.counts().waiting - jobs.counts(recipe=self._recipe).waiting
        if waiting > 0:
            logger.warning("%d jobs wait for a worker with other settings", waiting)
        return waiting > 0

    def _give_back(self) -> None:
        self._store.jobs.release(self.name, counted=False)

    @contextmanager
    def _renewing(self) -> Iterator[None]:
        """Let others know that this worker lives, as long as it does."""
        ended = threading.Event()

        def renew() -> None:
            while not ended.wait(self._lease / 4):
                try:
                    self._store.jobs.renew(self.name, lease=self._lease)
                except StoreError as error:
                    logger.warning("could not renew the lease: %s", error)

        thread = threading.Thread(target=renew, name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _perform_some(self, stop: threading.Event, *, once: bool) -> bool:
        """Claim jobs and index their documents, up to one transaction; return whether there were any."""
        self._fact_reader = self._components.fact_reader()
        group: list[tuple[Job, Plan]] = []
        count = 0
        while jobs := self._store.jobs.claim(
            self.name, recipe=self._recipe, limit=1 if once else CLAIMED, lease=self._lease, attempts=ATTEMPTS
        ):
            count += len(jobs)
            for job in jobs:
                if stop.is_set():
                    return True
                plan = self._plan(job)
                if plan is None:
                    continue
                if job.attempts > 1:  # alone, for it may be what went wrong
                    self._write([(job, plan)])
                    continue
                group.append((job, plan))
                if is_full([plan for _, plan in group]):
                    self._write(group)
                    group = []
            if once or not group:
                break
        if group and not stop.is_set():
            self._write(group)
        return count > 0

    def _plan(self, job: Job) -> Plan | None:
        """Return what has to be written for a job; None where nothing is left to do for it."""
        try:
            components, document = self._components, read_payload(job)
            info = components.describe(document, self._fact_reader)
            if (info.id, info.content_hash) != (job.id, job.content_hash):
                raise InputError("the document is not what was asked for")
            plan = make_plan(
                document,
                store=self._store,
                options=components.options,
                extractor=components.extractor,
                fact_reader=self._fact_reader,
            )
            if plan is None:
                self._store.write(done=Done(worker=self.name, results={job.id: JobResult(outcome="unchanged")}))
                self._note(job, JobResult(outcome="unchanged"))
            return plan
        except ClaimLost:
            return None
        except _NOT_THE_JOB:
            raise
        except Exception as error:  # noqa: BLE001  whatever is wrong with one document, the others go on
            self._fail(job, error)
            return None

    def _write(self, group: Sequence[tuple[Job, Plan]]) -> None:
        """Embed and write documents and finish their jobs, all or none; where that cannot be, one by one."""
        before = Meter.of(self._components.embedder)
        try:
            batches = make_batches([plan for _, plan in group], embedder=self._components.embedder)
            done = Meter.of(self._components.embedder) - before
            results = {
                job.id: JobResult(
                    outcome="added" if plan.is_new else "changed",
                    chunks=len(plan.chunks),
                    embedded=count_texts(plan) if self._components.embedder else 0,
                    cached=done.cached if place == 0 else 0,  # of the whole group
                    facts=len(plan.facts),
                    embedding=done.usage if place == 0 else Usage(),
                )
                for place, (job, plan) in enumerate(group)
            }
            self._store.write(*batches, done=Done(worker=self.name, results=results))
        except Exception as error:
            if isinstance(error, _NOT_THE_JOB) and not isinstance(error, ClaimLost):
                raise
            if len(group) > 1:
                for item in group:
                    self._write([item])
            elif not isinstance(error, ClaimLost):
                self._fail(group[0][0], error)
            return
        for job, _ in group:
            self._note(job, results[job.id])

    def _fail(self, job: Job, error: Exception) -> None:
        logger.warning("%s: %s", job.source, error, exc_info=logger.isEnabledFor(logging.DEBUG))
        self.tally.failed += 1
        text = f"{type(error).__name__}: {error}"
        self._store.jobs.fail(self.name, job.id, text, attempts=ATTEMPTS)

    def _note(self, job: Job, result: JobResult) -> None:
        self.tally.done += 1
        self.tally.chunks += result.chunks
        self._on_step(Step(source=job.source, chunks=result.chunks, outcome=result.outcome))
