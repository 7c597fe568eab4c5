"""Output to the terminal: messages with control characters escaped, data unchanged."""

from __future__ import annotations

import re

import click

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""
Control characters, characters without a glyph, and characters that change the text direction.

Tabs and line ends are excluded.
"""
_BREAK = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")


def say(text: str = "", *, err: bool = False, nl: bool = True, label: str = "", colour: str | None = None) -> None:
    """Print a message, after a coloured `label`."""
    click.echo((click.style(label, fg=colour) if label else "") + visible(text), err=err, nl=nl)


def write_data(data: str | bytes, *, nl: bool = False) -> None:
    """Print data for another program, unchanged."""
    click.echo(data, nl=nl)


def visible(text: str) -> str:
    r"""Return the text with control characters as escapes such as `\\x1b`, safe to print on a terminal."""
    return _CONTROL.sub(lambda match: ascii(match.group())[1:-1], text)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in singular or plural: `1 entity`, `2,000 entities`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def one_line(value: object) -> str:
    """Return a value as one line: tabs and line ends become spaces, control characters become escapes."""
    return visible(_BREAK.sub(" ", str(value)))
