"""Worker that indexes queued documents: the loop, and the process that `worker_pool.py` starts."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.parsing.parser_messages import PayloadInput
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.worker_pool import check_no_cost_limit, check_no_llm
from weft.errors import StoreUnavailable, WeftError
from weft.index.job_worker import LEASE_S, Tally, Until, Worker
from weft.index.plan import Prepared
from weft.index.progress import Step
from weft.load.file_reader import LoadError
from weft.processes.parent_connection import ParentConnection
from weft.records import Job, Skipped
from weft.store.base import Store

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
"""Time between two polls for the first job."""


def work(
    engine: Engine,
    stop: threading.Event,
    *,
    until: Until = "stopped",
    name: str = "",
    lease: float = LEASE_S,
    on_step: Callable[[Step], None] = lambda step: None,
    parsers: ParserPool | None = None,
) -> Tally:
    """
    Process the jobs of the engine's namespace until `stop` is set or the end condition `until` is met.

    `parsers` parse the documents, if given. The embedder is opened with the first job, because the run that queued the
    job has chosen the embedder.
    """
    check_no_llm(engine.settings)
    logger.info("ready for the jobs of namespace %r", engine.store.namespace)
    while not _has_jobs(engine.store, until=until):
        if until != "stopped" or stop.wait(POLL_SECONDS):
            return Tally()
    components = engine.indexing.components(joining=True)
    check_no_cost_limit(engine.settings, components.embedder)
    prepare = partial(_prepare, engine, parsers) if parsers else None
    return Worker(components, name=name, lease=lease, on_step=on_step, prepare=prepare).run(stop, until=until)


def _prepare(engine: Engine, parsers: ParserPool, job: Job) -> Prepared:
    """Return the parsed document of a job. Raises `LoadError` if it exceeds a limit."""
    (found,) = engine.indexing.prepare([PayloadInput(source=job.source, payload=job.payload)], parsers=parsers)
    if isinstance(found, Skipped):
        raise LoadError(found.reason, found.detail)
    return found


def main() -> int:
    """Work until the parent ends or asks this process to end. A `WeftError` is sent to the parent."""
    parent = ParentConnection()
    order = parent.receive()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    parent.on_end(stop.set)
    try:
        with Engine(read_settings(order["settings"])) as engine:
            work(engine, stop, name=order["name"])
    except WeftError as error:
        parent.send(["error", str(error), error.hint])
        return 1
    return 0


def _has_jobs(store: Store, *, until: Until) -> bool:
    try:
        return store.jobs.counts().open > 0
    except StoreUnavailable as error:
        if until != "stopped":
            raise
        logger.warning("waiting for the store: %s", error)
        return False


if __name__ == "__main__":
    sys.exit(main())
