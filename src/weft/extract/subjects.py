"""
Subject of a sentence: the topic of the document, by name or pronoun, or another name.

In a document about George Rodney (type `admiral`):

| sentence begins | subject | kind |
| --- | --- | --- |
| `George Rodney was` | George Rodney | `topic` |
| `Rodney was` | George Rodney | `topic` |
| `He was` | George Rodney | `pronoun` |
| `The admiral was` | George Rodney | `topic` |
| `Jane Doe was` | Jane Doe | `name` |
| `Seats were` | Seats | `word`: the capital letter alone does not make it a name |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.extract.lexicon import DATES, LABELS, STARTERS, word_set
from weft.extract.names import key_words, name_key, sign_end, singular, without_qualifier
from weft.extract.phrases import Name, is_term, is_usable
from weft.extract.sentences import Sentence
from weft.text.normalise import CJK

SubjectKind: TypeAlias = Literal["topic", "pronoun", "name", "quoted", "term", "word"]

_LEAD = re.compile(r"[\"“'‘«\s]*(?:(?:The|A|An)\s+|所[谓謂][“「]?)?")
_PRONOUN = re.compile(
    r"(?:It|He|She|They)\b|(?:This|The)\s+([a-z]+)\b|它|[本该](?:服务|系统|文档|组件|模块|团队|工具|项目)"
)
_JOINED = re.compile(r"\s(?:and|or|for|with|in|on|to|from|by|vs\.?)\s|[:&?]|\s[-–—]\s")
"""Parts of a title that describes a page: in `Security and Kubernetes`, Kubernetes is not the topic."""
_FIRST_WORD = re.compile(r"[^\W\d_][\w-]*")
_KINDS = word_set(
    "service system tool library team company document page film movie album song book novel band group project "
    "module component package program application app city town village river mountain school university game "
    "series decision incident runbook paper"
)
"""Nouns after `This` that refer to the topic of the document."""
_TERM = re.compile(f"[{CJK}]+")


@dataclass(frozen=True, slots=True)
class Topic:
    """The entity that a document is about."""

    name: str = ""
    key: str = ""
    type: str = ""

    @property
    def bare_key(self) -> str:
        """Key of the name without its qualifier, by which the text calls the topic: `mercury`."""
        return name_key(bare_name(self.name))


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject at the start of a sentence; `end` is the offset after it."""

    name: str
    key: str
    end: int
    kind: SubjectKind

    @property
    def is_topic(self) -> bool:
        """True if the subject is the topic of the document."""
        return self.kind in ("topic", "pronoun")


def find_subject(sentence: Sentence, names: Sequence[Name], topic: Topic) -> Subject | None:
    """Return the subject at the start of a sentence if it is a name or refers to a name; otherwise None."""
    text = sentence.text
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    longest = max((name.end for name in names if name.start <= start and name.kind in ("phrase", "name")), default=0)
    if topic.key and (end := _topic_end(text, start, topic)) >= longest and end:
        return Subject(topic.name, topic.key, end, "topic")
    for name in names:
        if name.start > start:
            break
        if name.kind == "term":
            continue
        key = name_key(name.text)
        is_part = name.kind == "phrase" and key_words(key) <= key_words(topic.bare_key)
        if topic.key and is_part and not _JOINED.search(topic.name):
            return Subject(topic.name, topic.key, name.end, "topic")
        if topic.key and name.kind == "name" and len(key) > 1 and topic.bare_key.endswith(key):
            return Subject(topic.name, topic.key, name.end, "topic")
        if is_usable(name.text):
            return Subject(name.text, key, name.end, "quoted" if name.kind == "quoted" else "name")
    return _find_pronoun(text, topic) or _find_strong(sentence) or _find_word(text, start, topic)


def is_part_of_title(text: str, topic: Topic) -> bool:
    """Return True if a text is a part of the title without its last word: `Async` of `Async Support`."""
    words, title = key_words(name_key(text)), topic.bare_key.split()
    return len(title) > 1 and bool(words) and words < key_words(topic.bare_key) and singular(title[-1]) not in words


def bare_name(name: str) -> str:
    """Return a name without a suffix in parentheses: `Mutiny` of `Mutiny (1952 film)`."""
    return without_qualifier(name[:200]) or name


def _topic_end(text: str, start: int, topic: Topic) -> int:
    """Return the end of the topic's name at the start of the text; 0 if the text begins differently."""
    bare = bare_name(topic.name)
    for at in (0, start):
        end = at + len(bare)
        is_whole = not text[end : end + 1].isalnum() and sign_end(text, end) == end
        if text[at:end].casefold() == bare.casefold() and is_whole:
            return end
        if _TERM.search(bare[-1:]) and text[at:end] == bare:  # no space follows a Chinese name
            return end
    return 0


def _find_pronoun(text: str, topic: Topic) -> Subject | None:
    match = _PRONOUN.match(text)
    if not match or not topic.key:
        return None
    noun = match[1]
    if text.startswith("They ") and not topic.type:  # several things, of which the title is none
        return None
    if noun and noun != topic.type.split(" ")[-1] and not (text.startswith("This") and noun in _KINDS):
        return None
    return Subject(topic.name, topic.key, match.end(), "topic" if noun else "pronoun")


def _find_strong(sentence: Sentence) -> Subject | None:
    mark = next((mark for mark in sentence.marks if mark.kind == "strong" and mark.start == 0), None)
    if mark is None or not is_usable(mark.name) or len(mark.name.split()) > 6:
        return None
    name = mark.name.rstrip(":： ")
    return Subject(name, name_key(name), mark.end, "name") if name_key(name) else None


def _find_word(text: str, start: int, topic: Topic) -> Subject | None:
    """Return the first word of a sentence, or a Chinese term. Despite its capital letter, it need not be a name."""
    if (term := _TERM.match(text, start)) and (end := _term_end(text, start, term.end())):
        name = text[start:end]
        return Subject(name, name_key(name), end, "term") if is_term(name) else None
    word = _FIRST_WORD.match(text, start)
    if not word or not word[0][0].isupper():
        return None
    end = sign_end(text, word.end())
    name = text[start:end]
    folded = name.lower()
    if folded in STARTERS or folded in DATES or folded in LABELS or not is_usable(name):
        return None
    key = name_key(name)
    if key in key_words(topic.bare_key) and not _JOINED.search(
        topic.name
    ):  # `Rodney` in a document about George Rodney
        return Subject(topic.name, topic.key, end, "topic")
    return Subject(name, key, end, "word")


def _term_end(text: str, start: int, limit: int) -> int:
    """Return the end of the Chinese term at the start of the text: before the verb, or at the end of the run."""
    for verb in ("指的是", "是", "指", "由"):
        at = text.find(verb, start + 2, limit)
        if at > 0:
            return at
    return limit
