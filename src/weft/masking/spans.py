"""Spans of secrets, and positions of substrings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class SecretSpan(NamedTuple):
    """Position of the value of a secret, and its kind in words: `a password`."""

    start: int
    end: int
    kind: str


def positions(text: str, part: str) -> Iterator[int]:
    """Yield the positions of a substring. It is many times as fast as a regular expression."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))
