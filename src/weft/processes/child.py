"""
Start of child processes. No other module of Weft starts a process.

The current folder may be one that a stranger wrote. `python -m` would import modules from it: a file `queue.py` there
would run as code. So a child process of Python

- runs in isolated mode (`-I`): neither the current folder nor a variable such as `PYTHONPATH` adds modules,
- takes its module path from this process, without the current folder,
- starts in a folder that the caller names, or in that of the interpreter,
- gets no variable that begins with `PYTHON`.

The module path makes `-I` work for every kind of installation: in isolated mode, packages of `pip install --user`,
of `PYTHONPATH` and of an unpacked archive are otherwise not found. `-P` would be simpler, but needs Python 3.11.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import IO

PACKAGE_FOLDER = Path(__file__).parents[2]
"""Folder that contains the package; it stays on the module path even if it is the current folder."""

RUN_MODULE = (
    "import json, runpy, sys; "
    "sys.path[:] = json.loads(sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
"""Program of a child process: the arguments are the module path, the module, and the module's own arguments."""


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module as `python -m` does, but never imports from the current folder."""
    flags = ["-I"]
    if sys.flags.utf8_mode:  # `-I` ignores the variables that set these
        flags += ["-X", "utf8"]
    if sys.dont_write_bytecode:
        flags += ["-B"]
    if sys.pycache_prefix:
        flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return [sys.executable or "", *flags, "-c", RUN_MODULE, json.dumps(module_path()), module, *arguments]


def module_path() -> list[str]:
    """Return the module path of this process without relative entries and without the current folder."""
    try:
        current = os.path.realpath(os.getcwd())  # noqa: PTH109
    except FileNotFoundError:  # it was deleted
        current = ""
    own = os.path.realpath(PACKAGE_FOLDER)
    real = {entry: os.path.realpath(entry) for entry in sys.path if Path(entry).is_absolute()}
    return [entry for entry in sys.path if entry in real and (real[entry] != current or real[entry] == own)]


def clean_environment() -> dict[str, str]:
    """Return the environment without the variables of Python, which could add code to a child process."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("PYTHON")}


def start_process(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: int | None = subprocess.PIPE,
    stdout: IO[bytes] | int | None = subprocess.PIPE,
    stderr: IO[bytes] | int | None = subprocess.DEVNULL,
    bufsize: int = -1,
    pipesize: int = -1,
    in_session: bool = True,
) -> subprocess.Popen[bytes]:
    """
    Start a process, by default in a session of its own: Ctrl-C reaches this process only.

    Without `folder` it runs in the folder of the interpreter: whoever can write to it could replace the interpreter.
    Without `environment` it gets `clean_environment()`. Raises `OSError`.
    """
    return subprocess.Popen(
        command,
        cwd=folder or Path(sys.executable or os.sep).parent,
        env=clean_environment() if environment is None else environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        bufsize=bufsize,
        pipesize=pipesize,
        start_new_session=in_session,
        creationflags=_windows_flags() if in_session else 0,
    )


def _windows_flags() -> int:
    """Return the flags that detach a process from the console, as `start_new_session` does elsewhere."""
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def find_program(name: str) -> str | None:
    """Return the absolute path of a program. Relative entries of `PATH` and the current folder are not searched."""
    for folder in map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep)):
        found = shutil.which(name, path=str(folder)) if folder.is_absolute() else None
        if found and Path(found).parent == folder:  # Windows looks into the current folder first
            return found
    return None


def join_command(words: Sequence[str]) -> str:
    """Return the line that a shell of this system runs as a command."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def start_detached(command: Sequence[str], *, folder: Path) -> None:
    """Start a process that outlives this one, without input and output. Raises `OSError`."""
    process = start_process(command, folder=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    Thread(target=process.wait, daemon=True).start()  # a server that goes on must not keep it as a zombie


def run_in_terminal(command: Sequence[str], *, folder: Path) -> int:
    """Run a program that uses the terminal of this process; return its exit code. Raises `OSError`."""
    process = start_process(command, folder=folder, stdin=None, stdout=None, stderr=None, in_session=False)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # Ctrl-C belongs to the program
            continue
