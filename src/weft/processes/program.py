"""Runs a program of the system until it ends, and kills it with all its children if the caller gives up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from weft.processes.child import start_process

POLL_SECONDS = 0.2


class CannotStart(Exception):
    """The program could not be started; the text has the reason."""


def run_program(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    output: IO[bytes],
    watch: Callable[[], None] = lambda: None,
) -> int:
    """
    Return the exit code of a program. It has no input; both outputs go to a file.

    `watch` is called every `POLL_SECONDS`. Any exception, Ctrl-C included, kills the program first. Raises
    `CannotStart`.
    """
    try:
        process = start_process(
            command,
            folder=folder,
            environment=environment,
            stdin=subprocess.DEVNULL,  # a password prompt would wait forever
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise CannotStart(str(error)) from error
    try:
        while True:
            watch()
            with suppress(subprocess.TimeoutExpired):
                return process.wait(POLL_SECONDS)
    finally:
        _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and its children if it still runs; it has its own session."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
