"""Mentions of names in a text: of the names that a chunk proposes, or of one name in any chunk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from weft.extract.names import (
    SENTENCE_END,
    SIGNS,
    LazyWords,
    match_names,
    plain_text,
    words,
)
from weft.records import CODE_PREFIX, Candidate, StatedMention
from weft.text.analyzer import terms

CO_OCCURS = "co_occurs_with"
MENTIONS = "mentions"
DERIVED_TYPES = (CO_OCCURS, MENTIONS)
"""Relation types derived from mentions. Extractors state all other types."""

MAX_SUPPORT = 256
"""Maximum number of chunks counted as support of a relation. The weight is constant for far fewer chunks."""

MAX_SENTENCE_NAMES = 6
"""Maximum number of names in a sentence that occur together. A list of fifty names would give 1,225 pairs."""

SENTENCE_BITS = 62
"""Sentences that `StatedMention.sentences` tells apart; the next ones share their bits."""

_WORDS = re.compile("[a-z0-9 ]")
_WORD_BEFORE = re.compile("(?<=[a-z0-9])")
_BETWEEN = re.compile("s?[^a-z0-9]+")
_BEHIND_SIGN = re.compile("s?[^a-z0-9]*")
_ENDING = re.compile("(?:s|es)?s?(?![a-z0-9])")
_ENDING_SIGN = re.compile("s?(?![a-z])")
_ENDING_Y = re.compile("(?:y(?:s|es)?|ies)s?(?![a-z0-9])")
_GAP = re.compile(r"[\W_]+")
_ADDRESS = re.compile(
    r"\]\([^()\s]{1,1000}"  # [label](address
    r"|\[\[[^\[\]|\n]{1,300}[|/]"  # [[page|label]], [[folder/page]]
    r"|https?://[^\s<>()\[\]\"']{1,1000}"
    r"|\b(?:href|src|to)=\"[^\"\n]{1,1000}\""
    r"|\]:[ \t]{1,9}<?(?:\.{0,2}/|https?:)\S{1,1000}"  # [label]: address
)


def find_mentions(text: str, *, names: Collection[str], about: Collection[str]) -> tuple[StatedMention, ...]:
    """Return the mentions of the names (by key) that a chunk proposes, and of its subjects `about`."""
    if not names and not about:
        return ()
    found = LazyWords(without_addresses(text))
    numbers, sentences = dict.fromkeys(sorted(about), 0), dict.fromkeys(about, 0)
    last, size = -1, 0
    for key, at, _ in match_names(found, names):
        sentence = found.sentence(at)
        size = size + 1 if sentence == last else 1
        last = sentence
        numbers[key] = numbers.get(key, 0) + 1
        if size <= MAX_SENTENCE_NAMES:
            sentences[key] = sentences.get(key, 0) | 1 << sentence % SENTENCE_BITS
    if not any(key.startswith(CODE_PREFIX) for key in about):  # prose: a reference to a definition is written in it
        numbers |= {key: 1 for key in sorted(names) if key.startswith(CODE_PREFIX)}
    return tuple(
        StatedMention(key, max(1, number), key in about, sentences.get(key, 0)) for key, number in numbers.items()
    )


def without_addresses(text: str) -> str:
    """Return a text without the addresses of its links, whose folders are no mentions of names."""
    if "](" not in text and "[[" not in text and "://" not in text and '="' not in text:
        return text
    return _ADDRESS.sub(_blank_address, text)


def _blank_address(match: re.Match[str]) -> str:
    """Return a space for an address; `[[TCP/` is part of a name."""
    found = match[0]
    return found if found.startswith("[[") and found.endswith("/") and found.isupper() else " "


def proposed_mentions(text: str, candidates: Iterable[Candidate]) -> tuple[StatedMention, ...]:
    """Return the mentions of the names that a chunk proposes."""
    names, about = set[str](), set[str]()
    for item in candidates:  # hot loop
        names.add(item.key)
        if item.about:
            about.add(item.key)
    return find_mentions(text, names=names, about=about)


def count_mentions(text: str, key: str) -> int:
    """Return the number of mentions of a name in a text, also as a part of a longer name."""
    return len(match_names(words(without_addresses(text)), {key})) if _may_mention(text, key) else 0


def _may_mention(text: str, key: str) -> bool:
    """Return True if a text may mention a name. Fast, with false positives but no false negatives."""
    plain = plain_text(text)
    if not all(part in plain for part in _required_parts(key)):
        return False
    if not key.isascii():  # Latin words in it may have endings
        return _WORDS.search(key) is not None or _letters(key) in _letters(plain)
    return any(_places(key, plain))


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
