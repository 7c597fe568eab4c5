"""Timelines: what was said in a period, by day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """An exchange of a conversation."""

    time: datetime
    """Time of its first turn, in UTC."""
    title: str
    """Title of the conversation."""
    source: str
    citation: str
    text: str
    """The turn that opens the exchange, on one line."""
    chunk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineDay:
    """The entries of one UTC day, newest first."""

    day: date
    entries: tuple[TimelineEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What was said in a period, newest day first."""

    days: tuple[TimelineDay, ...] = ()
    is_truncated: bool = False
    """True if exchanges of the period are left out."""
