"""Which known names a chunk mentions, and which of them stand together in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from weft.extract.names import SIGNS, is_opening, join_apostrophes, match_names, plain_text, words
from weft.records import Claim, Word
from weft.text.analyzer import terms

TOGETHER = "co_occurs_with"
MENTIONS = "mentions"
DERIVED_TYPES = (TOGETHER, MENTIONS)
"""Relation types that follow from mentions; everything else is claimed by an extractor."""

MAX_SUPPORT = 256
"""Chunks counted that bear out a relation; long before that more of them make no difference."""

MAX_IN_SENTENCE = 6
"""Names of one sentence that are linked with each other; a list of fifty would link everything with everything."""

Match: TypeAlias = tuple[str, int, int]
"""Key, first word, number of words."""

_WORDS = re.compile("[a-z0-9 ]")
_WORD_BEFORE = re.compile("(?<=[a-z0-9])")
_BETWEEN = re.compile("s?[^a-z0-9]+")
_BEHIND_SIGN = re.compile("s?[^a-z0-9]*")
_ENDING = re.compile("(?:s|es)?s?(?![a-z0-9])")
_ENDING_SIGN = re.compile("s?(?![a-z])")
_ENDING_Y = re.compile("(?:y(?:s|es)?|ies)s?(?![a-z0-9])")
_GAP = re.compile(r"[\W_]+")
_BOUNDARY = re.compile(r"[.!?…]['\"”’)\]]*\s|[。！？；\n]")


@dataclass(frozen=True, slots=True)
class Named:
    """What a chunk says about known entities."""

    counts: dict[str, int]
    """By key, how often it is mentioned; what the chunk is about counts at least once."""
    claims: tuple[Claim, ...]
    """Derived relations: who is mentioned where it is the subject, who stands together in a sentence."""


def read_names(
    text: str,
    *,
    known: Collection[str],
    about: Collection[str],
    found: Sequence[Word],
    matches: Sequence[Match] | None = None,
) -> Named:
    """
    Return the mentions of `known` keys in a chunk that is `about` some of them.

    `found` are its words, `matches` the known names among them where these were looked for already.
    """
    matches = match_names(found, known) if matches is None else matches
    counts = Counter(key for key, _, _ in matches)
    subjects = sorted(key for key in about if key in known)
    for key in subjects:
        counts[key] = max(1, counts[key])
    claims = [
        Claim(source=source, target=target, type=MENTIONS, weight=1.0)
        for source in subjects
        for target in sorted(counts)
        if target not in subjects
    ]
    claims += [
        Claim(source=first, target=second, type=TOGETHER, weight=1.0)
        for first, second in sorted(_pairs(text, found, matches))
    ]
    return Named(dict(counts), tuple(claims))


def may_hold(text: str, keys: Collection[str]) -> bool:
    """Tell whether any of `keys` may stand in a text: quick, and wrong only by saying yes."""
    plain = plain_text(text)
    return any(
        _is_written(key, text=text, plain=plain) if key.isascii() else _may_run(key, plain=plain)
        for key in keys
        if all(part in plain for part in _certain(key))
    )


def _may_run(key: str, *, plain: str) -> bool:
    """Tell whether the characters of a key follow each other; words among them may have endings."""
    return _WORDS.search(key) is not None or _letters(key) in _letters(plain)


def _is_written(key: str, *, text: str, plain: str) -> bool:
    """Tell whether the words of an ASCII key follow each other in a text, and a single one like a name."""
    found = list(_places(key, plain))
    if not found or " " in key or not key.isalpha():
        return bool(found)
    written = join_apostrophes(text)
    if not written.isascii():  # places in the plain text are not those in the text itself
        lower = written.lower()
        here = [(at, end) for at, end in _places(key, lower) if lower[max(0, at - 1) : end + 1].isascii()]
        if len(lower) != len(written) or len(here) < len(found):  # some are written in letters that were folded
            return True
        found = here
    return any(_is_large(written, at, end) for at, end in found)


def _is_large(text: str, at: int, end: int) -> bool:
    """Tell whether a word may be written like a name: `It` is not where a sentence opens with it."""
    word = text[at:end]
    if is_opening(word):
        return at > 1 and (text[at - 2].isalnum() or text[at - 2] in SIGNS or not text[at - 2].isascii())
    return not word.islower()


def _places(key: str, plain: str) -> Iterator[tuple[int, int]]:
    """Yield where an ASCII key begins and ends in plain text, in which `Luther's` is `luthers`."""
    *before, last = key.split(" ")
    stem = last.removesuffix("y")
    ending = _ENDING_Y if stem != last else _ENDING_SIGN if last.endswith(SIGNS) else _ENDING
    first = before[0] if before else stem
    at = plain.find(first)
    while at >= 0:
        end = at
        for word in before:
            between = _BEHIND_SIGN if word.endswith(SIGNS) else _BETWEEN  # `c++ 11` may be written `c++11`
            gap = between.match(plain, end + len(word)) if plain.startswith(word, end) else None
            if gap is None:
                break
            end = gap.end()
        else:
            rest = ending.match(plain, end + len(stem)) if plain.startswith(stem, end) else None
            if rest and not _WORD_BEFORE.match(plain, at):
                yield at, rest.end()
        at = plain.find(first, at + 1)


def _certain(key: str) -> Sequence[str]:
    """Return what any spelling of a key holds; characters without spaces may be set apart in a text."""
    stem = key.removesuffix("y")  # of `entries`
    return stem.split(" ") if key.isascii() else _letters(stem)


def _letters(text: str) -> str:
    return _GAP.sub("", text)


def derived_weight(type: str, *, support: int) -> float:
    """Return the weight, 1 to 10, of a derived relation that `support` chunks bear out."""
    base = 2.0 if type == MENTIONS else 1.0
    return min(base + 4.0, base + (support.bit_length() - 1) * 0.5 + (support > 1) * 0.5)


def must_hold(key: str) -> list[set[str]]:
    """Return, for each word of a key, the terms of which a chunk that mentions it holds at least one."""
    return [_spellings(word.text) for word in words(key)]


def _spellings(word: str) -> set[str]:
    return {term for form in _plurals(word) for term in terms(form)}


def _plurals(key: str) -> list[str]:
    """Return how a text may spell a key, which has its last word in the singular: only ASCII words lose an ending."""
    if not key.isascii() or key.endswith(SIGNS):
        return [key]
    return [key, f"{key}s", f"{key}es", *([f"{key[:-1]}ies"] if key.endswith("y") else [])]


def _pairs(text: str, found: Sequence[Word], matches: Sequence[Match]) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    sentence: list[str] = []
    last = 0
    for key, at, size in matches:
        if _BOUNDARY.search(text, last, found[at].start):
            pairs |= set(combinations(sorted(set(sentence[:MAX_IN_SENTENCE])), 2))
            sentence = []
        sentence.append(key)
        last = found[at + size - 1].end
    return pairs | set(combinations(sorted(set(sentence[:MAX_IN_SENTENCE])), 2))


def find_sentence(text: str, keys: Collection[str], *, size: int = 300) -> str:
    """Return the first sentence of `text` that mentions most of `keys`, cut at `size` characters."""
    wanted = set(keys)
    best, most = "", -1
    for sentence in _sentences(text):
        if most < 0 or _count_possible(sentence, wanted) > most:
            named = len({key for key, _, _ in match_names(words(sentence), wanted)})
            if named > most:
                best, most = sentence, named
        if most == len(wanted):
            break
    return " ".join(best.split())[:size]


def _sentences(text: str) -> Iterator[str]:
    """Yield what lies between the ends of sentences."""
    start = 0
    for match in _BOUNDARY.finditer(text):
        yield text[start : match.end()].strip()
        start = match.end()
    yield text[start:].strip()


def _count_possible(text: str, keys: Collection[str]) -> int:
    """Return how many of `keys` a text can hold at most."""
    plain = plain_text(text)
    return sum(all(part in plain for part in _certain(key)) for key in keys)
