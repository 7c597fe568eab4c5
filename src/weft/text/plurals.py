"""Counts with their nouns, in singular or plural."""

from __future__ import annotations

import re

_FINAL_Y = re.compile(r"(?<![aeiou])y\Z")
_SIBILANT = re.compile(r"(?:s|x|ch|sh)\Z")


def counted(count: int, noun: str, plural: str = "") -> str:
    """
    Return a count with its noun; `plural` names an irregular one.

    | count | noun | result |
    | --- | --- | --- |
    | 1 | entity | 1 entity |
    | 2000 | entity | 2,000 entities |
    | 0 | day | 0 days |
    | 3 | match | 3 matches |
    | 2 | row is, rows are | 2 rows are |
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {plural or _regular_plural(noun)}"


def _regular_plural(noun: str) -> str:
    if _FINAL_Y.search(noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if _SIBILANT.search(noun) else f"{noun}s"
