"""
First-person statements of the user in conversations, as facts about `user`. Rules, no model.

| written by the user | fact |
| --- | --- |
| `My name is Nora Quist.` | user – name – "Nora Quist" |
| `By the way, my favourite tea is rooibos.` | user – favourite_tea – "rooibos" |
| `I just moved to Bergen, so …`, `I moved to Bergen last week` | user – lives_in – "Bergen" |
| `I usually run in the morning, but …` | user – usually – "run in the morning" |
| `I prefer paved roads.` | user – prefers – "paved roads" |
| `Actually, we decided on the blue boat.` | user – decided – "on the blue boat" |
| `Always use pnpm, never npm.` | rules about the project of the conversation, see `user_rules.py` |
| `I want to be sure my bike is ready.`, `Is my name Nora?`, `I prefer it` | none |

A statement must be a main clause at the start of its sentence. Questions, quotations and turns that ask for a text
(`write a letter`) give none, since the `I` in them may be someone else. Precision: `benchmarks/memory/statements.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from typing import TypeAlias

from weft.extract.names import predicate_key
from weft.extract.user_rules import SINGLE, Stated, read_rules
from weft.records import Document, GivenFact
from weft.text.statement_forms import statement_form

_Identity: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]

SOURCE = "conversation"
SUBJECT = "user"
PROJECT_PREFIX = "project "
"""Beginning of the subject of statements about a project; the folder of the project follows."""
MAX_TURN_CHARACTERS = 2000
"""A longer turn is more often a pasted text than a statement."""
MAX_FACTS = 100
"""Maximum number of facts per conversation."""
_OWN = (
    "name",
    "budget",
    "birthday",
    "email",
    "time zone",
    "timezone",
    "editor",
    "username",
    "hometown",
    "job title",
    "goal",
    "employer",
    "major",
    "native language",
)
_NAMED = ("dog", "cat", "puppy", "kitten", "son", "daughter", "wife", "husband", "sister", "brother", "mom", "mother",
          "dad", "father", "boss")  # fmt: skip
_SINGLE = re.compile(
    rf"lives_in|(?:favou?rite|preferred)_.+|(?:{'|'.join(_OWN).replace(' ', '_')})|(?:{'|'.join(_NAMED)})_?s_name"
    rf"|{SINGLE}"
)
"""Predicates with one value at a time, as they are stored: a later statement ends an earlier one."""

_HEAD = re.compile(r"user(?: \(\d{4}-\d\d-\d\d \d\d:\d\d\))?: ")
_CLAUSE_END = re.compile(
    r"(?<=[.!?])\s+|(?<=[。！？；])|\n+|(?:,| -) (?=(?:and |but |so )?(?:I|I'm|I've|[Mm]y|[Ww]e) )"
)
"""End of a sentence, or of a clause before another one in the first person."""
_TASK = re.compile(
    r"\b(?:write|rewrite|draft|compose|translate|proofread|edit|summari[sz]e|pretend|imagine|role-?play|act as"
    r"|lyrics|poem|essay|screenplay|dialogue|you are an?)\b",
    re.IGNORECASE,
)
"""Words of turns that ask for a text or contain one."""
_FICTION = re.compile(
    r"\b(?:pretend|imagine|role-?play|act as|lyrics|poem|essay|story|screenplay|dialogue|you are an?)\b", re.IGNORECASE
)
"""Words of turns whose rules hold for one text only."""
MAX_RULE_CHARACTERS = 600
"""Rules are read in shorter turns, also if they ask for a text; a longer one is more often a prompt or a paste."""
_OPENING = (
    r"(?:(?:By the way|Actually|Also|Oh|Well|Yes|No|[Aa]nd|[Bb]ut|[Ss]o|Anyway|Speaking of which|Personally"
    r"|In general),? ){0,2}"
)
_END = (
    r"(?=[.!]*$| (?:because|since|but|so|which|though) "
    r"|, (?:but|so|which|who|where|especially|specifically|since|because|as|with|around|they|it|he|she|though"
    r"|and (?:I|it|it's|he|he's|she|she's|they|they're|that|then|we|my|some|sometimes|those|has))\b)"
)
"""
End of a value. A comma ends it only before a new clause: a list or an apposition would be cut in half.

    I usually work 40 hours a week, but some weeks …      work 40 hours a week
    I usually stick to smaller, local venues              none
