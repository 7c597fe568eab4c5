"""Indexing by workers, consumer side: claims jobs from the queue (`job_queue.py`) and indexes their documents."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.errors import ClaimLost, ConfigError, InputError, MissingExtra, ModelError, StoreError, StoreUnavailable
from weft.index.batch_writer import count_texts, group_size, is_full, make_batches
from weft.index.embedding_cost import Meter
from weft.index.job_queue import Components, read_payload
from weft.index.note_facts import FactReader
from weft.index.plan import Plan, Prepared, compare, described, make_plan
from weft.index.progress import Step
from weft.index.run import extract_group
from weft.load.file_reader import LoadError
from weft.records import DocumentInfo, Done, Job, JobResult, Usage

logger = logging.getLogger(__name__)

LEASE_S = 60.0
"""Lease of a claim. Other workers may claim the jobs of a worker that did not renew its lease for this time."""

MAX_ATTEMPTS = 3
"""Attempts before a job is marked as failed."""

JOBS_PER_CLAIM = 4
"""Jobs per claim. The number is small to leave jobs to other workers; a worker claims until one transaction is full."""

MIN_IDLE_S = 0.05
MAX_IDLE_S = 2.0
"""Delay before a worker without jobs polls again. The delay doubles from the minimum to the maximum."""

Until: TypeAlias = Literal["stopped", "empty", "once"]
"""End condition of a worker: a stop request, an empty queue, or one claim."""

_WORKER_ERRORS = (StoreError, ModelError, ConfigError, MissingExtra)
"""Errors that do not depend on the job. The worker releases its jobs and ends."""


@dataclass
class Tally:
    """Counts of one worker."""

    done: int = 0
    chunks: int = 0
    failed: int = 0
    """Failed attempts."""


class Worker:
    """
    Claims jobs of one namespace and indexes their documents.

    One transaction writes a document and finishes its job. Only the worker with the claim may commit it. If a worker
    dies, another worker takes its jobs, and no document is written twice.
    """

    def __init__(
        self,
        components: Components,
        *,
        name: str = "",
        lease: float = LEASE_S,
        on_step: Callable[[Step], None] = lambda step: None,
        prepare: Callable[[Job], Prepared] | None = None,
    ) -> None:
        """Create a worker. `prepare` parses the document of a job elsewhere; it raises `LoadError` at a limit."""
        self.name = name or uuid.uuid4().hex
        self.tally = Tally()
        self._components = components
        self._store = components.store
        self._recipe = components.recipe
        self._fact_reader: FactReader | None = None
        self._lease = lease
        self._on_step = on_step
        self._prepare = prepare

    def run(self, stop: threading.Event, *, until: Until = "stopped") -> Tally:
        """
        Index documents until the end condition; release jobs that were claimed but not started.

        `stop` ends the worker after the current transaction. With `until="stopped"` it waits for an unreachable store;
        otherwise it raises `StoreUnavailable`.
        """
        idle_s, has_claims, has_warned = MIN_IDLE_S, False, False
        with self._renew_lease():
            try:
                while not stop.is_set():
                    try:
                        if has_claims:
                            self._release()
                        has_claims = True
                        is_idle = not self._index_claimed(stop, once=until == "once")
                        has_claims = stop.is_set()
                        if is_idle and idle_s == MIN_IDLE_S:
                            self._store.finish_load()
                        if until == "once" or (is_idle and until == "empty" and self._is_empty()):
                            break
                        if is_idle and idle_s == MAX_IDLE_S and not has_warned:
                            has_warned = self._warn_about_other_recipes()
                    except StoreUnavailable as error:
                        if until != "stopped":
                            raise
                        logger.warning("waiting for the store: %s", error)
                        is_idle, idle_s = True, MAX_IDLE_S
                    if is_idle:
                        stop.wait(idle_s)
                    idle_s = min(idle_s * 2, MAX_IDLE_S) if is_idle else MIN_IDLE_S
            finally:
                if has_claims:
                    with suppress(StoreError):  # the jobs become free when the lease ends
                        self._release()
        return self.tally

    def _is_empty(self) -> bool:
        return not self._store.jobs.counts(recipe=self._recipe).open

    def _warn_about_other_recipes(self) -> bool:
        """Log a warning if waiting jobs need other settings than this worker has; return True if it was logged."""
        jobs = self._store.jobs
        waiting = jobs.counts().waiting - jobs.counts(recipe=self._recipe).waiting
        if waiting > 0:
            logger.warning("%d jobs wait for a worker with other settings", waiting)
        return waiting > 0

    def _release(self) -> None:
        self._store.jobs.release(self.name, counted=False)

    @contextmanager
    def _renew_lease(self) -> Iterator[None]:
        """Renew the lease in a thread while the block runs."""
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

    def _index_claimed(self, stop: threading.Event, *, once: bool) -> bool:
        """Claim jobs for one transaction and index their documents; return True if there were any."""
        self._fact_reader = self._components.fact_reader()
        group: list[tuple[Job, Plan]] = []
        count = 0
        while jobs := self._store.jobs.claim(
            self.name,
            recipe=self._recipe,
            limit=1 if once else JOBS_PER_CLAIM,
            lease=self._lease,
            attempts=MAX_ATTEMPTS,
        ):
            count += len(jobs)
            for job in jobs:
                if stop.is_set():
                    return True
                plan = self._plan(job)
                if plan is None:
                    continue
                if job.attempts > 1:  # one job at a time: it may have caused the earlier failure
                    self._write([(job, plan)])
                    continue
                group.append((job, plan))
                if is_full([plan for _, plan in group], size=group_size(self._components.embedder)):
                    self._write(group)
                    group = []
            if once or not group:
                break
        if group and not stop.is_set():
            self._write(group)
        return count > 0

    def _plan(self, job: Job) -> Plan | None:
        """Return the plan of a job. None if the job failed or was taken over, or if the document is unchanged."""
        try:
            plan = self._make_plan(job)
            if plan is None:
                self._store.write(done=Done(worker=self.name, results={job.id: JobResult(outcome="unchanged")}))
                self._report(job, JobResult(outcome="unchanged"))
            return plan
        except ClaimLost:
            return None
        except _WORKER_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001  an error in one document must not stop the others
            self._fail(job, error)
            return None

    def _make_plan(self, job: Job) -> Plan | None:
        """Return the plan of a job; None if the document is unchanged. Raises `InputError` for a wrong payload."""
        components = self._components
        if self._prepare:
            prepared = self._prepare(job)
            _check_hash(job, described(prepared))
            known = self._store.documents([described(prepared).id])
            compared = compare(prepared, known[0] if known else None, store=self._store)
            if compared is None:
                return None
            return extract_group([compared], components.extractor, self._fact_reader)[0]
        document = read_payload(job.payload, source=job.source)
        _check_hash(job, components.describe(document, self._fact_reader))
        return make_plan(
            document,
            store=self._store,
            options=components.options,
            extractor=components.extractor,
            fact_reader=self._fact_reader,
        )

    def _write(self, group: Sequence[tuple[Job, Plan]]) -> None:
        """Embed and write documents and finish their jobs: one transaction for each part of the namespace."""
        before = Meter.of(self._components.embedder)
        try:
            batches = make_batches([plan for _, plan in group], embedder=self._components.embedder)
            done = Meter.of(self._components.embedder) - before
            results = {
                job.id: JobResult(
                    outcome=plan.outcome,
                    chunks=len(plan.chunks),
                    embedded=count_texts(plan) if self._components.embedder else 0,
                    cached=done.cached if place == 0 else 0,  # measured per group, so counted once
                    facts=len(plan.facts),
                    embedding=done.usage if place == 0 else Usage(),
                )
                for place, (job, plan) in enumerate(group)
            }
            self._store.write(*batches, done=Done(worker=self.name, results=results))
        except Exception as error:  # noqa: BLE001  an error in one document must not stop the others
            self._write_one_by_one(group, error)
            return
        for job, _ in group:
            self._report(job, results[job.id])

    def _write_one_by_one(self, group: Sequence[tuple[Job, Plan]], error: Exception) -> None:
        """Write documents that could not be written together; a single one has failed."""
        if isinstance(error, _WORKER_ERRORS) and not isinstance(error, ClaimLost):
            raise error
        if len(group) > 1:
            for item in group:
                self._write([item])
        elif not isinstance(error, ClaimLost):
            self._fail(group[0][0], error)

    def _fail(self, job: Job, error: Exception) -> None:
        logger.warning("%s: %s", job.source, error, exc_info=logger.isEnabledFor(logging.DEBUG))
        self.tally.failed += 1
        is_final = isinstance(error, LoadError)  # it would exceed the same limit again
        text = str(error) if is_final else f"{type(error).__name__}: {error}"
        self._store.jobs.fail(self.name, job.id, text, attempts=1 if is_final else MAX_ATTEMPTS)

    def _report(self, job: Job, result: JobResult) -> None:
        self.tally.done += 1
        self.tally.chunks += result.chunks
        self._on_step(Step(source=job.source, chunks=result.chunks, outcome=result.outcome))


def _check_hash(job: Job, info: DocumentInfo) -> None:
    if (info.id, info.content_hash) != (job.id, job.content_hash):
        raise InputError(f"job {job.id!r} does not match its content hash", hint="index the document again")
