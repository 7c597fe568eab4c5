"""
Times that a question names, resolved against the time at which it is asked.

    asked on Tuesday, 2026-03-17
    what did we decide yesterday?              2026-03-16
    the port of last week                      2026-03-09 to 2026-03-15
    which host did I choose in February?       2026-02-01 to 2026-02-28
    what happened 3 days ago?                  2026-03-14
    the talks of the last three days           2026-03-14 to 2026-03-17
    what changed since Monday?                 2026-03-16 and later
    the plan before last Friday                until 2026-03-12
    plans of 2025                              none: a year alone is more often a number or a name
    上个月的会议                                2026-02-01 to 2026-02-28
    上周三聊了什么                               2026-03-11

A question can also name an order: `the first time`, `the most recent`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from functools import lru_cache
from typing import Literal, NamedTuple

from weft.records import TimeLimits, to_microseconds
from weft.records.results import MAX_MICROSECONDS, MIN_MICROSECONDS

MAX_QUESTION_CHARACTERS = 2000
"""Later characters of a question are not searched."""
_DAY = timedelta(days=1)
_MONTHS = tuple("january february march april may june july august september october november december".split())
_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}

Days = tuple[date, date]
"""First day, and the day after the last one."""

_CHINESE_NUMBERS = {
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "几": 3,
}
_CHINESE_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_CHINESE_DAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_NUMBER = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)}|few|couple of)"
_CHINESE_NUMBER = rf"(\d{{1,3}}|[{''.join(_CHINESE_NUMBERS)}])"
_RELATION = r"(?:since|before|after|until|till)"

_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?![\d-])")
_NAMED_DAY = re.compile(
    r"\b(?:(today|yesterday)(?:\s+(?:morning|afternoon|evening))?|(this\s+(?:morning|afternoon|evening)|tonight|last\s+night))\b"
    r"|(今天|今早|今晚|昨天|昨晚|大前天|前天)",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(last|this|past|previous)\s+(week|month|year)\b"
    r"|(上上周|上上个?星期|上上个?月|上周|上个?星期|上个?礼拜|本周|这周|这个?星期|上个?月|本月|这个?月|前年|去年|今年)(?![一二三四五六日天末])",
    re.I,
)
_AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_CHINESE_AGO = re.compile(rf"{_CHINESE_NUMBER}个?(天|周|星期|礼拜|月|年)(?:以前|之前|前)")
_LAST_DAYS = re.compile(rf"\b(?:last|past|previous)\s+{_NUMBER}\s+(day|week|month|year)s\b", re.IGNORECASE)
_CHINESE_LAST_DAYS = re.compile(
    rf"(?:最近|过去|近|前)(?:的)?{_CHINESE_NUMBER}个?(天|日|周|星期|礼拜|月|年)(?!前|之前|以前)"
)
_WEEKEND = re.compile(r"\b(?:the|last|this|past)\s+weekend\b|(?:上个?|这个?|本)?周末", re.IGNORECASE)
_MONTH = re.compile(
    rf"\b(?:in|of|during|since last|last|{_RELATION})\s+({'|'.join(_MONTHS)})(?:\s+(\d{{4}}))?\b(?!\s+\d)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b(?:on|last|{_RELATION}|{_RELATION} last)\s+({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_CHINESE_WEEKDAY = re.compile(r"(上上个?|上个?|这个?|本)?(?:周|星期|礼拜)([一二三四五六日天])(?!个)")
_SINCE = re.compile(r"(?:\bsince|\bafter)(?:\s+the)?$", re.IGNORECASE)
_UNTIL = re.compile(r"(?:\bbefore|\buntil|\btill)(?:\s+the)?$", re.IGNORECASE)
_CHINESE_RELATION = re.compile(r"(以来|至今|到现在|以后|之后|以前|之前|前)")

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


class NamedTime(NamedTuple):
    """A time that a question names, and where its words stand."""

    limits: TimeLimits
    start: int
    end: int


def find_time(question: str, *, at: datetime) -> TimeLimits | None:
    """Return the time that a question names in whole UTC days; None without one. The first matching rule is used."""
    found = find_time_span(question, at=at)
    return found.limits if found else None


def find_time_span(question: str, *, at: datetime) -> NamedTime | None:
    """Return the time of `find_time` with its position, a word such as `since` included."""
    return _find_span(question[:MAX_QUESTION_CHARACTERS], at.astimezone(timezone.utc).date())


@lru_cache(maxsize=64)
def _find_span(text: str, today: date) -> NamedTime | None:
    """Return the time of `find_time_span`. A search asks more than once."""
    for pattern, read in _RULES:
        if found := pattern.search(text):
            try:
                first, after = read(found, today)
                return _relate(text, found, TimeLimits(_start_of(first), _start_of(after)))
            except (ValueError, OverflowError):  # no such day, or outside the calendar
                continue
    return None


def _relate(text: str, found: re.Match[str], named: TimeLimits) -> NamedTime:
    """Return a time as `since`, `after`, `before` or `until` change it."""
    start, end = found.span()
    own = found[0].split()[0].lower() if found[0].isascii() else ""
    before = text[:start].rstrip()
    late, early = _SINCE.search(before), _UNTIL.search(before)
    word = own if own in ("since", "after", "before", "until", "till") else ""
    if relation := late or early:
        start, word = relation.start(), relation[0].split()[0].lower()
    chinese = _CHINESE_RELATION.match(text, end)
    if chinese:
        end, word = chinese.end(), chinese[0]
    match word:
        case "since" | "以来" | "至今" | "到现在":
            named = TimeLimits(named.start, MAX_MICROSECONDS)
        case "after" | "以后" | "之后":
            named = TimeLimits(named.end, MAX_MICROSECONDS)
        case "before" | "以前" | "之前" | "前":
            named = TimeLimits(MIN_MICROSECONDS, named.start)
        case "until" | "till":
            named = TimeLimits(MIN_MICROSECONDS, named.end)
    return NamedTime(named, start, end)


def _read_iso(found: re.Match[str], today: date) -> Days:
    day = date(int(found[1]), int(found[2]), int(found[3]))
    return day, day + _DAY


def _read_named_day(found: re.Match[str], today: date) -> Days:
    word = (found[1] or found[2] or found[3]).lower()
    back = {"yesterday": 1, "昨天": 1, "昨晚": 1, "前天": 2, "大前天": 3}.get(word, int(word.startswith("last")))
    day = today - back * _DAY
    return day, day + _DAY


def _read_period(found: re.Match[str], today: date) -> Days:
    chinese = found[3] or ""
    back = 0 if (found[1] or "").lower() == "this" else 1
    if chinese:
        back = 0 if chinese[0] in "本这今" else 2 if chinese.startswith(("上上", "前年")) else 1
    units = {"周": "week", "期": "week", "拜": "week", "月": "month", "年": "year"}
    return _unit_around(today, (found[2] or "").lower() or units[chinese[-1]], back=back)


def _read_ago(found: re.Match[str], today: date) -> Days:
    count, unit = _count(found[1]), _CHINESE_UNITS.get(found[2], found[2].lower())
    if unit == "day":
        day = today - count * _DAY
        return day, day + _DAY
    return _unit_around(today, unit, back=count)


def _read_last_days(found: re.Match[str], today: date) -> Days:
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[_CHINESE_UNITS.get(found[2], found[2].lower())]
    return today - _count(found[1]) * days * _DAY, today + _DAY


def _read_weekend(found: re.Match[str], today: date) -> Days:
    """Return the Saturday and Sunday of this week on these days, else those of the week before."""
    saturday = today - ((today.weekday() - 5) % 7) * _DAY
    return saturday, saturday + 2 * _DAY


def _read_chinese_weekday(found: re.Match[str], today: date) -> Days:
    wanted = _CHINESE_DAYS[found[2]]
    if found[1]:
        weeks = 2 if found[1].startswith("上上") else 1 if found[1].startswith("上") else 0
        day = today - (today.weekday() + 7 * weeks - wanted) * _DAY
    else:
        day = today - ((today.weekday() - wanted) % 7 or 7) * _DAY
    return day, day + _DAY


def _count(text: str) -> int:
    word = text.lower()
    known = {**_NUMBERS, **_CHINESE_NUMBERS, "few": 3, "couple of": 2}
    return known.get(word) or int(word)


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
    (_CHINESE_AGO, _read_ago),
    (_LAST_DAYS, _read_last_days),
    (_CHINESE_LAST_DAYS, _read_last_days),
    (_WEEKEND, _read_weekend),
    (_PERIOD, _read_period),
    (_MONTH, _read_month),
    (_WEEKDAY, _read_weekday),
    (_CHINESE_WEEKDAY, _read_chinese_weekday),
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
