"""Pool of worker processes on this machine that share one index run."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from weft.config import Settings, flatten
from weft.errors import ConfigError, WeftError
from weft.index.embedding_cost import is_paid
from weft.index.job_queue import Components, index_by_jobs
from weft.index.progress import Step
from weft.models.base import Embedder, Loadable
from weft.processes.child import python_command
from weft.processes.child_process import ChildFailure, ChildProcess
from weft.records import Document, Receipt, Skipped
from weft.system.cores import usable_cores
from weft.text.plurals import counted

logger = logging.getLogger(__name__)

MAX_WORKERS = 64

MAX_DEATHS_PER_WORKER = 3
"""Maximum number of restarts per worker before the run fails."""

MAX_SHUTDOWN_SECONDS = 60.0
"""Maximum time for a worker to end after a shutdown; after that it is killed."""


def index_with_workers(
    items: Iterable[Document | Skipped],
    components: Components,
    settings: Settings,
    *,
    size: int,
    is_custom: bool,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Index documents with `size` processes, which start with the first job.

    `is_custom` is True for an embedder object of the caller, which other processes cannot open.
    """
    if not 0 <= size <= MAX_WORKERS:
        raise ConfigError(f"invalid number of workers: {size}", hint=f"use a whole number from 0 to {MAX_WORKERS}")
    check_no_llm(settings)
    check_no_cost_limit(settings, components.embedder)
    if settings.store.db == ":memory:":
        raise ConfigError(
            "workers cannot share a store in memory", hint="set --db to a file or a server, or pass --workers 1"
        )
    if is_custom and size:
        raise ConfigError(
            "workers cannot share an embedder object", hint="pass the name of the embedder, or set models.embedder"
        )
    pool = ProcessPool(components, settings, size=size)
    try:
        return index_by_jobs(items, components, pool=pool, on_step=on_step)
    finally:
        pool.shut_down()


def check_no_llm(settings: Settings) -> None:
    """Raise `ConfigError` if the extractor is a language model, because its limits apply to one process only."""
    if settings.graph.extractor == "llm":
        raise ConfigError(
            "workers cannot use a language model", hint="pass --workers 1; set llm.parallel to send concurrent requests"
        )


def check_no_cost_limit(settings: Settings, embedder: Embedder | None) -> None:
    """Raise `ConfigError` if the cost of a remote embedder is limited: the limit applies to one process only."""
    if settings.models.max_cost and is_paid(embedder):
        raise ConfigError(
            "models.max_cost limits one process and is not shared by workers",
            hint="pass --workers 1, or remove models.max_cost",
        )


@dataclass
class _WorkerProcess:
    """A worker by name, and its process."""

    name: str
    process: ChildProcess


class ProcessPool:
    """
    Worker processes that end with this process.

    Each worker receives its settings and works until it is asked to end, or this process ends. The cores are divided
    among the workers; vectors do not depend on the number of threads.
    """

    def __init__(self, components: Components, settings: Settings, *, size: int) -> None:
        self._components = components
        self._size = size
        self._workers: list[_WorkerProcess] = []
        self._started = False
        self._deaths = 0
        self._gave_up = 0
        """Number of workers that ended with an error."""
        threads = settings.models.threads or max(1, usable_cores() // max(1, size))
        shared = replace(settings, models=replace(settings.models, threads=threads))
        self._values = flatten(shared)
        if "models.embedder" not in settings.origins:
            del self._values["models.embedder"]  # workers open the embedder of the namespace

    def maintain(self, jobs: int) -> None:
        """Start missing workers, at most one per job. Release the jobs of dead workers and restart these workers."""
        for worker in [worker for worker in self._workers if not worker.process.is_alive()]:
            self._remove(worker)
        if not self._started and self._size:
            self._started = True
            embedder: object = self._components.embedder
            if isinstance(embedder, Loadable):
                embedder.load()  # downloads the weights once; an error is raised here instead of in each worker
        while len(self._workers) < min(self._size - self._gave_up, jobs):
            self._workers.append(self._start())

    def shut_down(self) -> None:
        """Stop the workers after their current job, and wait for them. A second call does nothing."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.process.ask_to_end()
        end = time.monotonic() + MAX_SHUTDOWN_SECONDS
        try:
            for worker in workers:
                worker.process.close(seconds=max(end - time.monotonic(), 0.0))
        finally:
            for worker in workers:
                worker.process.close()

    def _start(self) -> _WorkerProcess:
        name = uuid.uuid4().hex
        folder = Path.cwd()  # the paths of the settings are relative to it
        process = ChildProcess(python_command("weft.engine.worker_process"), folder=folder, shows_errors=True)
        with suppress(ChildFailure):  # `maintain` restarts it
            process.send({"name": name, "settings": self._values})
        return _WorkerProcess(name, process)

    def _remove(self, worker: _WorkerProcess) -> None:
        """Release the jobs of an ended worker. Raises `WeftError` if all workers gave up or too many died."""
        self._workers.remove(worker)
        error = _read_error(worker.process)
        worker.process.close()
        self._components.store.jobs.release(worker.name, counted=error is None)
        if error:  # other workers would raise the same error
            self._gave_up += 1
            if self._gave_up >= self._size:
                raise error
            logger.warning("a worker ended with an error, the others continue: %s", error)
            return
        self._deaths += 1
        code = worker.process.exit_code
        logger.warning("a worker died (exit code %d); other workers take its jobs", code)
        if self._deaths > MAX_DEATHS_PER_WORKER * self._size:
            raise WeftError(
                f"workers died {counted(self._deaths, 'time')}, the last one with exit code {code}",
                hint="reduce --workers if memory is short",
            )


def _read_error(process: ChildProcess) -> WeftError | None:
    """Return the error that an ended worker has reported, if any."""
    with suppress(ChildFailure):
        match process.receive():
            case ["error", str(text), str(hint)]:
                return WeftError(text, hint=hint)
    return None
