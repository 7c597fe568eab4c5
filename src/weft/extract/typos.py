"""
Typo detection: pairs of keys that may be spellings of one name.

| keys | typo |
| --- | --- |
| `kubernetes`, `kubernets` | one letter is missing |
| `auth service`, `auth sevrice` | two letters are swapped |
| `data base`, `database` | only spaces differ |
| `herman`, `hermann` | none: a single word needs 8 letters |
| `sr 052`, `sr 053` | none: numbers, Roman numerals and the signs of `C++` and `C#` are never typos |
| `数据库`, `数据裤` | none: in unspaced scripts, a single character can be a word |

A typo is one missing, added, different or swapped letter inside one long word, or a difference in spaces. Two different
names can also differ by one letter, so a pair is only a suggestion for review.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, groupby, takewhile
from typing import NamedTuple

import numpy as np

from weft.extract.names import SIGNS, iter_words, singular
from weft.text.normalise import UNSPACED

MIN_SINGLE_WORD_LETTERS = 8
"""
Minimum number of letters of a one-word name.

Shorter similar words are mostly different names (`Herman`, `Hermann`).
"""
MIN_WORD_LETTERS = 6
"""Minimum number of letters of a word in a name of several words."""
MAX_SIMILAR_KEYS = 50
"""Maximum number of keys that differ in the same letter. With more keys, the letter distinguishes different names."""

_NUMERAL = re.compile("[ivxlcdm]+")
_NUMBERS = re.compile(r"\d+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


class WrittenKey(NamedTuple):
    """A key, marked if the last word of the name was written in the plural."""

    key: str
    is_plural: bool = False


class Typo(NamedTuple):
    """Two keys in sorted order, and their difference."""

    first: str
    second: str
    how: str


def to_written_key(key: str, name: str) -> WrittenKey:
    """Return the key of a name, marked if the last word of the name is a plural."""
    last = key.split(" ")[-1]
    return WrittenKey(key, any(word.text != last and singular(word.text) == last for word in iter_words(name)))


def find_typos(names: Iterable[WrittenKey]) -> Iterator[Typo]:
    """
    Yield the pairs of keys that differ by one typo, in sorted order. `names` are sorted and distinct.

    Only names with the same first letter are in memory at once. Each name is compared only with names that are equal
    after the deletion of one letter.

    """
    for _, group in groupby(names, key=lambda name: name.key[:1]):
        group_names = list(group)
        for one, other in sorted(_similar_pairs(group_names)):
            if how := describe_typo(group_names[one], group_names[other]):
                yield Typo(group_names[one].key, group_names[other].key, how)


def describe_typo(one: WrittenKey, other: WrittenKey) -> str:
    """
    Return the difference of two names if it may be a typo; else an empty text.

    If both are plurals, the `s` counts as part of the word: an inner letter is then missing in `Kubernets`.
    """
    how = _describe_typo(one.key, other.key)
    return how or (_describe_typo(f"{one.key}s", f"{other.key}s") if one.is_plural and other.is_plural else "")


def _describe_typo(first: str, second: str) -> str:
    if first.replace(" ", "") == second.replace(" ", ""):
        is_same = first == second or _NUMBERS.findall(first) != _NUMBERS.findall(second)
        return "" if is_same else "only spaces differ"
    one, other = first.split(), second.split()
    places = [place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
    if len(one) != len(other) or len(places) != 1:
        return ""
    place = places[0]
    if not all(_may_have_typo(words, place) for words in (one, other)):
        return ""
    return _describe_edit(one[place], other[place])


def _describe_edit(one: str, other: str) -> str:
    """Return the difference of two words if it is one typo. First and last letters must agree: typos are rare there."""
    if one[0] != other[0] or one[-1] != other[-1]:
        return ""
    one, other = _without_common_start(one, other)
    one, other = _without_common_start(one[::-1], other[::-1])  # the remainders are reversed
    if len(one) + len(other) == 1:
        return "one letter is missing"
    if len(one) == len(other) == 1:
        return "one letter differs"
    return "two letters are swapped" if len(one) == 2 and one == other[::-1] else ""


def _without_common_start(one: str, other: str) -> tuple[str, str]:
    """Return two words without their common start."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return one[same:], other[same:]


def _may_have_typo(words: Sequence[str], place: int) -> bool:
    """Return True if a word is long enough and consists of letters of a spaced script."""
    word = words[place]
    # a Roman numeral does not count as a second word: `Philip II`, `Philipp II`
    has_others = any(not _NUMERAL.fullmatch(other) for other in (*words[:place], *words[place + 1 :]))
    if (
        len(word) < (MIN_WORD_LETTERS if has_others else MIN_SINGLE_WORD_LETTERS)
        or word.endswith(SIGNS)
        or _NUMERAL.fullmatch(word)
    ):
        return False
    return not any(map(str.isnumeric, word)) and not _UNSPACED.search(word)


def _similar_pairs(names: Sequence[WrittenKey]) -> set[tuple[int, int]]:
    """Return index pairs of names with equal letters, or with all but one letter inside a word equal."""
    marks, owners = array("q"), array("l")
    for place, name in enumerate(names):
        for form in (name.key, f"{name.key}s") if name.is_plural else (name.key,):
            for shape in _deletion_forms(form):
                marks.append(hash(shape))
                owners.append(place)
    order = np.argsort(np.array(marks), kind="stable")
    sorted_marks, sorted_owners = np.array(marks)[order], np.array(owners)[order]
    starts = np.flatnonzero(np.diff(sorted_marks, prepend=sorted_marks[:1] - 1))
    ends = np.append(starts[1:], len(order))
    found: set[tuple[int, int]] = set()
    for start, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
        places = sorted(set(sorted_owners[start:end].tolist()))
        if len(places) <= MAX_SIMILAR_KEYS:
            found |= set(combinations(places, 2))
    return found


def _deletion_forms(key: str) -> Iterator[str]:
    """Yield forms of a key. Two keys that differ by one typo have at least one form in common."""
    yield f" {key.replace(' ', '')}"
    words = key.split()
    at = 0
    for place, word in enumerate(words):
        if _may_have_typo(words, place):
            yield key
            for inner in range(at + 1, at + len(word) - 1):
                yield key[:inner] + key[inner + 1 :]
        at += len(word) + 1
