"""All that is printed goes through here: words for people without control characters, data as it is."""

from __future__ import annotations

import re

import click

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""
What a terminal may act upon, or cannot show, and what turns the order of all that follows around.

Tabs and line ends are left to whoever writes them.
"""
_BREAK = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")


def say(text: str = "", *, err: bool = False, nl: bool = True, label: str = "", colour: str | None = None) -> None:
    """Print words for people; a `label` stands before them in a colour."""
    click.echo((click.style(label, fg=colour) if label else "") + visible(text), err=err, nl=nl)


def hand_over(data: str | bytes, *, nl: bool = False) -> None:
    """Print what another program reads, exactly as it is."""
    click.echo(data, nl=nl)


def visible(text: str) -> str:
    r"""Return the text with control characters as their escapes, `\\x1b` for one, so that a terminal only shows it."""
    return _CONTROL.sub(lambda match: ascii(match.group())[1:-1], text)


def one_line(value: object) -> str:
    """Return a name or value as it stands in a line or a cell: tabs and line ends are spaces."""
    return visible(_BREAK.sub(" ", str(value)))
