"""One parser process, seen from its parent: start, requests, deadline, end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from weft.engine.parsing.parser_messages import (
    CPU_SECONDS_PER_MILLION_CHARACTERS,
    MAX_OUTPUT_BYTES,
    PreparedReader,
    read_skipped,
)
from weft.errors import InputError
from weft.index.plan import Prepared
from weft.load.file_reader import LoadError
from weft.processes.child import clean_environment, python_command
from weft.processes.child_process import ChildFailure, ChildProcess
from weft.processes.framing import MAX_MESSAGE_BYTES
from weft.processes.limits import HAS_CPU_LIMIT
from weft.processes.parent_connection import BUFFER_BYTES
from weft.records import Skipped

MODULE = "weft.engine.parsing.parser_main"

PASSED_VARIABLES = frozenset(
    "DYLD_LIBRARY_PATH HOME LANG LC_ALL LC_CTYPE LD_LIBRARY_PATH PATH SYSTEMROOT TEMP TMP TMPDIR VIRTUAL_ENV".split()
)
"""Environment of a parser process: no API key, no address of a store."""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""Further threads would reserve address space, which is limited."""

MAX_START_SECONDS = 60.0
WALL_FACTOR = 10 if HAS_CPU_LIMIT else 1
"""Wall-clock limit between two messages, in multiples of the CPU limit; it allows for a busy machine."""
MIN_WALL_SECONDS = 60.0 if HAS_CPU_LIMIT else 0.0
"""Least wall-clock limit."""

INVALID = "sent an invalid message"

A = TypeVar("A")
B = TypeVar("B")


class ParserProcess:
    """A child process that parses one document at a time. One thread uses it; any thread may kill it."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self.documents = 0
        """Requests answered."""
        self.is_busy = False
        """True if a request has no complete answer yet."""
        self.is_replaced = False
        """True if another process took its place."""
        passed = {name: value for name, value in clean_environment().items() if name in PASSED_VARIABLES}
        self._child = ChildProcess(
            command or python_command(MODULE), environment=passed | ONE_THREAD, buffer_bytes=BUFFER_BYTES
        )

    def wait_until_ready(self) -> bool:
        """Return True if the process has started."""
        try:
            return bool(self._child.receive(seconds=MAX_START_SECONDS) == ["ready"])
        except ChildFailure:
            return False

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._child.pid

    def is_alive(self) -> bool:
        """Return True if the process runs."""
        return self._child.is_alive()

    def send(self, request: dict[str, Any]) -> bool:
        """Send a request; return False if the process had ended before."""
        self.is_busy = True
        try:
            self._child.send(request)
        except ChildFailure:
            return False
        return True

    def receive(self, *, cpu_seconds: float) -> Iterator[Prepared | Skipped]:
        """
        Yield the documents of the request. Raises `InputError`, or `LoadError` if the process exceeds a limit or dies.

        Each message restarts the wall-clock limit. It is off while the caller works on a document.
        """
        reader: PreparedReader | None = None
        error: InputError | None = None
        seconds, remaining_bytes = cpu_seconds, MAX_OUTPUT_BYTES
        while (message := self._receive(remaining_bytes, seconds=seconds)) != ["finished"]:
            remaining_bytes -= self._child.received_bytes
            match message:
                case ["ended"]:
                    return  # still busy, so the pool replaces it
                case ["log", str(name), int(level), str(text)] if name.startswith("weft."):
                    logging.getLogger(name).log(level, "%s", text)
                case ["error", str(text), str(hint)]:
                    error = InputError(text, hint=hint)
                case ["loaded", int(characters)]:
                    seconds = cpu_seconds + characters * CPU_SECONDS_PER_MILLION_CHARACTERS / 1e6
                case ["skipped", _]:
                    yield self._decode(read_skipped, message)
                case ["document", *_]:
                    reader = self._decode(PreparedReader, message)
                case ["chunks", _] if reader:
                    self._decode(reader.add, message)
                case ["end"] if reader:
                    yield self._decode(PreparedReader.build, reader)
                    reader, seconds, remaining_bytes = None, cpu_seconds, MAX_OUTPUT_BYTES
                case _:
                    raise LoadError("broken", f"the parser process {self._child.fail('message', INVALID)}")
        self.is_busy = False
        self.documents += 1
        if error:
            raise error

    def kill(self) -> None:
        """Kill the process and wait for its end. The process has no unsaved data. Any thread may call this."""
        self._child.kill()

    def close(self) -> None:
        """Kill the process and close its pipes. A second call does nothing."""
        self.kill()
        self._child.close()

    def _receive(self, max_bytes: int, *, seconds: float) -> Any:
        """Return the next message. Raises `LoadError` after `max_bytes`, after the wall-clock limit, or at the end."""
        wall_seconds = max(WALL_FACTOR * seconds, MIN_WALL_SECONDS)
        try:
            return self._child.receive(max_bytes=min(max_bytes, MAX_MESSAGE_BYTES), seconds=wall_seconds)
        except ChildFailure as failure:
            match failure.kind:
                case "deadline":
                    error = LoadError("too slow", f"parsing took more than {wall_seconds:,.0f} s")
                case "cpu":
                    error = LoadError("too slow", f"parsing took more than {seconds:,.0f} s of CPU time")
                case "size":
                    error = LoadError("too large", f"parsing produced more than {MAX_OUTPUT_BYTES // 2**20:,} MiB")
                case _:
                    error = LoadError("broken", f"the parser process {failure}")
            raise error from failure

    def _decode(self, decode: Callable[[A], B], value: A) -> B:
        """Return the decoded value; a damaged process may send anything."""
        try:
            return decode(value)
        except (ValueError, TypeError, LookupError) as error:
            raise LoadError("broken", f"the parser process {self._child.fail('message', INVALID)}") from error