"""
_SINCE = (
    r"(?=(?: in)? (?:last|this) (?:week|weekend|month|year|spring|summer|autumn|fall|winter)\b"
    r"| (?:yesterday|recently|today|(?:a|an|one|two|three|a few|some|\d{1,2}) (?:day|week|month|year)s? ago)\b"
    r"| in (?:(?:19|20)\d\d|January|February|March|April|May|June|July|August|September|October|November|December)\b)"
)
"""Start of the time at the end of a clause: `I moved to Bergen last week`."""
_WORDS = r"[^,;:!?()\"“”]{2,100}?"
_PREDICATES = (
    (
        "",
        rf"[Mm]y (?:current |new )?(?P<key>(?:favou?rite|preferred) [a-z-]{{2,20}}(?: [a-z-]{{2,20}})?"
        rf"|{'|'.join(_OWN)}|(?:{'|'.join(_NAMED)})'s name) "
        rf"(?:is|are) (?P<value>{_WORDS}){_END}",
    ),
    (
        "lives_in",
        rf"I(?:'ve| have)? (?:just |recently |finally )?(?:moved to|live in) (?P<value>{_WORDS})(?:{_SINCE}|{_END})",
    ),
    ("from", rf"I(?:'m| am) (?:originally from|from|based in) (?P<value>{_WORDS}){_END}"),
    ("graduated", rf"I graduated (?P<value>(?:from|with|in) {_WORDS}){_END}"),
    ("prefers", rf"I (?:really |usually |generally |always |still )?prefer (?P<value>{_WORDS}){_END}"),
    ("usually", rf"I (?:usually|typically|normally) (?P<value>[^,;!?()\"“”]{{2,100}}?){_END}"),
    ("likes", rf"I (?:really |absolutely )?(?:love|enjoy) (?!the )(?P<value>{_WORDS}){_END}"),
    ("decided", rf"(?:[Ww]e|I)(?:'ve| have)? (?:finally |just )?decided (?P<value>(?:to|on|against) {_WORDS}){_END}"),
)
_RULES = tuple((predicate, re.compile(_OPENING + text)) for predicate, text in _PREDICATES)
_VAGUE = re.compile(
    r"(?:that|how|what|your|one|not|also|going|getting|being|to know|to hear|just|end up|all|something|anything)\b"
    r"|.*?\b(?:it|its|this|these|those|them|then|they|their|him|her|you|your|suggestion|idea)\b",
    re.IGNORECASE,
)
"""Values that mean nothing without the sentences before, or that are about the answer."""


def project_subject(folder: str) -> str:
    """Return the subject of statements about the project in a folder."""
    return f"{PROJECT_PREFIX}{folder}"


def project_of(subject: str) -> str:
    """Return the folder of the project that a subject stands for; empty for other subjects."""
    folder = subject.removeprefix(PROJECT_PREFIX)
    is_path = folder.startswith("/") or folder[1:3] in (":\\", ":/")
    return folder if folder != subject and is_path else ""


def read_statements(document: Document) -> list[GivenFact]:
    """Return the facts that the user of a conversation states, oldest first; none for other documents."""
    if document.form != "conversation":
        return []
    project = str(document.metadata.get("project") or "")
    found: dict[_Identity, GivenFact] = {}
    for _, stated, time in iter_stated(document):
        begin = datetime.fromtimestamp(time / 1_000_000, tz=timezone.utc) if time is not None else None
        subject = project_subject(project) if stated.is_of_project and project else SUBJECT
        fact = GivenFact(
            subject=subject, predicate=stated.predicate, value=stated.value, source=SOURCE, valid_from=begin
        )
        if has_one_value(predicate_key(stated.predicate)):
            _end_earlier(found, fact)
        found.setdefault(_identity(fact), fact)
    return list(found.values())[:MAX_FACTS]


def iter_stated(document: Document) -> Iterator[tuple[str, Stated, int | None]]:
    """Yield each clause of the user that states something, what it states, and the time of the turn."""
    for text, time, before in _iter_turns(document):
        is_task = len(text) > MAX_TURN_CHARACTERS or _TASK.search(text) is not None
        has_rules = len(text) <= MAX_RULE_CHARACTERS and _FICTION.search(text) is None
        for clause in _CLAUSE_END.split(text):
            rules = read_rules(clause, before=before) if has_rules else []
            for stated in rules:
                yield clause, stated, time
            if not rules and not is_task and (statement := read_clause(clause)) is not None:
                of_project = statement[0] == "decided" and clause.strip().startswith(("We ", "we "))
                yield clause, Stated(statement[0], statement[1], of_project), time


def read_clause(clause: str) -> tuple[str, str, bool] | None:
    """Return predicate, value, and whether the predicate has one value at a time; None if nothing is stated."""
    text = clause.strip().replace("’", "'")
    if text.endswith("?") or '"' in text or "“" in text:
        return None
    for predicate, pattern in _RULES:
        if (match := pattern.match(text)) is None:
            continue
        value = match["value"].strip().rstrip(".")
        if _VAGUE.match(value):
            return None
        found = predicate or match["key"]
        return found, value, has_one_value(predicate_key(found))
    return None


def has_one_value(predicate: str) -> bool:
    """Return True if a predicate of these rules has one value at a time, so that a later statement ends an earlier."""
    return _SINGLE.fullmatch(predicate) is not None


def _iter_turns(document: Document) -> Iterator[tuple[str, int | None, str]]:
    """Yield the turns of the user: text, time, and the turn before it."""
    ends = [*(turn.start for turn in document.turns[1:]), len(document.text)]
    before = ""
    for turn, end in zip(document.turns, ends, strict=True):
        text = document.text[turn.start : end]
        if head := _HEAD.match(text):
            yield text[head.end() :], turn.time, before
        before = text.strip()


def _identity(given: GivenFact) -> _Identity:
    """Return subject, predicate and value of a statement; the same for the same statement in other words."""
    return given.subject, statement_form(given.predicate), statement_form(given.value)


def _end_earlier(found: dict[_Identity, GivenFact], fact: GivenFact) -> None:
    """End the other values of a single-valued predicate when a new one begins; without times the new one replaces."""
    new = _identity(fact)
    for key, known in list(found.items()):
        if key[:2] != new[:2] or key == new or known.valid_to:
            continue
        if known.valid_from and fact.valid_from and known.valid_from < fact.valid_from:
            found[key] = replace(known, valid_to=fact.valid_from)
        else:
            del found[key]
