"""Mentions of known names in a chunk, and pairs of names in the same sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias

from weft.extract.links.page_keys import is_page_key
from weft.extract.names import (
    SENTENCE_END,
    SIGNS,
    LazyWords,
    NameSet,
    is_opening,
    join_apostrophes,
    match_names,
    plain_text,
    words,
)
from weft.records import Claim, Word
from weft.text.analyzer import terms

CO_OCCURS = "co_occurs_with"
MENTIONS = "mentions"
DERIVED_TYPES = (CO_OCCURS, MENTIONS)
"""Relation types derived from mentions. Extractors claim all other types."""

MAX_SUPPORT = 256
"""Maximum number of chunks counted as support of a relation. The weight is constant for far fewer chunks."""

MAX_SENTENCE_NAMES = 6
"""Maximum number of names in a sentence that are linked pairwise. A list of fifty names would give 1,225 pairs."""

Match: TypeAlias = tuple[str, int, int]
"""Key, index of the first word, number of words."""

_WORDS = re.compile("[a-z0-9 ]")
_WORD_BEFORE = re.compile("(?<=[a-z0-9])")
_BETWEEN = re.compile("s?[^a-z0-9]+")
_BEHIND_SIGN = re.compile("s?[^a-z0-9]*")
_ENDING = re.compile("(?:s|es)?s?(?![a-z0-9])")
_ENDING_SIGN = re.compile("s?(?![a-z])")
_ENDING_Y = re.compile("(?:y(?:s|es)?|ies)s?(?![a-z0-9])")
_GAP = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ChunkMentions:
    """Mentions and derived relations of one chunk."""

    counts: dict[str, int]
    """Number of mentions by key; a subject of the chunk counts at least once."""
    relations: tuple[tuple[str, str, str], ...]
    """
    Derived relations: source, target and type.

    They are from subjects to mentioned names, and between names in the same sentence.
    """

    @property
    def claims(self) -> list[Claim]:
        """Return the derived relations as claims of the chunk."""
        return to_claims(self.relations)


def to_claims(relations: Iterable[tuple[str, str, str]]) -> list[Claim]:
    """Return derived relations as claims."""
    return [Claim(source=source, target=target, type=type, weight=1.0) for source, target, type in relations]


def find_mentions(
    text: str,
    *,
    known: Collection[str] | NameSet,
    about: Collection[str],
    found: Sequence[Word],
    matches: Sequence[Match] | None = None,
) -> ChunkMentions:
    """
    Return the mentions of `known` keys in a chunk with the subjects `about`.

    `found` are the words of the text. `matches` are the known names in the text, if already searched.
    """
    matches = match_names(found, known) if matches is None else matches
    counts = Counter(key for key, _, _ in matches)
    names = known.keys if isinstance(known, NameSet) else known
    subjects = sorted(key for key in about if key in names)
    for key in subjects:
        counts[key] = max(1, counts[key])
    relations = [
        (source, target, MENTIONS)
        for source in subjects
        if not is_page_key(source)  # its title mentions the same names
        for target in sorted(counts)
        if target not in subjects
    ]
    relations += [(first, second, CO_OCCURS) for first, second in sorted(_pairs(text, found, matches))]
    return ChunkMentions(dict(counts), tuple(relations))


def may_mention(text: str, keys: Collection[str]) -> bool:
    """Return True if a text may mention any of `keys`. Fast, with false positives but no false negatives."""
    plain = plain_text(text)
    return any(
        _is_written_as_name(key, text=text, plain=plain) if key.isascii() else _may_be_contiguous(key, plain=plain)
        for key in keys
        if all(part in plain for part in _required_parts(key))
    )


def _may_be_contiguous(key: str, *, plain: str) -> bool:
    """Return True if the characters of a key may be contiguous in a text; Latin words in it may have endings."""
    return _WORDS.search(key) is not None or _letters(key) in _letters(plain)


def _is_written_as_name(key: str, *, text: str, plain: str) -> bool:
    """Return True if the words of an ASCII key are contiguous in a text. A single word must be written like a name."""
    found = list(_places(key, plain))
    if not found or " " in key or not key.isalpha():
        return bool(found)
    written = join_apostrophes(text)
    if not written.isascii():  # offsets in the folded text differ from those in the text
        lower = written.lower()
        here = [(at, end) for at, end in _places(key, lower) if lower[max(0, at - 1) : end + 1].isascii()]
        if len(lower) != len(written) or len(here) < len(found):  # some contain letters that were folded
            return True
        found = here
    return any(_is_name_like(written, at, end) for at, end in found)


def _is_name_like(text: str, at: int, end: int) -> bool:
    """Return True if a word may be written like a name. `It` at the start of a sentence is not."""
    word = text[at:end]
    if is_opening(word):
        return at > 1 and (text[at - 2].isalnum() or text[at - 2] in SIGNS or not text[at - 2].isascii())
    return not word.islower()


def _places(key: str, plain: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of an ASCII key in folded text, where `Luther's` is `luthers`."""
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


