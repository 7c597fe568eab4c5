"""Output to the terminal: messages with control characters escaped, data unchanged."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import click

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""
Control characters, characters without a glyph, and characters that change the text direction.

Tabs and line ends are excluded.
"""
_BREAK = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """Output of a command that runs for another process."""

    out: io.StringIO
    err: io.StringIO
    width: int | None
    """Columns of the terminal of that process; None if its output is no terminal."""
    environment: Mapping[str, str]
    """Variables of that process that choose colours."""


_TERMINAL: ContextVar[Terminal | None] = ContextVar("terminal", default=None)


@contextmanager
def use_terminal(terminal: Terminal) -> Iterator[None]:
    """Write all output of this thread inside the block to a terminal of another process."""
    token = _TERMINAL.set(terminal)
    try:
        yield
    finally:
        _TERMINAL.reset(token)


def current_terminal() -> Terminal | None:
    """Return the terminal of another process that output goes to; None for that of this process."""
    return _TERMINAL.get()


def say(text: str = "", *, err: bool = False, nl: bool = True, label: str = "", colour: str | None = None) -> None:
    """Print a message, after a coloured `label`."""
    terminal = _TERMINAL.get()
    file = None if terminal is None else terminal.err if err else terminal.out
    click.echo((click.style(label, fg=colour) if label else "") + visible(text), file=file, err=err, nl=nl)


def write_data(data: str | bytes, *, nl: bool = False) -> None:
    """Print data for another program, unchanged."""
    terminal = _TERMINAL.get()
    click.echo(data, file=terminal.out if terminal else None, nl=nl)


def visible(text: str) -> str:
    r"""Return the text with control characters as escapes such as `\\x1b`, safe to print on a terminal."""
    return _CONTROL.sub(lambda match: ascii(match.group())[1:-1], text)


def one_line(value: object) -> str:
    """Return a value as one line: tabs and line ends become spaces, control characters become escapes."""
    return visible(_BREAK.sub(" ", str(value)))
