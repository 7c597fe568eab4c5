"""In-memory job queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from weft.errors import ClaimLost
from weft.records import Done, Job, JobCounts
from weft.store.shared.job_rules import RESULT_RETENTION_S, WORKER_DIED, storable_error


@dataclass
class JobRow:
    """A job, its state and its claim."""

    job: Job
    state: str = "waiting"
    worker: str = ""
    expires: float = 0.0


class MemoryJobs:
    """Job queue of one namespace in memory."""

    def __init__(self, rows: dict[str, JobRow]) -> None:
        self._rows = rows

    def enqueue(self, jobs: Sequence[Job]) -> None:
        now = time.time()
        self._remove(lambda row: row.state == "done" and row.expires <= now)
        for job in jobs:
            known = self._rows.get(job.id)
            wanted = (job.content_hash, job.recipe)
            if known and known.state == "running" and (known.job.content_hash, known.job.recipe) == wanted:
                known.job = replace(known.job, run=job.run)
            else:
                self._rows[job.id] = JobRow(replace(job, attempts=0, error="", result=None))

    def claim(self, worker: str, *, recipe: str, limit: int, lease: float, attempts: int) -> list[Job]:
        now = time.time()
        free = [row for row in self._rows.values() if row.job.recipe == recipe and _is_free(row, now)]
        free.sort(key=lambda row: (row.job.attempts, row.job.id))
        fresh = [row for row in free if row.job.attempts == 0][:limit]
        rows = fresh or [row for row in free if row.job.attempts < attempts][:1]
        for row in rows:
            row.job = replace(row.job, attempts=row.job.attempts + 1)
            row.state, row.worker, row.expires = "running", worker, now + lease
        if not rows:
            for row in free:
                row.job = replace(row.job, error=row.job.error or WORKER_DIED)
                row.state, row.worker = "failed", ""
        return [row.job for row in rows]

    def renew(self, worker: str, *, lease: float) -> None:
        for row in self._claimed(worker):
            row.expires = time.time() + lease

    def fail(self, worker: str, id: str, error: str, *, attempts: int) -> None:
        for row in self._claimed(worker):
            if row.job.id == id:
                row.state, row.worker = "failed" if row.job.attempts >= attempts else "waiting", ""
                row.job = replace(row.job, error=storable_error(error))

    def release(self, worker: str, *, counted: bool) -> int:
        claimed = self._claimed(worker)
        for row in claimed:
            row.state, row.worker = "waiting", ""
            row.job = replace(row.job, attempts=row.job.attempts - (not counted))
        return len(claimed)

    def withdraw(self, run: str) -> int:
        self._remove(lambda row: row.state == "done" and row.job.run == run)
        return self._remove(lambda row: row.state == "waiting" and row.job.run == run)

    def collect(self, run: str, *, limit: int) -> list[Job]:
        done = sorted(id for id, row in self._rows.items() if row.state == "done" and row.job.run == run)
        return [self._rows.pop(id).job for id in done[:limit]]

    def failed(self, run: str = "", *, limit: int) -> list[Job]:
        found = [row.job for row in self._rows.values() if row.state == "failed" and run in ("", row.job.run)]
        return [replace(job, payload="") for job in sorted(found, key=lambda job: job.source)[:limit]]

    def counts(self, run: str = "", *, recipe: str = "") -> JobCounts:
        found = [row for row in self._rows.values() if run in ("", row.job.run) and recipe in ("", row.job.recipe)]
        states = [row.state for row in found]
        return JobCounts(**{state: states.count(state) for state in states})

    def finish(self, done: Done) -> None:
        """Finish jobs. Raises `ClaimLost` unless the worker has claimed all of them."""
        claimed = {row.job.id: row for row in self._claimed(done.worker)}
        for id in done.results:
            if id not in claimed:
                raise ClaimLost(f"job {id!r} was taken over by another worker")
        for id, result in done.results.items():
            row = claimed[id]
            row.state, row.worker, row.expires = "done", "", time.time() + RESULT_RETENTION_S
            row.job = replace(row.job, payload="", error="", result=result)

    def discard(self, ids: Sequence[str]) -> None:
        """Delete the unfinished jobs of documents that are written."""
        self._remove(lambda row: row.state != "done" and row.job.id in ids)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete all jobs of documents that are deleted."""
        self._remove(lambda row: row.job.id in ids)

    def _claimed(self, worker: str) -> list[JobRow]:
        return [row for row in self._rows.values() if row.state == "running" and row.worker == worker]

    def _remove(self, is_deleted: Callable[[JobRow], bool]) -> int:
        deleted = [id for id, row in self._rows.items() if is_deleted(row)]
        for id in deleted:
            del self._rows[id]
        return len(deleted)


def _is_free(row: JobRow, now: float) -> bool:
    return row.state == "waiting" or (row.state == "running" and row.expires <= now)
