"""Which known names a chunk mentions, and which of them stand together in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from weft.records import Claim
from weft.text.analyse import terms
from weft.text.names import Word, match_names, words

TOGETHER = "co_occurs_with"
MENTIONS = "mentions"
DERIVED_TYPES = (TOGETHER, MENTIONS)
"""Relation types that follow from mentions; everything else is claimed by an extractor."""

MAX_SUPPORT = 256
"""Chunks counted that bear out a relation; long before that more of them make no difference."""

MAX_IN_SENTENCE = 6
"""Names of one sentence that are linked with each other; a list of fifty would link everything with everything."""

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)?")
_BOUNDARY = re.compile(r"[.!?…]['\"”’)\]]*\s|[。！？；\n]")


@dataclass(frozen=True, slots=True)
class Named:
    """What a chunk says about known entities."""

    counts: dict[str, int]
    """By key, how often it is mentioned; what the chunk is about counts at least once."""
    claims: tuple[Claim, ...]
    """Derived relations: who is mentioned where it is the subject, who stands together in a sentence."""


def read_names(
    text: str, *, known: Collection[str], about: Collection[str], found: Sequence[Word] | None = None
) -> Named:
    """Return the mentions of `known` keys in a chunk that is `about` some of them. `found` are its words."""
    found = words(text) if found is None else found
    matches = match_names(found, known)
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
    if not text.isascii():
        return True
    line = f" {' '.join(_ASCII_WORD.findall(text.lower()))}"
    # a key has its last word in the singular, so a plural begins with it, but for its y
    return any(f" {key[:-1] if key.endswith('y') else key}" in line for key in keys)


def adds_only(found: Sequence[Word], *, old: Collection[str], new: Collection[str]) -> bool:
    """Tell whether all names that are found among `old` keys are found among `new` ones, at the same places."""
    return set(match_names(found, old)) <= set(match_names(found, new))


def derived_weight(type: str, *, support: int) -> float:
    """Return the weight, 1 to 10, of a derived relation that `support` chunks bear out."""
    base = 2.0 if type == MENTIONS else 1.0
    return min(base + 4.0, base + (support.bit_length() - 1) * 0.5 + (support > 1) * 0.5)


def must_hold(key: str) -> list[set[str]]:
    """Return, for each word of a key, the terms of which a chunk that mentions it holds at least one."""
    return [_spellings(word.text) for word in words(key)]


def _spellings(word: str) -> set[str]:
    """A key has its last word in the singular, a text may not."""
    forms = [word, f"{word}s", f"{word}es"]
    if word.endswith("y"):
        forms.append(word[:-1] + "ies")
    return {term for form in forms for term in terms(form)}


def _pairs(text: str, found: Sequence[Word], matches: Sequence[tuple[str, int, int]]) -> set[tuple[str, str]]:
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
    starts = [0, *(match.end() for match in _BOUNDARY.finditer(text)), len(text)]
    sentences = [text[start:end].strip() for start, end in pairwise(starts)]
    parts = {part for key in keys for part in _parts(key)}
    counts = [
        len({key for key, _, _ in match_names(words(sentence), keys)}) if _may_name(sentence, parts) else 0
        for sentence in sentences
    ]
    best = max(range(len(counts)), key=lambda place: (counts[place], -place), default=0)
    return " ".join(sentences[best].split())[:size] if sentences else ""


def _parts(key: str) -> list[str]:
    """Return the words of a key without their last letters, which a text may spell otherwise."""
    return [word[: max(2, len(word) - 3)] for word in key.split(" ")]


def _may_name(sentence: str, parts: Collection[str]) -> bool:
    """Tell whether a sentence can hold a word of a name: a look that costs little, and mostly says no."""
    if not sentence.isascii():
        return True
    plain = sentence.lower()
    return any(part in plain for part in parts)
