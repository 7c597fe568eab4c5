"""Warm pool of parser processes, shared by the namespaces of a server."""

from __future__ import annotations

import logging
import shlex
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from weft.engine.parsing.parser_messages import Input, Recipe, to_request
from weft.engine.parsing.parser_process import MODULE, ParserProcess
from weft.errors import WeftError
from weft.index.plan import Prepared
from weft.load.file_reader import LoadError
from weft.processes.child import python_command
from weft.records import Skipped

logger = logging.getLogger(__name__)

MAX_DOCUMENTS_PER_PROCESS = 500
"""Requests after which a process is replaced, because parsers may leak memory."""

MAX_FAILED_STARTS = 3
"""Failed starts in a row after which requests fail."""


class ParserPool:
    """
    Parser processes: one is kept ready, others start on demand up to `size`. Threads share the pool.

    One namespace may use all processes but one, so that its slow documents do not block other namespaces.
    """

    def __init__(self, size: int, *, command: Sequence[str] | None = None, max_documents: int | None = None) -> None:
        self.size = size
        self.max_documents = max_documents or MAX_DOCUMENTS_PER_PROCESS
        """Requests after which a process is replaced."""
        self.max_per_namespace = max(1, size - 1)
        self._command = command or python_command(MODULE)
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._starting: set[ParserProcess] = set()
        self._live: set[ParserProcess] = set()
        """Processes that are ready, idle or in use."""
        self._idle: list[ParserProcess] = []
        self._pending_starts = 0
        self._failed_starts = 0
        """Failed starts in a row."""
        self._waiting = 0
        """Requests that wait for a process."""
        self._leased: Counter[str] = Counter()
        """Processes in use, by namespace."""

    def start(self) -> None:
        """Start the first process in the background."""
        with self._changed:
            if not self._live and not self._pending_starts:
                self._start_one()

    def prepare(self, item: Input, recipe: Recipe) -> Iterator[Prepared | Skipped]:
        """
        Yield the prepared documents of one input. A limit or a crash of the process gives a `Skipped`.

        Raises `InputError` for an invalid document, and `WeftError` if no process can be started.
        """
        request = to_request(item, recipe)
        process = self._lease(recipe.namespace)
        try:
            while not process.send(request):  # it ended while it was idle
                self._release(process, recipe.namespace)
                process = self._lease(recipe.namespace)
            yield from process.receive(cpu_seconds=recipe.load.max_cpu_seconds)
        except LoadError as error:
            if not self._ended.is_set():  # `close` kills processes whose results nobody waits for
                logger.warning("skipped %s: %s", item.source, error)
            yield Skipped(source=item.source, reason=error.reason, detail=error.detail)
        finally:
            self._release(process, recipe.namespace)

    @contextmanager
    def lease(self, namespace: str) -> Iterator[ParserProcess]:
        """Lend a process for several requests. Raises `WeftError` if no process can be started."""
        process = self._lease(namespace)
        try:
            yield process
        finally:
            self._release(process, namespace)

    def close(self) -> None:
        """Kill all processes, even while they parse. A second call does nothing."""
        with self._changed:
            self._ended.set()
            idle, self._idle = self._idle, []
            busy = [*self._starting, *(self._live - set(idle))]
            self._live.clear()
            self._changed.notify_all()
        for process in idle:
            process.close()
        for process in busy:  # the threads that read from them close their pipes
            process.kill()

    def __enter__(self) -> ParserPool:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lease(self, namespace: str) -> ParserProcess:
        """Return an idle process; wait until one is ready and the namespace may use it."""
        with self._changed:
            self._waiting += 1
            try:
                while True:
                    if self._ended.is_set():
                        raise WeftError(
                            "the parser processes are stopped", hint="send the document again after a restart"
                        )
                    if self._leased[namespace] < self.max_per_namespace:
                        if process := self._take_idle():
                            self._leased[namespace] += 1
                            return process
                        self._start_missing()
                    self._changed.wait()
            finally:
                self._waiting -= 1

    def _take_idle(self) -> ParserProcess | None:
        """Return the most recently used idle process; drop processes that have ended."""
        while self._idle:
            process = self._idle.pop()
            if process.is_alive():
                return process
            self._live.discard(process)
            process.close()
        return None

    def _start_missing(self) -> None:
        """Start a process for a waiting request if the pool is not full. Raises `WeftError` if starts keep failing."""
        if self._failed_starts >= MAX_FAILED_STARTS:
            self._failed_starts = 0
            raise WeftError(
                f"cannot start a parser process: {MAX_FAILED_STARTS} attempts failed",
                hint=f"run `{shlex.join(self._command)}` to see the reason",
            )
        if self._pending_starts < self._waiting and len(self._live) + self._pending_starts < self.size:
            self._start_one()

    def _release(self, process: ParserProcess, namespace: str) -> None:
        """Return a process to the pool. Close it instead if it is busy, replaced or dead."""
        with self._changed:
            self._leased[namespace] -= 1
            if not self._leased[namespace]:
                del self._leased[namespace]
            is_usable = not (process.is_busy or process.is_replaced or self._ended.is_set()) and process.is_alive()
            if is_usable:
                self._idle.append(process)
                if process.documents == self.max_documents:
                    self._start_one(replaces=process)  # it stays in use until the other one is ready
            else:
                self._live.discard(process)
                if not self._live and not self._pending_starts and not self._ended.is_set():
                    self._start_one()
            self._changed.notify_all()
        if not is_usable:
            process.close()

    def _start_one(self, replaces: ParserProcess | None = None) -> None:
        self._pending_starts += 1
        threading.Thread(target=self._run_start, args=(replaces,), name="weft-parser-start", daemon=True).start()

    def _run_start(self, replaces: ParserProcess | None) -> None:
        process: ParserProcess | None = None
        is_ready = False
        try:
            process = ParserProcess(self._command)
            with self._changed:
                self._starting.add(process)
                is_stopped = self._ended.is_set()
            is_ready = not is_stopped and process.wait_until_ready()
        except OSError as error:
            logger.warning("a parser process could not be started: %s", error)
        self._finish_start(process, is_ready=is_ready, replaces=replaces)

    def _finish_start(self, process: ParserProcess | None, *, is_ready: bool, replaces: ParserProcess | None) -> None:
        ended: list[ParserProcess] = []
        with self._changed:
            self._pending_starts -= 1
            if process:
                self._starting.discard(process)
            if process and is_ready and not self._ended.is_set():
                self._failed_starts = 0
                self._live.add(process)
                self._idle.append(process)
                if replaces:
                    replaces.is_replaced = True
                    if replaces in self._idle:
                        self._idle.remove(replaces)
                        self._live.discard(replaces)
                        ended.append(replaces)
            else:
                self._failed_starts += 1
                ended += [process] if process else []
            self._changed.notify_all()
        for item in ended:
            item.close()