def _required_parts(key: str) -> Sequence[str]:
    """Return the parts that every spelling of a key contains; CJK characters may be separated in a text."""
    stem = key.removesuffix("y")  # the plural of `entry` is `entries`
    return stem.split(" ") if key.isascii() else _letters(stem)


def _letters(text: str) -> str:
    return _GAP.sub("", text)


def derived_weight(type: str, *, support: int) -> float:
    """Return the weight, 1 to 10, of a derived relation that `support` chunks state."""
    base = 2.0 if type == MENTIONS else 1.0
    return min(base + 4.0, base + (support.bit_length() - 1) * 0.5 + (support > 1) * 0.5)


def required_terms(key: str) -> list[frozenset[str]]:
    """Return groups of terms, one per word of a key. Every chunk with a mention contains a term of each group."""
    return [_spellings(word.text) for word in words(key)]


@lru_cache(maxsize=65536)
def _spellings(word: str) -> frozenset[str]:
    return frozenset(term for form in _plurals(word) for term in terms(form))


def _plurals(key: str) -> list[str]:
    """Return the possible spellings of a singular word in a text. Only ASCII words have plural endings."""
    if not key.isascii() or key.endswith(SIGNS):
        return [key]
    return [key, f"{key}s", f"{key}es", *([f"{key[:-1]}ies"] if key.endswith("y") else [])]


def _pairs(text: str, found: Sequence[Word], matches: Sequence[Match]) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    if len(matches) < 2:
        return pairs
    sentence: list[str] = []
    for (key, _, _), starts in zip(matches, _starts(text, found, matches), strict=True):
        if starts:
            pairs |= set(combinations(sorted(set(sentence[:MAX_SENTENCE_NAMES])), 2))
            sentence = []
        sentence.append(key)
    return pairs | set(combinations(sorted(set(sentence[:MAX_SENTENCE_NAMES])), 2))


def _starts(text: str, found: Sequence[Word], matches: Sequence[Match]) -> Iterator[bool]:
    """Yield for each match whether it is in another sentence than the one before."""
    last = 0
    for _, at, size in matches:
        if isinstance(found, LazyWords):  # without the places of the words
            yield found.sentence(at) != last
            last = found.sentence(at + size - 1)
        else:
            yield SENTENCE_END.search(text, last, found[at].start) is not None
            last = found[at + size - 1].end


def find_sentence(text: str, keys: Collection[str], *, size: int = 300) -> str:
    """
    Return the first sentence of `text` that mentions most of `keys`, cut at `size` characters.

    Of two sentences with one key each, the one with the last key is returned: the target of a relation.
    The subject of a chunk is often mentioned in its heading only.
    """
    wanted, last = set(keys), list(keys)[-1:]
    best, most = "", -1
    if not _count_possible(text, wanted):
        return " ".join(next(_sentences(text)).split())[:size]
    for sentence in _sentences(text):
        possible = _count_possible(sentence, wanted)
        if most < 0 or (possible and 2 * possible + 1 > most):
            named = {key for key, _, _ in match_names(words(sentence), wanted)}
            rank = 2 * len(named) + (not named.isdisjoint(last))
            if rank > most:
                best, most = sentence, rank
        if most == 2 * len(wanted) + 1:
            break
    return " ".join(best.split())[:size]


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text."""
    start = 0
    for match in SENTENCE_END.finditer(text):
        yield text[start : match.end()].strip()
        start = match.end()
    yield text[start:].strip()


def _count_possible(text: str, keys: Collection[str]) -> int:
    """Return an upper bound of the number of `keys` in a text."""
    plain = plain_text(text)
    return sum(all(part in plain for part in _required_parts(key)) for key in keys)
