"""Process that has imported the package and forks a child per call, which may be killed."""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forking import import_package

IMPORTED = ("file_probes", "soak_clients", "spool_writer", "store_writer")
"""Modules whose functions are called; imported once, before the first fork."""
POLL_SECONDS = 0.001


@dataclass
class Ended:
    """Exit status of a child."""

    status: int
    """Exit code; negative: the signal that ended it."""
    timed_out: bool
    value: Any
    """The value that the function returned; None if it did not return."""
    errors: str


class ForkServer:
    """Calls functions in children of a process without threads, so that each starts in milliseconds."""

    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def call(self, function, *, timeout=120, kill=None, **arguments):
        """
        Call `module:function` with keyword arguments in a child; return how it ended.

        `kill` is (file, lines, seconds): the child is killed so many seconds after the file has so many lines.
        """
        with tempfile.TemporaryDirectory() as folder:
            job = {"function": function, "arguments": arguments, "kill": kill, "timeout": timeout, "folder": folder}
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            ended = json.loads(self._process.stdout.readline())
            value, errors = Path(folder, "value"), Path(folder, "errors")
            return Ended(
                status=ended["status"],
                timed_out=ended["timed_out"],
                value=json.loads(value.read_text("utf-8")) if value.exists() else None,
                errors=errors.read_text("utf-8", errors="replace") if errors.exists() else "",
            )

    def value(self, function, **options):
        """Return the value of a call; any other end is a failure."""
        ended = self.call(function, **options)
        assert (ended.status, ended.timed_out) == (0, False), f"{function} ended with {ended.status}\n{ended.errors}"
        return ended.value

    def close(self):
        """End the process."""
        self._process.communicate(timeout=60)


def serve():
    """Fork for each line of standard input and report how the child ended."""
    import_package()
    for name in IMPORTED:
        importlib.import_module(name)
    while line := sys.stdin.readline():
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            run(job)
        sys.stdout.write(json.dumps(watch(child, job)) + "\n")
        sys.stdout.flush()


def run(job):
    """Call the function in this child and end it."""
    code = 1
    try:
        folder = Path(job["folder"])
        errors = os.open(folder / "errors", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(errors, 1)
        os.dup2(errors, 2)
        module, _, name = job["function"].partition(":")
        value = getattr(importlib.import_module(module), name)(**job["arguments"])
        (folder / "value").write_text(json.dumps(value), "utf-8")
        code = 0
    except BaseException:  # noqa: BLE001 (reported by the parent)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def watch(child, job):
    """Wait for a child, kill it when its time has come; return how it ended."""
    begin, due = time.monotonic(), None
    timed_out = False
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return {"status": os.waitstatus_to_exitcode(status), "timed_out": timed_out}
        now = time.monotonic()
        if job["kill"] and due is None:
            path, lines, seconds = job["kill"]
            if count_lines(path) >= lines:
                due = now + seconds
        if due is not None and now >= due:
            os.kill(child, signal.SIGKILL)
        elif now - begin > job["timeout"]:
            timed_out = True
            os.kill(child, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def count_lines(path):
    """Return the number of complete lines of a file; 0 if it is missing."""
    try:
        return Path(path).read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


if __name__ == "__main__":
    serve()
