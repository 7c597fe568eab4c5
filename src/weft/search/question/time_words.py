"""
Times that a question names, resolved against the time at which it is asked.

    asked on Tuesday, 2026-03-17
    what did we decide yesterday?              2026-03-16
    the port of last week                      2026-03-09 to 2026-03-15
    which host did I choose in February?       2026-02-01 to 2026-02-28
    what happened 3 days ago?                  2026-03-14
    plans of 2025                              none: a year alone is more often a number or a name
    上个月的会议                                2026-02-01 to 2026-02-28

A question can also name an order: `the first time`, `the most recent`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from typing import Literal

from weft.records import TimeLimits, to_microseconds

MAX_QUESTION_CHARACTERS = 2000
"""Later characters of a question are not searched."""
_DAY = timedelta(days=1)
_MONTHS = tuple("january february march april may june july august september october november december".split())
_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}

Days = tuple[date, date]
"""First day, and the day after the last one."""

_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?![\d-])")
_NAMED_DAY = re.compile(r"\b(today|yesterday)\b|(今天|昨天|前天)", re.IGNORECASE)
_PERIOD = re.compile(
    r"\b(last|this|past|previous)\s+(week|month|year)\b|(上周|上星期|本周|上个?月|本月|去年|今年)", re.I
)
_AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_MONTH = re.compile(rf"\b(?:in|of|during|since last|last)\s+({'|'.join(_MONTHS)})(?:\s+(\d{{4}}))?\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:on|last)\s+({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)

_FIRST = re.compile(r"\b(?:(?:the|my|our) first time|earliest|originally|initially)\b|第一次|最早|最初", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:(?:the|my|our) last time|latest|most recent|most recently|currently)\b|最近|最后一次|目前", re.I
)


def find_order(question: str) -> Literal["first", "last"] | None:
    """Return whether a question asks for the first or the last time of something; None for neither or both."""
    text = question[:MAX_QUESTION_CHARACTERS]
    is_first, is_last = bool(_FIRST.search(text)), bool(_LAST.search(text))
    if is_first == is_last:
        return None
    return "first" if is_first else "last"


def find_time(question: str, *, at: datetime) -> TimeLimits | None:
    """Return the time that a question names in whole UTC days; None without one. The first matching rule is used."""
    text, today = question[:MAX_QUESTION_CHARACTERS], at.astimezone(timezone.utc).date()
    for pattern, read in _RULES:
        if found := pattern.search(text):
            try:
                first, after = read(found, today)
                return TimeLimits(_start_of(first), _start_of(after))
            except (ValueError, OverflowError):  # no such day, or outside the calendar
                continue
    return None


def _read_iso(found: re.Match[str], today: date) -> Days:
    day = date(int(found[1]), int(found[2]), int(found[3]))
    return day, day + _DAY


def _read_named_day(found: re.Match[str], today: date) -> Days:
    back = {"today": 0, "今天": 0, "yesterday": 1, "昨天": 1, "前天": 2}[found[0].lower()]
    day = today - back * _DAY
    return day, day + _DAY


def _read_period(found: re.Match[str], today: date) -> Days:
    chinese = found[3] or ""
    is_current = (found[1] or "").lower() == "this" or chinese[:1] in ("本", "今")
    unit = (found[2] or "").lower() or {"周": "week", "期": "week", "月": "month", "年": "year"}[chinese[-1]]
    return _unit_around(today, unit, back=0 if is_current else 1)


def _read_ago(found: re.Match[str], today: date) -> Days:
    count = _NUMBERS.get(found[1].lower()) or int(found[1])
    unit = found[2].lower()
    if unit == "day":
        day = today - count * _DAY
        return day, day + _DAY
    return _unit_around(today, unit, back=count)


def _read_month(found: re.Match[str], today: date) -> Days:
    month = _MONTHS.index(found[1].lower()) + 1
    year = int(found[2]) if found[2] else today.year - (month > today.month)
    return _month(year, month)


def _read_weekday(found: re.Match[str], today: date) -> Days:
    back = (today.weekday() - _WEEKDAYS.index(found[1].lower())) % 7 or 7
    day = today - back * _DAY
    return day, day + _DAY


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days]], ...] = (
    (_ISO, _read_iso),
    (_NAMED_DAY, _read_named_day),
    (_AGO, _read_ago),
    (_PERIOD, _read_period),
    (_MONTH, _read_month),
    (_WEEKDAY, _read_weekday),
)


def _unit_around(today: date, unit: str, *, back: int) -> Days:
    """Return the week (from Monday), month or year that lies `back` units before the current one."""
    if unit == "week":
        monday = today - (today.weekday() + 7 * back) * _DAY
        return monday, monday + 7 * _DAY
    if unit == "year":
        return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)
    months = today.year * 12 + today.month - 1 - back
    return _month(months // 12, months % 12 + 1)


def _month(year: int, month: int) -> Days:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _start_of(day: date) -> int:
    return to_microseconds(datetime.combine(day, time(), tzinfo=timezone.utc))
