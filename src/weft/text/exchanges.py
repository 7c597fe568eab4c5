"""
Chunks of a conversation: one exchange each, a question with its answer.

    exchange that fits into a chunk        one chunk
    exchange below `min_tokens`            joined with the chunk before it, if both fit
    longer exchange                        cut between turns
    turn longer than a chunk               cut like prose; the question is its heading

Every cut depends only on the exchange and on the chunk before it. So a conversation that grows keeps its chunks, except
the last one, and an edited turn changes only the chunks of its exchange.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from weft.records import Turn, to_microseconds
from weft.text.structure import Section, Span, cut, pack
from weft.text.tokens import estimate_tokens

VERSION = 1
"""Part of the content hash of conversations."""
MAX_QUESTION_CHARACTERS = 100
"""Length of the heading that repeats the question above later chunks of a long exchange."""

_HEAD = re.compile(
    r"^(?:[^\n]{1,60} \(\d{4}-\d\d-\d\d \d\d:\d\d\)|[^\n]{1,60} \(\d\d:\d\d:\d\d\)|user|assistant|system|tool): ",
    re.MULTILINE,
)
"""
Start of a rendered turn.

    user (2026-03-02 10:15): text          matches
    assistant: text                        matches
    Note: text                             does not match: another role needs a time
"""

_STAMP = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d)\): $")


class Times(NamedTuple):
    """Earliest and latest time of some turns; None if no turn has a time."""

    start: int | None
    end: int | None


class Opening(NamedTuple):
    """A turn that opens an exchange, on one line."""

    time: int | None
    """Microseconds since 1970 in UTC, to the minute; None if the turn has no time."""
    text: str


def exchange_sections(text: str, turns: Sequence[Turn], *, max_tokens: int, min_tokens: int) -> list[Section]:
    """Return one section per chunk of a conversation, in order."""
    sections: list[Section] = []
    for exchange in _exchanges(text, turns):
        whole = Span(exchange[0].start, exchange[-1].end)
        size = _size(text, whole)
        last = sections[-1].body if sections else None
        if last and size < min_tokens and _size(text, Span(last.start, whole.end)) <= max_tokens:
            sections[-1] = Section(sections[-1].heading, Span(last.start, whole.end))
        elif size <= max_tokens:
            sections.append(Section((), whole))
        else:
            sections += _cut_exchange(text, exchange, max_tokens=max_tokens)
    return sections


class TurnTimes:
    """Times of the turns of a document by position in its text."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._starts = [turn.start for turn in turns]

    def find(self, span: Span) -> Times:
        """Return the times of the turns that a span of the text touches."""
        first = max(0, bisect_right(self._starts, span.start) - 1)
        touched = self._turns[first : bisect_left(self._starts, span.end)]
        times = [turn.time for turn in touched if turn.time is not None]
        return Times(min(times, default=None), max(times, default=None))


def strip_turn_heads(text: str) -> str:
    """Return the text of a chunk without the role and time at the start of each turn."""
    return _HEAD.sub("", text)


def openings(text: str) -> list[Opening]:
    """Return the turns of a chunk that open an exchange: the first one, and those of the user after another role."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    found: list[Opening] = []
    role = ""
    for head, end in zip(heads, ends, strict=True):
        before, role = role, head[0].partition(" (")[0].rstrip(": ")
        if not found or (role == "user" != before):
            found.append(Opening(_read_time(head[0]), " ".join(text[head.end() : end].split())))
    return found or [Opening(None, " ".join(text.split()))]


def first_line(turn: str) -> str:
    """Return the heading that repeats a question above the later chunks of its exchange."""
    line = _HEAD.sub("", turn.strip(), count=1).strip().partition("\n")[0]
    return line if len(line) <= MAX_QUESTION_CHARACTERS else line[: MAX_QUESTION_CHARACTERS - 1].rstrip() + "…"


def _read_time(head: str) -> int | None:
    found = _STAMP.search(head)
    try:
        return to_microseconds(datetime.fromisoformat(found[1])) if found else None
    except ValueError:  # no such day
        return None


def _exchanges(text: str, turns: Sequence[Turn]) -> list[list[Span]]:
    """Return the spans of the turns, grouped by exchange. Text before the first turn belongs to it."""
    starts = [0, *(turn.start for turn in turns[1:])]
    ends = [*starts[1:], len(text)]
    exchanges: list[list[Span]] = []
    for turn, start, end in zip(turns, starts, ends, strict=True):
        if turn.opens or not exchanges:
            exchanges.append([])
        exchanges[-1].append(Span(start, end))
    return exchanges


def _cut_exchange(text: str, turns: Sequence[Span], *, max_tokens: int) -> list[Section]:
    """Return the sections of an exchange that is larger than a chunk, cut between turns where possible."""
    question = first_line(text[turns[0].start : turns[0].end])
    spans: list[Span] = []
    for turn in turns:
        if _size(text, turn) > max_tokens:
            spans += pack(text, cut(text, turn, size=max_tokens), size=max_tokens)
        elif spans and _size(text, Span(spans[-1].start, turn.end)) <= max_tokens:
            spans[-1] = Span(spans[-1].start, turn.end)
        else:
            spans.append(turn)
    return [Section(() if index == 0 else (question,), span) for index, span in enumerate(spans)]


def _size(text: str, span: Span) -> int:
    return estimate_tokens(text[span.start : span.end])
