"""One parser process, seen from its parent: start, requests, deadline, end."""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from weft.engine.parsing.parser_messages import (
    CPU_SECONDS_PER_MILLION_CHARACTERS,
    HEADER_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_OUTPUT_BYTES,
    PIPE_BYTES,
    Message,
    PreparedReader,
    read_message,
    read_skipped,
    write_message,
)
from weft.engine.parsing.process_limits import HAS_CPU_LIMIT
from weft.errors import InputError
from weft.index.plan import Prepared
from weft.load.file_reader import LoadError
from weft.processes.child import clean_environment, python_command, start_process
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

A = TypeVar("A")
B = TypeVar("B")


class ParserProcess:
    """A child process that parses one document at a time. One thread uses it; a watchdog may kill it."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self.documents = 0
        """Requests answered."""
        self.deadline = float("inf")
        """Monotonic time at which the watchdog kills it."""
        self.is_busy = False
        """True if a request has no complete answer yet."""
        self.is_replaced = False
        """True if another process took its place."""
        self._limit_error: LoadError | None = None
        self._message_bytes = 0
        self._wall_seconds = 0.0
        passed = {name: value for name, value in clean_environment().items() if name in PASSED_VARIABLES}
        self._process = start_process(
            command or python_command(MODULE), environment=passed | ONE_THREAD, bufsize=PIPE_BYTES
        )

    def wait_until_ready(self) -> bool:
        """Return True if the process has started."""
        try:
            return self._receive(MAX_MESSAGE_BYTES, seconds=MAX_START_SECONDS) == ["ready"]
        except LoadError:
            return False

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Return True if the process runs."""
        return self._process.poll() is None

    def send(self, request: dict[str, Any]) -> bool:
        """Send a request; return False if the process had ended before."""
        assert self._process.stdin
        self.is_busy = True
        try:
            write_message(self._process.stdin, request)
        except OSError:
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
            remaining_bytes -= self._message_bytes
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
                    raise self._kill(LoadError("broken", "the parser process sent an unknown message"))
        self.is_busy = False
        self.documents += 1
        if error:
            raise error

    def check_deadline(self, now: float) -> None:
        """Kill the process if its wall-clock limit is over. Called by the watchdog."""
        if now > self.deadline:
            self._kill(LoadError("too slow", f"parsing took more than {self._wall_seconds:,.0f} s"))

    def kill(self) -> None:
        """Kill the process and wait for its end. The process has no unsaved data. Any thread may call this."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill the process and close its pipes. A second call does nothing."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with suppress(OSError):  # a request that was not sent
                pipe.close()

    def _receive(self, max_bytes: int, *, seconds: float) -> Message:
        """Return the next message. Raises `LoadError` after `max_bytes`, after the wall-clock limit, or at the end."""
        assert self._process.stdout
        self._wall_seconds = max(WALL_FACTOR * seconds, MIN_WALL_SECONDS)
        self.deadline = time.monotonic() + self._wall_seconds
        try:
            header = self._process.stdout.read(HEADER_BYTES)
            self._message_bytes = int.from_bytes(header, "big")
            if self._message_bytes > min(max_bytes, MAX_MESSAGE_BYTES):
                limit = MAX_OUTPUT_BYTES // 2**20
                raise self._kill(LoadError("too large", f"parsing produced more than {limit:,} MiB"))
            data = self._process.stdout.read(self._message_bytes)
        finally:
            self.deadline = float("inf")
        if len(header) < HEADER_BYTES or len(data) < self._message_bytes:
            raise self._end_error(seconds)
        message = self._decode(read_message, data)
        return message if isinstance(message, list) else []

    def _decode(self, decode: Callable[[A], B], value: A) -> B:
        """Return the decoded value; a damaged process may send anything."""
        try:
            return decode(value)
        except (ValueError, TypeError, LookupError) as error:
            raise self._kill(LoadError("broken", "the parser process sent an invalid message")) from error

    def _kill(self, error: LoadError) -> LoadError:
        """Kill the process; return the reason, which `_end_error` reports too."""
        self._limit_error = error
        self._process.kill()
        return error

    def _end_error(self, seconds: float) -> LoadError:
        """Return the reason why the process ended."""
        code = self._process.wait()
        if self._limit_error:
            return self._limit_error
        if sys.platform != "win32" and code == -signal.SIGXCPU:
            return LoadError("too slow", f"parsing took more than {seconds:,.0f} s of CPU time")
        if code < 0:
            with suppress(ValueError):
                return LoadError(
                    "broken",
                    f"the parser process was killed ({signal.Signals(-code).name})",
                )
        return LoadError("broken", f"the parser process failed with exit code {code}")
