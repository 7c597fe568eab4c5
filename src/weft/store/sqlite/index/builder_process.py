"""Process that builds large read indexes, seen from the process that asked for them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

COMMAND = (sys.executable, "-m", "weft.store.sqlite.index.builder_main")
PACKAGE_FOLDER = Path(__file__).parents[4]
"""Working folder of the process: `-m` puts it first on the module path, and no stranger writes to it."""

MIN_PROCESS_ROWS = 8_192
"""
Minimum number of unindexed rows for which a process is started.

Its start takes half a second, a graph of so many rows ten. In a thread these ten seconds are taken from a writer.
"""

POLL_SECONDS = 0.1
"""Seconds between two looks at the process."""

MAX_END_SECONDS = 10.0
"""Longest wait for the end of a cancelled process; it is killed afterwards, which leaves a partial file."""


class CannotStart(Exception):
    """There is no process. The caller builds the indexes itself."""


def extend_indexes(path: Path, *, min_rows: int, cancelled: threading.Event, command: Sequence[str] = COMMAND) -> int:
    """
    Extend the indexes of a file in another process; return how many were changed, 0 if it was cancelled.

    The process ends with this one. Raises `CannotStart`, or `OSError` with the reason why it failed.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=PACKAGE_FOLDER,
            start_new_session=True,  # Ctrl-C reaches the parent only
        )
    except OSError as error:
        raise CannotStart from error
    with process:
        try:
            return _exchange(process, {"path": str(path), "min_rows": min_rows}, cancelled)
        finally:
            process.kill()


def _exchange(process: subprocess.Popen[bytes], request: dict[str, object], cancelled: threading.Event) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
    except OSError as error:
        raise CannotStart from error
    while process.poll() is None:
        if cancelled.wait(POLL_SECONDS):
            process.stdin.close()
            try:
                process.wait(MAX_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            return 0
    try:
        answer = json.loads(process.stdout.read())
    except ValueError as error:
        if process.returncode > 0:  # the interpreter did not get as far as an answer
            raise CannotStart from error
        raise OSError(f"the process that builds them ended with exit code {process.returncode}") from error
    if "error" in answer:
        raise OSError(answer["error"])
    return int(answer["changed"])
