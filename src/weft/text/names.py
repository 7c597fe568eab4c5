"""
Names made comparable, and found again in running text.

A key is the folded words of a name without leading article, possessive, parenthesised suffix or the plural of its
last word: `The Auth-Services (core)` and `auth service` share the key `auth service`. Digits are never folded away, so
`SR-052` is not `SR-053` and `v1` is not `v2`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from weft.text.normalise import CJK, fold

MAX_WORDS = 8
"""Longest key that is looked for in text, in words."""

MAX_CHARACTERS = 12
"""Longest key that is looked for in a run of CJK characters."""

MAX_NAME = 200
"""Longer names are cut: nobody calls a thing so."""

_WORD = re.compile(f"[{CJK}]|[^\\W_{CJK}]+(?:['’][^\\W_{CJK}]+)?")
_CJK = re.compile(f"[{CJK}]")
_SUFFIX = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_ARTICLES = ("the", "a", "an")
_POSSESSIVE = re.compile("['’]s?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of running text: folded, with where it stands and whether it was written like a name."""

    text: str
    start: int
    end: int
    is_name_like: bool
    """Capitalised, or holding a digit, or CJK."""


def words(text: str) -> list[Word]:
    """Return the words of `text`; each CJK character is one."""
    return [
        Word(_folded(match.group()), match.start(), match.end(), _is_name_like(match.group()))
        for match in _WORD.finditer(text)
    ]


def name_key(name: str) -> str:
    """Return what makes two names the same; empty for a name without letters or digits."""
    name = name[:MAX_NAME]
    bare = _SUFFIX.sub("", name)
    return join_key([word.text for word in words(bare)] or [word.text for word in words(name)])


def join_key(parts: Sequence[str]) -> str:
    """Return the key of folded words: no leading article, last word singular, CJK without spaces."""
    parts = list(parts)
    while len(parts) > 1 and parts[0] in _ARTICLES:
        parts = parts[1:]
    if not parts:
        return ""
    parts[-1] = _singular(parts[-1])
    key = parts[0]
    for before, part in zip(parts, parts[1:], strict=False):
        key += part if _CJK.match(before) and _CJK.match(part) else f" {part}"
    return key


def spans(found: Sequence[Word], at: int) -> Iterator[tuple[int, str]]:
    """Yield (number of words, key) for the names that may begin at word `at`, longest first."""
    limit = MAX_CHARACTERS if _CJK.match(found[at].text) else MAX_WORDS
    for size in range(min(limit, len(found) - at), 0, -1):
        yield size, join_key([word.text for word in found[at : at + size]])


def candidate_keys(found: Sequence[Word]) -> set[str]:
    """Return every key that a run of words could be: what has to be looked up in the dictionary."""
    return {key for at in range(len(found)) for _, key in spans(found, at) if key}


def match_names(found: Sequence[Word], known: Collection[str]) -> list[tuple[str, int, int]]:
    """
    Return (key, first word, number of words) of the known names in a text, longest first, none overlapping.

    A single word only counts where it is written like a name, so that the film `It` is not in every sentence.
    """
    matches: list[tuple[str, int, int]] = []
    at = 0
    while at < len(found):
        for size, key in spans(found, at):
            if key in known and found[at].text not in _ARTICLES[: 3 if size > 1 else 0]:
                if size > 1 or found[at].is_name_like:
                    matches.append((key, at, size))
                    at += size
                    break
        else:
            at += 1
    return matches


def _folded(word: str) -> str:
    return _POSSESSIVE.sub("", fold(word)).replace("'", "").replace("’", "")


def _is_name_like(word: str) -> bool:
    return not word.islower() or any(character.isdigit() for character in word)


def _singular(word: str) -> str:
    """`services` → `service`, `entries` → `entry`; short words, `ss`, `us` and `is` stay."""
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
