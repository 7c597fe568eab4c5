"""Process that builds large read indexes, seen from the process that asked for them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from weft.processes.child import python_command, start_process
from weft.store.index_files.hnsw import is_available
from weft.store.index_files.segments import FORMAT_VERSION
from weft.store.sqlite import schema

MODULE = "weft.store.sqlite.index.builder_main"

MIN_PROCESS_ROWS = 8_192
"""
Minimum number of unindexed rows for which a process is started.

Its start takes half a second, a graph of so many rows ten. In a thread these ten seconds are taken from a writer.
"""

MAX_START_SECONDS = 60.0
"""Longest wait until the process is ready."""

POLL_SECONDS = 0.1
"""Seconds between two looks whether the build is cancelled."""

MAX_END_SECONDS = 10.0
"""Longest wait for the end of a cancelled process; it is killed afterwards, which leaves a partial file."""


class CannotStart(Exception):
    """The process did not get ready. The caller builds the indexes itself."""


def read_versions() -> list[int]:
    """
    Return the versions on which the files depend: schema, format of the index, and whether vectors can be indexed.

    Weft may have been upgraded since this process started. The other process refuses a request with other versions.
    """
    return [schema.VERSION, FORMAT_VERSION, is_available()]


def extend_indexes(
    path: Path, *, min_rows: int, cancelled: threading.Event, command: Sequence[str] | None = None
) -> int:
    """
    Extend the indexes of a file in another process; return how many were changed, 0 if it was cancelled.

    The process ends with this one. Raises `CannotStart`, or `OSError` with the reason why it failed.
    """
    command = command or python_command(MODULE)
    if not command[0] or getattr(sys, "frozen", False):  # an application without an interpreter would start itself
        raise CannotStart
    try:
        process = start_process(command, bufsize=0)
    except (OSError, ValueError) as error:
        raise CannotStart from error
    with process:
        try:
            return _exchange(process, {"path": str(path), "min_rows": min_rows, "versions": read_versions()}, cancelled)
        finally:
            process.kill()


def _exchange(process: subprocess.Popen[bytes], request: dict[str, object], cancelled: threading.Event) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(process.stdout, messages), name="weft-index-answers", daemon=True).start()
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
    except OSError as error:
        raise CannotStart from error
    is_ready, deadline = False, time.monotonic() + MAX_START_SECONDS
    while True:
        if cancelled.is_set():
            process.stdin.close()
            if is_ready:
                _await_end(process)
            return 0
        try:
            message = messages.get(timeout=POLL_SECONDS)
        except Empty:
            if not is_ready and time.monotonic() > deadline:
                raise CannotStart from None
            continue
        if message is None:
            if not is_ready:
                raise CannotStart
            raise OSError(f"the process that builds them ended with exit code {process.wait()}")
        if "error" in message:
            raise OSError(message["error"])
        if "changed" in message:
            return int(message["changed"])
        is_ready = True


def _receive(pipe: IO[bytes], messages: SimpleQueue[dict[str, Any] | None]) -> None:
    """Read messages until the pipe ends; then add None."""
    try:
        for line in pipe:
            message = json.loads(line)
            if isinstance(message, dict):
                messages.put(message)
    except (OSError, ValueError):  # the pipe was closed here, or another program writes to it
        pass
    messages.put(None)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(MAX_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
