"""Job queue of one namespace in a relational database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from weft.errors import ClaimLost
from weft.records import Done, Job, JobCounts, JobResult, Usage
from weft.store.relational.json_columns import read_object, unreadable
from weft.store.relational.session import Connections, Namespace, Session, make_namespace
from weft.store.shared.job_rules import RESULT_RETENTION_S, WORKER_DIED, storable_error

STATES = frozenset(field.name for field in fields(JobCounts))
MAX_ABANDONED_JOBS = 1000
"""Maximum number of jobs without attempts left that one call marks as failed."""


class RelationalJobs:
    """
    The jobs of one namespace.

    Calls that may change other workers' jobs lock the namespace; all others skip rows that are locked.
    """

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace

    def enqueue(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        with self._connections.write(self._name) as db:
            namespace = make_namespace(db, self._name)
            for job in jobs:
                key = {"namespace": namespace, "id": job.id, "run": job.run, "recipe": job.recipe}
                key["content_hash"] = job.content_hash
                db.run("adopt_job", key)
                if not db.changes():
                    db.run("write_job", {**key, "source": job.source, "payload": job.payload})
            expired = db.run("expired_jobs", {"namespace": namespace, "at": db.one("read_clock")})
            _change(db, "delete_jobs", namespace, [id for (id,) in expired])

    def claim(self, worker: str, *, recipe: str, limit: int, lease: float, attempts: int) -> list[Job]:
        with self._connections.write(self._name, turn=None) as db:
            namespace, at = db.namespace_key(self._name), db.one("read_clock")
            free = {"namespace": namespace, "recipe": recipe, "at": at}
            rows = db.run("pick_jobs", {**free, "lowest": 0, "highest": 0, "limit": limit})
            rows = rows or db.run("pick_jobs", {**free, "lowest": 1, "highest": attempts - 1, "limit": 1})
            if not rows:
                abandoned = db.run(
                    "pick_jobs", {**free, "lowest": attempts, "highest": 1 << 30, "limit": MAX_ABANDONED_JOBS}
                )
                _change(db, "give_up_jobs", namespace, [id for id, *_ in abandoned], error=WORKER_DIED)
                return []
            _change(db, "claim_jobs", namespace, [id for id, *_ in rows], worker=worker, expires=at + lease)
        return [_job(key, payload=text, attempts=begun + 1, error=error) for *key, text, begun, error in rows]

    def renew(self, worker: str, *, lease: float) -> None:
        with self._connections.write(self._name, turn=None) as db:
            namespace = db.namespace_key(self._name)
            _change(db, "renew_jobs", namespace, _claimed(db, namespace, worker), expires=db.one("read_clock") + lease)

    def fail(self, worker: str, id: str, error: str, *, attempts: int) -> None:
        with self._connections.write(self._name, turn=None) as db:
            values = {"worker": worker, "id": id, "error": storable_error(error), "attempts": attempts}
            db.run("fail_job", {"namespace": db.namespace_key(self._name), **values})

    def release(self, worker: str, *, counted: bool) -> int:
        with self._connections.write(self._name, turn=None) as db:
            namespace = db.namespace_key(self._name)
            return _change(db, "release_jobs", namespace, _claimed(db, namespace, worker), back=0 if counted else 1)

    def withdraw(self, run: str) -> int:
        with self._connections.write(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "run": run}
            db.run("withdraw_jobs", {**values, "state": "done"})
            db.run("withdraw_jobs", {**values, "state": "waiting"})
            return db.changes()

    def collect(self, run: str, *, limit: int) -> list[Job]:
        with self._connections.write(self._name, turn=None) as db:
            namespace = db.namespace_key(self._name)
            rows = db.run("done_jobs", {"namespace": namespace, "run": run, "limit": limit})
            found = [_job(key, attempts=begun, result=parse_result(result)) for *key, begun, result in rows]
            _change(db, "delete_jobs", namespace, [job.id for job in found])
        return found

    def failed(self, run: str = "", *, limit: int) -> list[Job]:
        with self._connections.write(self._name, turn=None) as db:
            values = {"namespace": db.namespace_key(self._name), "run": run, "limit": limit}
            rows = db.run("failed_jobs", values)
        return [_job(key, attempts=begun, error=error) for *key, begun, error in rows]

    def counts(self, run: str = "", *, recipe: str = "") -> JobCounts:
        with self._connections.write(self._name, turn=None) as db:  # a replica may miss recent writes
            values = {"namespace": db.namespace_key(self._name), "run": run, "recipe": recipe}
            return JobCounts(**{state: count for state, count in db.run("count_jobs", values) if state in STATES})


def finish_jobs(db: Session, namespace: Namespace, done: Done) -> None:
    """Finish jobs in the transaction that writes their documents. Raises `ClaimLost`."""
    expires = db.one("read_clock") + RESULT_RETENTION_S
    for id, result in done.results.items():
        values = {"id": id, "worker": done.worker, "expires": expires, "result": json.dumps(asdict(result))}
        db.run("finish_job", {"namespace": namespace, **values})
        if not db.changes():
            raise ClaimLost(f"job {id!r} was taken over by another worker")


def discard_jobs(db: Session, namespace: Namespace, ids: Sequence[str]) -> None:
    """Delete the unfinished jobs of documents that this transaction writes or deletes."""
    if ids:
        db.run("discard_jobs", {"namespace": namespace, "ids": json.dumps(list(ids))})


def _job(key: Sequence[str], **values: Any) -> Job:
    """Return a job; `key` are the five columns that every statement returns first."""
    id, run, source, content_hash, recipe = key
    return Job(id=id, run=run, source=source, content_hash=content_hash, recipe=recipe, **values)


def parse_result(text: str) -> JobResult:
    """Return the job result in a column. Raises `StoreCorrupt`."""
    what = "the result of a job"
    values = read_object(text, what=what)
    try:
        return JobResult(**{**values, "embedding": Usage(**values.get("embedding", {}))})
    except TypeError as error:
        raise unreadable(what) from error


def _claimed(db: Session, namespace: Namespace, worker: str) -> list[str]:
    return [id for (id,) in db.run("held_jobs", {"namespace": namespace, "worker": worker})]


def _change(db: Session, name: str, namespace: Namespace, ids: Sequence[str], **values: Any) -> int:
    """Run a statement on the jobs with these ids; return their number."""
    if ids:
        db.run(name, {"namespace": namespace, "ids": json.dumps(list(ids)), **values})
    return len(ids)
