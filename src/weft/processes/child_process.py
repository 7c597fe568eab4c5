"""
Child process that answers messages, seen from its parent. `parent_connection.py` is the other side.

    parent                              child
    ChildProcess ──send──▶ stdin ──▶ ParentConnection
                 ◀receive─ stdout ◀─

The child ends with its parent, however the parent ends: its input closes then.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

from weft.processes.child import start_process
from weft.processes.framing import MAX_MESSAGE_BYTES, FrameTooLarge, decode, encode, read_frame
from weft.processes.watchdog import watched

MAX_END_SECONDS = 5.0
"""Longest wait for the end of a process that has closed its output."""

Failure: TypeAlias = Literal["ended", "cpu", "deadline", "size", "message"]


class ChildFailure(Exception):
    """
    A child process ended before it answered.

    The text continues a sentence that begins with the process: "was killed (SIGSEGV)".
    """

    def __init__(self, kind: Failure, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class ChildProcess:
    """A child process. One thread at a time talks to it; any thread may kill it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        shows_errors: bool = False,
        buffer_bytes: int = -1,
        pipe_bytes: int = -1,
    ) -> None:
        """
        Start it; folder and environment are those of `start_process`. Raises `OSError` or `ValueError`.

        With `shows_errors` its standard error is that of this process, else it is discarded.
        """
        self.received_bytes = 0
        """Size of the last message."""
        self._failure: ChildFailure | None = None
        self._deadline = math.inf
        self._cancelled: threading.Event | None = None
        self._end_seconds = 0.0
        self._process = start_process(
            command,
            folder=folder,
            environment=environment,
            stderr=None if shows_errors else subprocess.DEVNULL,
            bufsize=buffer_bytes,
            pipesize=pipe_bytes,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def exit_code(self) -> int:
        """Exit code of the process, after its end; a signal is negative."""
        return self._process.wait()

    def is_alive(self) -> bool:
        """Return True if the process runs."""
        return self._process.poll() is None

    def send(self, message: Any) -> None:
        """Send a message. Raises `ChildFailure` if the process has ended."""
        if self._failure:
            raise self._failure
        try:
            self._input.write(encode(message))
            self._input.flush()
        except (OSError, ValueError) as error:
            raise self._end_failure() from error

    def receive(
        self,
        *,
        max_bytes: int = MAX_MESSAGE_BYTES,
        seconds: float = math.inf,
        cancelled: threading.Event | None = None,
        end_seconds: float = 0.0,
    ) -> Any:
        """
        Return the next message. The process is killed if none comes within `seconds`, or if it is too large or invalid.

        If `cancelled` is set meanwhile, the process is asked to end, and killed after `end_seconds`. Raises
        `ChildFailure`.
        """
        self._cancelled, self._end_seconds = cancelled, end_seconds
        self._deadline = time.monotonic() + seconds
        with watched(self._check):
            data = self.receive_data(max_bytes=max_bytes)
        try:
            return decode(data)
        except ValueError as error:
            raise self.fail("message", "sent an invalid message") from error

    def receive_data(self, *, max_bytes: int = MAX_MESSAGE_BYTES) -> bytes:
        """Return bytes that the last message announced. Raises `ChildFailure`."""
        try:
            data = read_frame(self._output.read, max_bytes=max_bytes)
        except FrameTooLarge as error:
            raise self.fail("size", f"sent a message of {error}") from error
        except (EOFError, OSError, ValueError) as error:
            raise self._end_failure() from error
        self.received_bytes = len(data)
        return data

    def fail(self, kind: Failure, text: str) -> ChildFailure:
        """Kill the process; return the failure, which later calls raise too."""
        self._failure = ChildFailure(kind, text)
        self._process.kill()
        return self._failure

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.wait()

    def ask_to_end(self) -> None:
        """Close the input of the process, after which it ends by itself. A second call does nothing."""
        with suppress(OSError):  # it has ended, and a message was not sent
            self._input.close()

    def close(self, *, seconds: float = 0.0) -> None:
        """Wait for the end of the process; kill it after `seconds`. A second call does nothing."""
        try:
            self.ask_to_end()
            if seconds:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(seconds)
        finally:
            self.kill()
            self._output.close()

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check(self) -> None:
        """Kill the process at its deadline; ask it to end if it is cancelled. Called by the watchdog."""
        now = time.monotonic()
        if self._cancelled is not None and self._cancelled.is_set():
            self._cancelled, self._deadline = None, now + self._end_seconds
            self.ask_to_end()
        if now > self._deadline:
            self.fail("deadline", "did not answer in time")

    def _end_failure(self) -> ChildFailure:
        """Return the reason why the process ended."""
        try:
            code = self._process.wait(MAX_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self.exit_code
        if self._failure:
            return self._failure
        if os.name != "nt" and code < 0:
            if code == -signal.SIGXCPU:
                return ChildFailure("cpu", "used too much CPU time")
            with suppress(ValueError):
                return ChildFailure("ended", f"was killed ({signal.Signals(-code).name})")
        return ChildFailure("ended", f"failed with exit code {code}")
