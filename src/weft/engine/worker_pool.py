"""Processes of this machine that share the work of one index run."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weft.config import Settings, flatten
from weft.errors import ConfigError, StoreUnavailable, WeftError
from weft.index.embedding_cost import is_paid
from weft.index.job_queue import Components, index_by_jobs
from weft.index.job_worker import LEASE_S, Tally, Until, Worker
from weft.index.run import Step
from weft.models.base import Embedder, Loadable
from weft.models.local.embedder import usable_cores
from weft.records import Document, Receipt, Skipped
from weft.store.base import Store

if TYPE_CHECKING:
    from weft.engine.engine import Engine

logger = logging.getLogger(__name__)

MAX_WORKERS = 64

DEATHS = 3
"""How often each place in a pool is filled again."""

EVERY_S = 1.0
"""How often to look whether there are jobs, before there ever was one."""

PATIENCE_S = 60.0
"""How long a worker may take to end after a shutdown."""


def index_with_workers(
    items: Iterable[Document | Skipped],
    components: Components,
    settings: Settings,
    *,
    size: int,
    given: bool,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Index documents by processes, which start when there is something to do.

    `given`: whether the embedder is an object of the caller, which other processes cannot have.
    """
    if not 0 <= size <= MAX_WORKERS:
        raise ConfigError(f"{size} is no number of workers", hint=f"give one from 0 to {MAX_WORKERS}")
    refuse_llm(settings)
    refuse_bound(settings, components.embedder)
    if settings.store.db == ":memory:":
        raise ConfigError("a store in memory has no workers", hint="open a file or a server, or use one worker")
    if given and size:
        raise ConfigError("workers cannot share an embedder that is an object", hint="name it as in the settings")
    pool = ProcessPool(components, settings, size=size)
    try:
        return index_by_jobs(items, components, pool=pool, on_step=on_step)
    finally:
        pool.shut_down()


def refuse_llm(settings: Settings) -> None:
    """Raise `ConfigError` where documents are read by a language model: its bounds are those of one process."""
    if settings.graph.extractor == "llm":
        raise ConfigError(
            "workers do not ask a language model", hint="use one worker; llm.parallel asks several at once"
        )


def refuse_bound(settings: Settings, embedder: Embedder | None) -> None:
    """Raise `ConfigError` where what an embedder may cost is bounded: that bound is one of one process, too."""
    if settings.models.max_cost and is_paid(embedder):
        raise ConfigError(
            "workers do not share models.max_cost, which bounds one process", hint="use one worker, or no bound"
        )


@dataclass
class _Place:
    """A worker and the process it runs in."""

    name: str
    process: subprocess.Popen[str]


class ProcessPool:
    """
    Worker processes that end with this one.

    Each is told its settings through a pipe, and works until the pipe is closed: also by the end of this process,
    however that comes. The cores are divided among them; what a text's vector is does not depend on it.
    """

    def __init__(self, components: Components, settings: Settings, *, size: int) -> None:
        self._components = components
        self._size = size
        self._places: list[_Place] = []
        self._started = False
        self._deaths = 0
        self._ended = 0
        """Workers that ended on purpose."""
        threads = settings.models.threads or max(1, usable_cores() // max(1, size))
        shared = replace(settings, models=replace(settings.models, threads=threads))
        self._values = flatten(shared)
        if "models.embedder" not in settings.origins:
            del self._values["models.embedder"]  # the namespace has one by now

    def maintain(self, jobs: int) -> None:
        """Start as many workers as there are jobs for; give back the jobs of one that died, and replace it."""
        for place in [place for place in self._places if place.process.poll() is not None]:
            self._bury(place)
        if not self._started and self._size:
            self._started = True
            embedder: object = self._components.embedder
            if isinstance(embedder, Loadable):
                embedder.load()  # fetched once, and said once where it cannot be
        while len(self._places) < min(self._size - self._ended, jobs):
            self._places.append(self._start())

    def shut_down(self) -> None:
        """Let workers end after what they are at, and wait for them. Calling it twice is harmless."""
        places, self._places = self._places, []
        for place in places:
            _close(place)
        try:
            for place in places:
                place.process.wait(PATIENCE_S)
        except BaseException as error:
            for place in places:
                place.process.kill()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        finally:
            for place in places:
                place.process.wait()
                assert place.process.stdout
                place.process.stdout.close()

    def _start(self) -> _Place:
        name = uuid.uuid4().hex
        process = subprocess.Popen(
            [sys.executable, "-m", "weft.engine.worker_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for us; we tell them
        )
        place = _Place(name, process)
        assert process.stdin
        try:
            process.stdin.write(json.dumps({"name": name, "settings": self._values}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            logger.debug("a worker ended before it began")  # `maintain` sees that it is gone
        return place

    def _bury(self, place: _Place) -> None:
        """Give back what a worker had that is no more. Raises where there is no use in another one."""
        self._places.remove(place)
        _close(place)
        assert place.process.stdout
        with place.process.stdout as output:
            said = output.read()
        self._components.store.jobs.release(place.name, counted=not said)
        code = place.process.returncode
        if said:  # it ended on purpose, and so would another one
            self._ended += 1
            error = WeftError(json.loads(said)["error"], hint=json.loads(said)["hint"])
            if self._ended >= self._size:
                raise error
            logger.warning("a worker ended, the others go on: %s", error)
            return
        self._deaths += 1
        logger.warning("a worker died (exit code %d); its jobs are done by others", code)
        if self._deaths > DEATHS * self._size:
            raise WeftError(
                f"workers die again and again, the last one with exit code {code}",
                hint="there may be too little memory: try fewer workers",
            )


def work(
    engine: Engine,
    stop: threading.Event,
    *,
    until: Until = "stopped",
    name: str = "",
    lease: float = LEASE_S,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Tally:
    """
    Do the jobs of the engine's namespace.

    It begins when there is one: only then is it settled which embedder the namespace has; workers have no say in it.
    """
    refuse_llm(engine.settings)
    while not _has_jobs(engine.store, until=until):
        if until != "stopped" or stop.wait(EVERY_S):
            return Tally()
    components = engine.components(joining=True)
    refuse_bound(engine.settings, components.embedder)
    return Worker(components, name=name, lease=lease, on_step=on_step).run(stop, until=until)


def _has_jobs(store: Store, *, until: Until) -> bool:
    try:
        return store.jobs.counts().open > 0
    except StoreUnavailable as error:
        if until != "stopped":
            raise
        logger.warning("waiting for the store: %s", error)
        return False


def _close(place: _Place) -> None:
    assert place.process.stdin
    try:
        place.process.stdin.close()
    except BrokenPipeError:
        logger.debug("a worker was gone already")
