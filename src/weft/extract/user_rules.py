"""
Instructions and decisions that a user states for later: rules, corrections and notes, in English and Chinese.

| written by the user | predicate | value |
| --- | --- | --- |
| `Always use pnpm, never npm.` | `rule use pnpm`, `rule use npm` | `always`, `never` |
| `From now on, run the linter first`, `以后请用pnpm` | `rule run linter first`, `rule 用pnpm` | `always` |
| `Whenever I ask for code, add type hints.` | `rule add type hints when i ask for code` | `always` |
| `每次我问预算，都请写明货币` | `rule 写明货币，每当我问预算` | `always` |
| `Don't ever push to main`, `千万不要提交密钥` | `rule push to main` | `never` |
| `I prefer tabs over spaces in this repo.` | `prefers spaces or tabs` | `tabs` |
| `Remember that the demo is on Friday.`, `记住：…` | `remember` | `the demo is on Friday` |
| `No, the staging port is 5432.` | `correct staging port` | `5432` |
| `Always a pleasure`, `Never mind`, `Always check your own work?` | none | |

A rule and its contrary have the same predicate, which has one value at a time: the later one ends the earlier one.
Each pattern is matched at the start of a clause and has bounded repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_VERBS = (
    "use|run|write|keep|add|commit|push|put|make|check|ask|answer|reply|respond|include|avoid|format|name|prefer|start"
    "|end|create|call|test|set|show|explain|update|read|log|return|follow|ensure|mention|store|send|deploy|merge|rebase"
    "|squash|sign|delete|remove|touch|edit|change|modify|install|import|skip|assume|wrap|indent|sort|validate|escape"
    "|close|open|bump|pin|tag|review|cite|quote|list|convert|suggest|recommend|give|provide|speak|translate|mock"
    "|hardcode|hard-code|print|throw|catch|build|restart|back up|document|generate|amend|force-push|cache|mask"
    "|upgrade|downgrade|refactor|reformat|comment|disable|enable|publish|release|clean|drop|reset|fetch|pull|clone|copy"
    "|move|rename|raise|handle|lint|encrypt|book|schedule|remind|invite|pass|declare|define"
    "|report|combine|confirm|prioriti[sz]e|specify|highlight|verify|state|describe|compare|consider|label|link|group"
    "|order|number|define|justify|warn|summari[sz]e|calculate|round|point out|break"
)
"""Verbs of instructions; `always wanted` and `never mind` are none."""
_WORDS = r"[^,;:!?()\"“”\n]"
_HERE = r"(?: (?:in|for|on|across) (?:this|the|our|that|my) (?:repo|repository|project|codebase|code base|workspace))?"
_END = rf"{_HERE}(?: please)?[.!]{{0,3}}$"
_OPENING = r"(?:(?:[Oo]k|[Oo]kay|[Aa]nd|[Aa]lso|[Ss]o|[Bb]ut|[Pp]lease|[Aa]ctually|[Nn]ote),? ){0,2}"
_ALWAYS = r"(?:(?:[Yy]ou should |[Ww]e )?[Aa]lways|ALWAYS)(?: please)?"
_NEVER = r"(?:(?:[Yy]ou should |[Ww]e )?[Nn]ever(?: ever)?|NEVER|[Dd]o(?:n't| not) ever)"
_NOW_ON = (
    r"(?:[Ff]rom now on|[Gg]oing forward|[Ii]n (?:the )?future),? (?:please )?"
    r"(?:you should |we |let's |I want you to )?"
)
_RULE = re.compile(
    rf"{_OPENING}(?:(?P<now>{_NOW_ON})(?P<turn>always |never |do(?:n't| not)(?: ever)? )?"
    rf"|(?P<always>{_ALWAYS}) |{_NEVER} )"
    rf"(?P<text>(?:{_VERBS}) {_WORDS}{{2,100}}?)"
    rf"(?:,? (?:and )?(?:never|not|instead of|rather than) (?:use |with )?(?P<other>{_WORDS}{{2,40}}?))?{_END}"
)
_WHENEVER = re.compile(
    rf"{_OPENING}(?:{_NOW_ON})?"
    rf"(?:(?:[Ww]henever|[Ee](?:very|ach) time|[Aa]ny ?time) (?=I )|(?:[Ww]hen|[Ii]f) (?=I ask ))"
    rf"I (?P<when>{_WORDS}{{2,80}}?), (?:please |you should |I want you to )?"
    rf"(?P<turn>always |never |do(?:n't| not)(?: ever)? )?(?P<text>(?:{_VERBS}) [^;:!?()\"“”\n]{{2,100}}?){_END}"
)
_INSTEAD = re.compile(
    rf"{_OPENING}[Uu]se (?P<text>{_WORDS}{{2,40}}?),? (?:instead of|rather than|and not|not) "
    rf"(?P<other>{_WORDS}{{2,40}}?)"
    r"(?:,? (?:from now on|going forward|always)| (?:in|for) (?:this|the|our) (?:repo|repository|project|codebase))"
    r"[.!]?$"
)
_PREFERENCE = re.compile(
    rf"{_OPENING}I (?:really |strongly |generally |much )?prefer (?P<text>{_WORDS}{{2,60}}?) "
    rf"(?:over|instead of|rather than) (?P<other>{_WORDS}{{2,60}}?){_END}"
)
_NOTE = re.compile(
    rf"{_OPENING}(?:[Rr]emember|[Kk]eep in mind|[Dd]on't forget)(?: that |: ?)(?P<text>[^;!?()\"“”\n]{{5,160}}?)[.!]?$"
)
_CORRECTION = re.compile(
    rf"(?:[Nn]o|[Nn]ope|[Cc]orrection|[Aa]ctually)[,:.] (?P<subject>it|that|(?:the|our|my) {_WORDS}{{2,40}}?)"
    rf"(?:'s| is| should be) (?:now )?(?P<value>[^,;:!?()\"“”\s][^,;:!?()\"“”\n]{{0,60}}?)"
    rf"(?:,? not (?:the )?{_WORDS}{{1,40}}?)?[.!]?$"
)
_LAST_VALUE = re.compile(
    r"\b(?:[Tt]he|[Yy]our|[Oo]ur) (?P<key>[a-z][\w-]{1,20}(?: [a-z][\w-]{1,20}){0,3}) (?:is|are|=) (?:now )?[^\s,;]"
)
_VAGUE = re.compile(
    r"(?:it|that|this|they|what|why|how|not|so|because|fine|ok|okay|right|wrong|correct|true|me|you)\b", re.IGNORECASE
)
_FIRST = re.compile(r"\b(?:I|I'm|my|me|mine)\b")
_PROJECT = re.compile(
    r"\b(?:this|the|our) (?:repo|repository|project|codebase|code base|workspace)\b|这个项目|本项目|这个仓库"
)
_ARTICLE = re.compile(r"\b(?:the|a|an|please|our)\s+", re.IGNORECASE)

_ZH = r"[^，。；！？、,;!?\s\"“”]"
_ZH_RULE = re.compile(
    rf"(?:请)?(?:(?P<never>永远不要|绝对不要|千万不要|千万别|绝不要|(?:从现在开始|从现在起|今后|以后)(?:都|请){{0,2}}(?:不要|别)再?|不要再|别再)"
    rf"|(?P<always>从现在开始|从现在起|今后|以后|始终|总是|一律|务必)(?:都|请|要|必须|一律|始终|总是){{0,3}})"
    rf"(?P<text>{_ZH}{{2,60}}?)(?:[，,](?:不要用|别用|不用|而不是)(?P<other>{_ZH}{{1,30}}?))?[。！!.]?$"
)
_ZH_WHENEVER = re.compile(
    rf"(?:每当|每次|只要)我(?P<when>(?:问|要|让|请|提到|谈到|需要){_ZH}{{1,40}}?)(?:时候?|的时候)?[，,](?:都|请|你|就|要|必须|总是|始终|一律|务必){{0,4}}"
    rf"(?P<never>不要|别)?(?P<text>{_ZH}{{2,60}}?)[。！!.]?$"
)
_ZH_NOTE = re.compile(rf"(?:请)?(?:记住|记得|别忘了)[：:，, ]?(?P<text>{_ZH}{{4,80}}?)[。！!.]?$")
_ZH_PREFERENCE = re.compile(
    rf"我(?:更|比较)?(?:喜欢|偏好)(?P<text>{_ZH}{{1,30}}?)[，,]?(?:而不是|胜过|不喜欢)(?P<other>{_ZH}{{1,30}}?)[。！!.]?$"
)
_ZH_OWN = re.compile(
    rf"我(?:的(?P<key>名字|生日|邮箱|公司|职业|家乡|编辑器|时区)是|(?P<name>叫)|(?P<place>住在)|们决定)"
    rf"(?P<text>{_ZH}{{1,40}}?)[。！!.]?$"
)
_ZH_CORRECTION = re.compile(
    rf"(?:不对|不是|不)[，,](?P<subject>{_ZH}{{0,12}}?)(?:应该是|是)(?P<value>{_ZH}{{1,40}}?)[。！!.]?$"
)
_ZH_KEYS = {
    "名字": "name", "生日": "birthday", "邮箱": "email", "公司": "employer", "职业": "job title", "家乡": "hometown",
    "编辑器": "editor", "时区": "time zone",
}  # fmt: skip

SINGLE = r"rule_.+|correct_.+|prefers_.+_or_.+"
"""Predicates of this module with one value at a time, as they are stored."""


_TOPIC = re.compile(
    r"rule_(?:.*_when_i_(?:ask(?:_you)?_)?(?:(?:about|for|to)_)?|.*每当我(?:问|要|让|请|提到|谈到|需要)|用|[a-z]+_)?(?P<topic>.+)"
)


class Stated(NamedTuple):
    """A statement: predicate, value, and whether it is about the project of the conversation."""

    predicate: str
    value: str
    is_of_project: bool = False


def rule_topic(predicate: str) -> str:
    """
    Return the topic of a rule by its stored predicate; empty for other predicates.

    | predicate | topic |
    | --- | --- |
    | `rule_use_npm` | `npm`: the verb is in prompts on any subject |
    | `rule_include_currency_when_i_ask_about_budgets` | `budgets` |
    | `rule_写明货币每当我问预算` | `预算` |
    """
    match = _TOPIC.fullmatch(predicate)
    return match["topic"].replace("_", " ") if match else ""


def read_rules(clause: str, *, before: str = "") -> list[Stated]:
    """Return what a clause states for later; `before` is the turn before it, which a correction may be about."""
    text = clause.strip().replace("’", "'")
    if text.endswith(("?", "？", "吗", "呢")) or '"' in text or "“" in text:
        return []
    of_project = bool(_PROJECT.search(text)) or not _FIRST.search(text)
    found = [*_read_english(text, before), *_read_chinese(text, before)]
    personal = ("prefers ", "name", "lives_in", *_ZH_KEYS.values())
    return [
        s._replace(is_of_project=bool(_PROJECT.search(text)) if s.predicate.startswith(personal) else of_project)
        for s in found
    ]


def _read_english(text: str, before: str) -> Iterator[Stated]:
    if match := _RULE.match(text):
        is_always = bool(match["always"]) or bool(match["now"] and match["turn"] in (None, "always "))
        yield from _rule(match["text"], match["other"], is_always=is_always)
    elif match := _WHENEVER.match(text):
        is_always = match["turn"] in (None, "always ")
        yield from _rule(f"{match['text']} when I {match['when']}", None, is_always=is_always)
    elif match := _INSTEAD.match(text):
        yield from _rule(f"use {match['text']}", match["other"], is_always=True)
    elif match := _PREFERENCE.match(text):
        yield from _preference(match["text"], match["other"])
    elif (match := _NOTE.match(text)) and not _VAGUE.match(match["text"]):
        yield Stated("remember", match["text"])
    elif match := _CORRECTION.match(text):
        yield from _correction(match["subject"], match["value"], before)


def _read_chinese(text: str, before: str) -> Iterator[Stated]:
    if match := _ZH_RULE.match(text):
        yield from _rule(match["text"], match["other"], is_always=not match["never"], verb="用")
    elif match := _ZH_WHENEVER.match(text):
        yield from _rule(f"{match['text']}，每当我{match['when']}", None, is_always=not match["never"])
    elif match := _ZH_NOTE.match(text):
        yield Stated("remember", match["text"])
    elif match := _ZH_PREFERENCE.match(text):
        yield from _preference(match["text"], match["other"])
    elif match := _ZH_OWN.match(text):
        other = "name" if match["name"] else "lives_in" if match["place"] else "decided"
        key = _ZH_KEYS.get(match["key"] or "", other)
        yield Stated(key, match["text"])
    elif match := _ZH_CORRECTION.match(text):
        yield from _correction(match["subject"] or "it", match["value"], before)


def _rule(text: str, other: str | None, *, is_always: bool, verb: str = "use ") -> Iterator[Stated]:
    """Yield a rule, and its contrary for the thing that it rejects."""
    yield Stated(f"rule {_plain(text)}", "always" if is_always else "never")
    if other and is_always and text.startswith(verb.strip()):
        yield Stated(f"rule {verb}{_plain(other)}", "never")


def _preference(text: str, other: str) -> Iterator[Stated]:
    if not _VAGUE.match(text) and not _VAGUE.match(other):
        yield Stated(f"prefers {' or '.join(sorted((_plain(text), _plain(other))))}", text.strip())


def _correction(subject: str, value: str, before: str) -> Iterator[Stated]:
    """Yield the corrected value of what the clause names, or the turn before it."""
    key = re.sub(r"^(?:the|our|my) ", "", subject)
    if key in ("it", "that"):
        named = list(_LAST_VALUE.finditer(before[-400:]))
        key = named[-1]["key"] if named else ""
    is_value = len(value.split()) <= 4 and not _VAGUE.match(value)
    if key and is_value and (any(map(str.isdigit, value)) or key == re.sub(r"^(?:the|our|my) ", "", subject)):
        yield Stated(f"correct {_plain(key)}", value.strip())


def _plain(text: str) -> str:
    """Return a text without articles, quotes and case, so that near duplicates have one predicate."""
    return " ".join(_ARTICLE.sub("", text.strip(" .!'`")).replace("`", "").split()).lower()
