"""Process that builds large read indexes, seen from the process that asked for them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from weft.processes.child import python_command
from weft.processes.child_process import ChildFailure, ChildProcess
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
        process = ChildProcess(command)
    except (OSError, ValueError) as error:
        raise CannotStart from error
    request = {"path": str(path), "min_rows": min_rows, "versions": read_versions()}
    with process:
        try:
            process.send(request)
            process.receive(seconds=MAX_START_SECONDS, cancelled=cancelled)
        except ChildFailure as failure:
            if cancelled.is_set():
                return 0
            raise CannotStart from failure
        return _receive_answer(process, cancelled)


def _receive_answer(process: ChildProcess, cancelled: threading.Event) -> int:
    try:
        answer = process.receive(cancelled=cancelled, end_seconds=MAX_END_SECONDS)
    except ChildFailure as failure:
        answer = ["error", f"the process that builds them {failure}"]
    match answer:
        case _ if cancelled.is_set():
            return 0
        case ["changed", int(changed)]:
            return changed
        case ["error", str(text)]:
            raise OSError(text)
    raise OSError("the process that builds them sent an invalid message")
