"""
Token budget of a context: shares of its parts, and cutting of text to a limit.

| part, in order | limit |
| --- | --- |
| facts | half of the budget, or all that the evidence does not need |
| entities and relations | a quarter of the budget for evidence |
| evidence | the rest |
| graph block | a quarter of the budget for evidence, at most `context.graph_budget` |
| last line `[omitted N]` | counted like any other text |

Limits are checked on the final text with the caller's token counter, since token counts do not add up.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from weft.records import Context

SEPARATOR = "\n---\n\n"
"""Text between two parts."""

FACT_DIVISOR = 2
"""Facts get the budget divided by this number."""

GRAPH_DIVISOR = 4
"""The entity list and the graph block each get the budget divided by this number."""

_WIDE = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fffd"
_WORD = re.compile(f"[{_WIDE}]|[^\\s{_WIDE}]{{1,60}}")
"""A CJK character, or at most 60 other characters without spaces."""


def largest_fitting(limit: int, *, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to `limit` that fits, by binary search; 0 if none does."""
    number = bisect_left(range(1, limit + 1), True, key=lambda number: not fits(number))
    while number and not fits(number):  # a longer text can have fewer tokens
        number -= 1
    return number


def cut_to_fit(text: str, *, fits: Callable[[str], bool], mark: str = " …") -> str:
    """Return `text` if it fits, else its longest fitting prefix of whole words with `mark`; empty if no word fits."""
    if fits(text):
        return text
    ends = [match.end() for match in _WORD.finditer(text)]
    words = largest_fitting(len(ends), fits=lambda number: fits(text[: ends[number - 1]] + mark))
    return text[: ends[words - 1]] + mark if words else ""


def join_parts(parts: Sequence[str], *, omitted: int) -> str:
    """Return the parts with separators, and a last line with the number of omitted pieces if there are any."""
    return SEPARATOR.join([*parts, *([f"[omitted {omitted}]\n"] if omitted else [])])


def without_omission(context: Context) -> str:
    """Return the text of a context without its last line `[omitted N]`."""
    if not context.omitted:
        return context.text
    text = context.text.removesuffix(f"[omitted {context.omitted}]\n").removesuffix(SEPARATOR).rstrip("\n")
    return f"{text}\n" if text else ""
