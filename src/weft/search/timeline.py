"""
Exchanges of a period, which answer a question about a time alone.

| step | result |
| --- | --- |
| read the latest exchanges of the period | at most `MAX_READ_CHUNKS` |
| leave out later parts of long answers | chunks with the start of an exchange, or of several short ones |
| read the turns that open exchanges | an entry for each exchange of the period |
| take exchanges by turns from each conversation and day | long conversations leave room for others |
| order | newest first |

A period such as `before the holiday` is bounded by the last pause of the conversations themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from itertools import groupby, pairwise

from weft.records import (
    Chunk,
    Filter,
    Hit,
    Result,
    TimeLimits,
    Timeline,
    TimelineDay,
    TimelineEntry,
    to_microseconds,
)
from weft.records.results import MAX_MICROSECONDS, MIN_MICROSECONDS
from weft.search.cite import cite, find_hidden_prefix
from weft.search.conversations import show_answers
from weft.search.question.periods import RECENT_DAYS, Period, find_asked_period
from weft.search.result import read_evidence
from weft.search.search_context import SearchContext
from weft.store.base import StoreReader
from weft.text.exchanges import Opening, openings

MAX_READ_CHUNKS = 1000
"""Chunks of a period that are read, the latest ones."""
MAX_ENTRY_CHARACTERS = 300
MIN_PAUSE_DAYS = 4
"""Days without an exchange that count as a pause."""
REASON = "the question asks for a time and names no subject"
NONE_FOUND = "no conversation at the time that the question names"

_DAY = 86_400_000_000
_MINUTE = 60_000_000
"""Turns show their times to the minute."""
_EVERYTHING = Period(TimeLimits(MIN_MICROSECONDS, MAX_MICROSECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An exchange of a period: a part of a chunk, or its beginning."""

    chunk: Chunk
    time: int
    text: str

    @property
    def group(self) -> tuple[str, date]:
        """Conversation and UTC day."""
        return self.chunk.document_id, _from_microseconds(self.time).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Exchanges of a period, newest first."""

    exchanges: tuple[Exchange, ...] = ()
    is_truncated: bool = False


def answer_period(text: str, search: SearchContext) -> Result | None:
    """
    Return the exchanges of the period that a question about a time alone asks for; None for other questions.

    None too if the namespace has no conversations: documents have no time.
    """
    if search.at is None or not search.store.passages.have_times():
        return None
    if (period := find_asked_period(text, at=search.at)) is None:
        return None
    with search.stopwatch.stage("read"), search.store.reading():
        found = select_exchanges(search.store, period, where=search.where, at=search.at, limit=search.options.top_k)
        ids = list(dict.fromkeys(exchange.chunk.id for exchange in found.exchanges))
        hits = [Hit(id, rank, 1 / rank) for rank, id in enumerate(ids, start=1)]
        evidence = show_answers(read_evidence(hits, {}, store=search.store, chunks=search.chunks), search)
    return Result(
        query=" ".join(text.split()),
        method="timeline",
        reason=REASON,
        status="ok" if evidence else "no_match",
        confidence=1.0 if evidence else 0.0,
        evidence=tuple(evidence),
        notes=() if evidence else (NONE_FOUND,),
        timings=search.stopwatch.spent,
    )


def find_timeline(store: StoreReader, period: Period | None, *, where: Filter, at: datetime, limit: int) -> Timeline:
    """Return at most `limit` exchanges of a period by day, newest first; without a period the latest ones."""
    with store.reading():
        found = select_exchanges(store, period or _EVERYTHING, where=where, at=at, limit=limit)
        ids = sorted({exchange.chunk.document_id for exchange in found.exchanges})
        documents = {document.id: document for document in store.documents(ids)}
        hidden = find_hidden_prefix(store, [document.source for document in documents.values()])
    entries = [
        TimelineEntry(
            time=_from_microseconds(exchange.time),
            title=document.title,
            source=document.source,
            citation=cite(document, exchange.chunk, hidden=hidden),
            text=_shorten(exchange.text),
            chunk_id=exchange.chunk.id,
        )
        for exchange in found.exchanges
        if (document := documents.get(exchange.chunk.document_id))
    ]
    days = groupby(entries, key=lambda entry: entry.time.date())
    return Timeline(
        days=tuple(TimelineDay(day=day, entries=tuple(group)) for day, group in days),
        is_truncated=found.is_truncated,
    )


def select_exchanges(
    store: StoreReader, period: Period, *, where: Filter, at: datetime | None, limit: int
) -> Selection:
    """Return at most `limit` exchanges of a period that pass a filter, newest first."""
    limits = _intersect(where.time_limits, period.limits)
    if limits.start >= limits.end:
        return Selection()
    read = store.passages.latest(_narrow(where, limits), limit=MAX_READ_CHUNKS + 1)
    chunks = [chunk for chunk in read if not chunk.heading] or read
    found = [exchange for chunk in chunks for exchange in _exchanges(chunk, limits)]
    found.sort(key=lambda exchange: (-exchange.time, exchange.chunk.id))
    found = _bound(found, period, is_open=limits.start == MIN_MICROSECONDS, at=at)
    kept = _take_turns(found, limit=limit)
    return Selection(
        exchanges=tuple(exchange for number, exchange in enumerate(found) if number in kept),
        is_truncated=len(kept) < len(found) or len(read) > MAX_READ_CHUNKS,
    )


def _exchanges(chunk: Chunk, limits: TimeLimits) -> list[Exchange]:
    """Return the exchanges of a chunk that begin in a period; the first one if they began before it."""
    start = max(chunk.start_time or 0, limits.start)
    opened = openings(chunk.text)
    inside = [o for o in opened if o.time is not None and o.time < limits.end and o.time + _MINUTE > limits.start]
    return [
        Exchange(chunk=chunk, time=max(o.time or 0, start), text=o.text)
        for o in inside or [Opening(start, opened[0].text)]
    ]


def _bound(found: list[Exchange], period: Period, *, is_open: bool, at: datetime | None) -> list[Exchange]:
    """Return the exchanges of a period whose bounds depend on the conversations themselves."""
    match period.anchor:
        case "latest":
            return [exchange for exchange in found if exchange.group[1] == found[0].group[1]]
        case "before_pause" | "after_pause":
            split = _find_pause(found, at=at)
            if split is not None:
                found = found[split:] if period.anchor == "before_pause" else found[:split]
    if is_open and found and period.anchor != "after_pause":
        found = [exchange for exchange in found if exchange.time >= found[0].time - RECENT_DAYS * _DAY]
    return found


def _find_pause(found: Sequence[Exchange], *, at: datetime | None) -> int | None:
    """Return the number of exchanges after the last pause, which may last until now; None without a pause."""
    times = [*([to_microseconds(at)] if at else []), *(exchange.time for exchange in found)]
    for number, (later, earlier) in enumerate(pairwise(times)):
        if later - earlier >= MIN_PAUSE_DAYS * _DAY:
            return number if at else number + 1
    return None


def _take_turns(found: Sequence[Exchange], *, limit: int) -> set[int]:
    """Return the positions of at most `limit` exchanges, by turns from each conversation and day, the latest first."""
    groups: dict[tuple[str, date], list[int]] = defaultdict(list)
    for number, exchange in enumerate(found):
        groups[exchange.group].append(number)
    ranked = sorted(
        (place, order, number) for order, group in enumerate(groups.values()) for place, number in enumerate(group)
    )
    return {number for *_, number in ranked[:limit]}


def _narrow(where: Filter, limits: TimeLimits) -> Filter:
    return replace(
        where,
        after=None if limits.start == MIN_MICROSECONDS else _from_microseconds(limits.start),
        before=None if limits.end == MAX_MICROSECONDS else _from_microseconds(limits.end),
    )


def _intersect(first: TimeLimits, second: TimeLimits) -> TimeLimits:
    return TimeLimits(max(first.start, second.start), min(first.end, second.end))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_ENTRY_CHARACTERS else text[: MAX_ENTRY_CHARACTERS - 1].rstrip() + "…"


def _from_microseconds(time: int) -> datetime:
    return datetime.fromtimestamp(time // 1_000_000, tz=timezone.utc)
