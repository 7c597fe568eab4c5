"""
Which keys may be one name, written with a slip: `kubernetes` and `kubernets`.

A slip is one letter missing, added or other, or two swapped, inside one long word; or spaces alone. Numbers, numerals
and signs are never one (`SR-052` is not `SR-053`, `Henry IV` is not `Henry VI`), nor is anything in a script where a
letter is as much as a word. Names of two things may differ by no more than that: it is a guess, to be looked at.
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

ALONE = 8
"""Letters of a word that is the whole name: shorter ones are mostly two words (`Herman`, `Hermann`)."""
BESIDE = 6
"""Letters of a word that has others beside it."""
MAX_ALIKE = 50
"""Keys alike but for one letter; where there are more, that letter tells them apart."""

_NUMERAL = re.compile("[ivxlcdm]+")
_NUMBERS = re.compile(r"\d+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Written(NamedTuple):
    """A key, and whether its last word was written in the plural: a key does not tell."""

    key: str
    is_plural: bool = False


class Slip(NamedTuple):
    """Two keys, the first by order first, and how they differ."""

    first: str
    second: str
    how: str


def written(key: str, name: str) -> Written:
    """Return a key as it is written in a name."""
    last = key.split(" ")[-1]
    return Written(key, any(word.text != last and singular(word.text) == last for word in iter_words(name)))


def find_slips(names: Iterable[Written]) -> Iterator[Slip]:
    """
    Yield the pairs of keys that are a slip apart, by their order. `names` are sorted, each once.

    All those of one first letter are held at a time, and each is compared with those alone that share all but a letter.
    """
    for _, group in groupby(names, key=lambda name: name.key[:1]):
        held = list(group)
        for one, other in sorted(_alike(held)):
            if how := tell_slip(held[one], held[other]):
                yield Slip(held[one].key, held[other].key, how)


def tell_slip(one: Written, other: Written) -> str:
    """
    Return how two names differ if that may be a slip; else nothing.

    Where both are plurals, that is part of the word: `Kubernets` lacks a letter inside, if `kubernet` does not.
    """
    how = _tell_slip(one.key, other.key)
    return how or (_tell_slip(f"{one.key}s", f"{other.key}s") if one.is_plural and other.is_plural else "")


def _tell_slip(first: str, second: str) -> str:
    if first.replace(" ", "") == second.replace(" ", ""):
        is_same = first == second or _NUMBERS.findall(first) != _NUMBERS.findall(second)
        return "" if is_same else "only spaces differ"
    one, other = first.split(), second.split()
    places = [place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
    if len(one) != len(other) or len(places) != 1:
        return ""
    place = places[0]
    if not all(_may_slip(words, place) for words in (one, other)):
        return ""
    return _tell_edit(one[place], other[place])


def _tell_edit(one: str, other: str) -> str:
    """Return how two words differ, if by one slip; a first letter is seldom wrong, and a last one is an ending."""
    if one[0] != other[0] or one[-1] != other[-1]:
        return ""
    one, other = _behind_same(one, other)
    one, other = _behind_same(one[::-1], other[::-1])  # what is left is read from its end
    if len(one) + len(other) == 1:
        return "one letter is missing"
    if len(one) == len(other) == 1:
        return "one letter differs"
    return "two letters are swapped" if len(one) == 2 and one == other[::-1] else ""


def _behind_same(one: str, other: str) -> tuple[str, str]:
    """Return two words without what both begin with."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return one[same:], other[same:]


def _may_slip(words: Sequence[str], place: int) -> bool:
    """Tell whether a word is long enough, and made of letters that may be mistaken."""
    word = words[place]
    # a numeral beside it tells no more about the name: `Philip II`, `Philipp II`
    is_beside = any(not _NUMERAL.fullmatch(other) for other in (*words[:place], *words[place + 1 :]))
    if len(word) < (BESIDE if is_beside else ALONE) or word.endswith(SIGNS) or _NUMERAL.fullmatch(word):
        return False
    return not any(map(str.isnumeric, word)) and not _UNSPACED.search(word)


def _alike(names: Sequence[Written]) -> set[tuple[int, int]]:
    """Return pairs of places of names that share their letters, or all but one letter inside a word."""
    marks, owners = array("q"), array("l")
    for place, name in enumerate(names):
        for form in (name.key, f"{name.key}s") if name.is_plural else (name.key,):
            for shape in _shapes(form):
                marks.append(hash(shape))
                owners.append(place)
    order = np.argsort(np.array(marks), kind="stable")
    sorted_marks, sorted_owners = np.array(marks)[order], np.array(owners)[order]
    starts = np.flatnonzero(np.diff(sorted_marks, prepend=sorted_marks[:1] - 1))
    ends = np.append(starts[1:], len(order))
    found: set[tuple[int, int]] = set()
    for start, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
        places = sorted(set(sorted_owners[start:end].tolist()))
        if len(places) <= MAX_ALIKE:
            found |= set(combinations(places, 2))
    return found


def _shapes(key: str) -> Iterator[str]:
    """Yield what two keys that are a slip apart have in common, one of them at least."""
    yield f" {key.replace(' ', '')}"
    words = key.split()
    at = 0
    for place, word in enumerate(words):
        if _may_slip(words, place):
            yield key
            for inner in range(at + 1, at + len(word) - 1):
                yield key[:inner] + key[inner + 1 :]
        at += len(word) + 1
