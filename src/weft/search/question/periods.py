"""
Questions about a time alone, and the period that they ask for.

    asked on Tuesday, 2026-03-17
    What did we talk about last week?          2026-03-09 to 2026-03-15
    what changed since Monday?                 2026-03-16 until now
    what was I doing before the holiday?       up to the last pause of several days
    上周我们聊了什么？                            2026-03-09 to 2026-03-15
    where did we leave off?                    the latest day
    which port did we choose last week?        none: it has a subject, a port
    fix it today                               none: it does not ask

Words of time are cut out of the question. What remains may only be words that a question about any time can have.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from weft.extract.lexicon import word_set
from weft.records import TimeLimits
from weft.records.results import MAX_MICROSECONDS, MIN_MICROSECONDS
from weft.search.question.time_words import MAX_QUESTION_CHARACTERS, find_time_span

Anchor: TypeAlias = Literal["", "before_pause", "after_pause", "latest"]

MAX_PERIOD_QUESTION_CHARACTERS = 200
"""A longer text has a subject."""

_PAUSE = re.compile(
    r"\b(before|until|since|after|during|over)?\s?(?:the|my|our)?\s?\b"
    r"(holidays?|vacation|break|time off|trip|christmas|easter|thanksgiving|(?<=my )leave|(?<=our )leave)\b"
    r"|(假期|放假|休假|度假|节假日|长假|寒假|暑假|春节|国庆|五一)(以前|之前|前|以来|以后|之后|后)?",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"\b(?:last|previous) (?:time|sessions?|conversations?|chats?)\b|\bwhere (?:did|were|was) (?:we|i)\b"
    r"|\b(?:leave|left|leaving) off\b|上次|上一次|上回",
    re.IGNORECASE,
)
_RECENT = re.compile(
    r"\b(?:recently|lately|these days|in recent days|the other day|of late)\b|最近|近来|近期|这几天|这些天|前几天",
    re.IGNORECASE,
)
RECENT_DAYS = 14
"""Days that `recently` covers, and a period without a start before its latest exchange."""

_ASKING = frozenset(
    "what whats which recap summary summarise summarize show list tell timeline remind overview".split()
)
_ASKING |= frozenset("anything history where catch review".split())
_GENERIC = _ASKING | word_set(
    "do does doing did done was were is are been being have has had s i we you me us my our they the a an of "
    "about in on at to for with from and or all everything something things stuff thing topics topic subjects "
    "talk talked talking discuss discussed discussing discussion discussions chat chatted chatting chats speak "
    "spoke spoken said conversation conversations session sessions work worked working up happen happened "
    "happening going went go change changed changes changing new update updated updates sum log give bring brief "
    "cover covered decide decided decisions activity activities progress accomplish accomplished achieve achieved "
    "finish finished complete completed learn learned please can could there here since then now so far between "
    "during over through time day days else main mostly much any into together kind kinds sort off leave left "
    "actually just"
)
_CHINESE_WORDS = (
    "我们 咱们 我 你 咱 聊天 聊过 聊 谈论 谈 讨论 说 讲 做 干 在 有 了 过 的 什么 哪些 哪 啥 事情 事 内容 话题 "
    "变化 变更 改变 改动 更改 变 改 更新 发生 工作 忙 进展 新 都 主要 回顾 总结 概括 一下 列出 列 告诉 请 帮 给 "
    "对话 会话 记录 时间线 吗 呢 呀 啊 吧 里 中 期间 那 这 到 从 是 以 决定 完成 学 大家 一些 些 和 "
    "以来 至今 现在 之前 以前 之后 以后 前 后 起 来"
)
_CHINESE = sorted(_CHINESE_WORDS.split(), key=len, reverse=True)
"""The longest first, because they are cut out of the text."""
_CHINESE_ASKING = ("什么", "哪些", "啥", "总结", "回顾", "列", "吗", "概括", "时间线", "哪")
_WORD = re.compile(r"[a-z]+")


class Period(NamedTuple):
    """A period that a question asks for."""

    limits: TimeLimits
    anchor: Anchor = ""
    """How the conversations themselves bound the period, which their times then decide."""


def find_asked_period(question: str, *, at: datetime) -> Period | None:
    """Return the period of a question about a time alone; None for a question with a subject, or without a time."""
    text = " ".join(question.split())
    if len(text) > MAX_PERIOD_QUESTION_CHARACTERS:
        return None
    found = _find(text, at=at)
    if found is None:
        return None
    period, rest = found
    said = _WORD.findall(text.lower())
    is_asking = any(word in _ASKING for word in said) or any(word in text for word in _CHINESE_ASKING)
    return period if is_asking and _is_generic(rest) else None


def read_period(text: str, *, at: datetime) -> Period | None:
    """Return the period that a text names, such as `last week`; None without one."""
    found = _find(" ".join(text[:MAX_QUESTION_CHARACTERS].split()), at=at)
    return found[0] if found else None


def _find(text: str, *, at: datetime) -> tuple[Period, str] | None:
    """Return the period in a text, and the text without its words."""
    if named := find_time_span(text, at=at):
        return Period(named.limits), f"{text[: named.start]} {text[named.end :]}"
    if found := _LATEST.search(text):
        return Period(TimeLimits(MIN_MICROSECONDS, MAX_MICROSECONDS), "latest"), _without(text, found)
    if found := _PAUSE.search(text):
        relation = (found[1] or found[4] or "").lower()
        is_after = relation in ("since", "after", "以来", "以后", "之后", "后")
        anchor: Anchor = "after_pause" if is_after else "before_pause"
        return Period(TimeLimits(MIN_MICROSECONDS, MAX_MICROSECONDS), anchor), _without(text, found)
    if found := _RECENT.search(text):
        now = int(at.timestamp() * 1_000_000)
        return Period(TimeLimits(now - RECENT_DAYS * 86_400_000_000, MAX_MICROSECONDS)), _without(text, found)
    return None


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"


def _is_generic(rest: str) -> bool:
    """Return True if the words that remain of a question name no subject."""
    folded = rest.lower().replace("’", "'")
    if not all(word in _GENERIC for word in _WORD.findall(folded)):
        return False
    left = _WORD.sub(" ", folded)
    for word in _CHINESE:
        left = left.replace(word, " ")
    return not any(map(str.isalnum, left))
