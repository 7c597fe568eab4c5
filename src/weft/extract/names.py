"""
Names made comparable, and found again in running text.

A key is the folded words of a name without leading article, possessive, parenthesised suffix or the plural of its
last word: `The Auth-Services (core)` and `auth service` share the key `auth service`. Digits are never folded away, so
`SR-052` is not `SR-053` and `v1` is not `v2`. Nor is the sign at the end of a word: `C++` is neither `C` nor `C#`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache

from weft.extract.lexicon import OPENERS
from weft.records import Word
from weft.text.normalise import CJK, MARKS, fold

MAX_WORDS = 8
"""Longest key that is looked for in text, in words."""

MAX_CHARACTERS = 12
"""Longest key that is looked for in a run of CJK characters."""

SHORT = 40
"""Characters up to which what a word is folded to is remembered; where no spaces are written, a text is one word."""

MAX_NAME = 200
"""Longer names are cut: nobody calls a thing so."""

_INVISIBLE = "\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
_LETTERS = f"[^\\W_{CJK}][^\\W_{CJK}]*(?:[{MARKS}{_INVISIBLE}]+[^\\W_{CJK}]*)*"
"""Accents and vowel signs belong to the letter before them, and soft hyphens do not end a word."""


def _sign(pluses: str, sharps: str, *, skipped: str = "") -> str:
    """
    Return a pattern for the sign at the end of a word and its possessive, or for nothing: `C++`, `C#'s`, `Disney+`.

    A number has none: `3.8+` is 3.8 or later. Nor has what goes on: `a+b`, `x+=1`, `PR#12`, `AI+医疗`; but `C++11` and
    `C++语言` do. It begins with the sign itself, so that it costs next to nothing where there is none.
    """
    numbered = "|".join(f"(?<=[A-Za-z]{digits}.)" for digits in (r"\d", r"\d\d", r"\d\d\d"))  # `S10+`
    plus, sharp, on = f"(?<=[{pluses}])", f"(?<=[{sharps}])", f"(?!{skipped}['’]?"
    wide = "\u2e80-\ud7af"  # Chinese and the like, in a range that is quick to compile
    return (
        f"(?:[{pluses}{sharps}](?:(?<!\\d.)|{numbered})"
        f"(?:{plus}[{pluses}]|{plus}{on}[\\d{wide}])|{sharp}{on}\\d))"
        f"(?:['’][sS]{on}[^\\W_]))?{on}[^\\W\\d_{wide}]|[{pluses}{sharps}=])|)"
    )


SIGNS = ("+", "#")
"""What a folded word may end with, beside letters and digits."""

SIGN = _sign("+＋", "#＃", skipped=f"[\u0300-\u036f{_INVISIBLE}]*")
_WORD = re.compile(f"[{CJK}]|{_LETTERS}(?:['’]{_LETTERS})*{SIGN}")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
"""The same, in half the time, in a text of Latin letters and punctuation: no marks, CJK or signs, nothing invisible."""
_SIGNED_WORD = re.compile(_PLAIN_WORD.pattern + _sign("+", "#"))
"""The same in one with signs."""
_NOT_PLAIN = re.compile(r"[^\x00-\xac\xae-\u02ff\u2010-\u2027]")
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_SYMBOL = re.compile(f"[^\\w\x00-\x7f’＋＃{MARKS}{_INVISIBLE}]")
_CJK = re.compile(f"[{CJK}]")
_PREDICATE_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_SUFFIX = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_ARTICLES = ("the", "a", "an")
_APOSTROPHE = re.compile(r"['’](?<!['’]['’])(?=[^\W_])")
"""What is looked for stands first: so the places where it does not are passed over quickly."""
_POSSESSIVE = re.compile("['’]s?$")
_PARTICLES = frozenset("的是在和与及或有为由于从对把被了吗呢")
_SAME = frozenset({"series", "species"})
_SILENT = frozenset(
    """
    aches apaches avalanches brownies caches calories cookies genies headaches hippies indies movies niches pixies
    psyches rookies selfies smoothies veggies zombies
    """.split()
)
"""Plurals of words in `e`: `movies` are no `movys`."""


OPENING = 2
"""`It`, which may be no more than the start of a sentence; `IT` is written like a name."""


def words(text: str) -> list[Word]:
    """Return the words of `text`; each CJK character is one."""
    return list(iter_words(text))


def iter_words(text: str, start: int = 0) -> Iterator[Word]:
    """Yield them one by one, from a place on."""
    pattern = _WORD
    if text.isascii() or not _NOT_PLAIN.search(text):
        pattern = _SIGNED_WORD if "+" in text or "#" in text else _PLAIN_WORD
    return (Word(*_read(match[0]), *match.span()) for match in pattern.finditer(text, start))


def after_sign(text: str, end: int) -> int:
    """Return where a word that ends at `end` ends with its sign: `C` in `C++` goes on to 3."""
    sign = _sign_pattern().match(text, end)
    return end + len(sign[0].rstrip("'’sS")) if sign else end


@cache
def _sign_pattern() -> re.Pattern[str]:
    return re.compile(SIGN)


def plain_text(text: str) -> str:
    """
    Return `text` folded, without what is left out inside words: each of its words is there as a key has it.

    Other symbols become spaces, for folded they may be letters: `Windows™` is no `windowstm`.
    """
    joined = join_apostrophes(text)
    if joined.isascii():
        return joined.lower()
    # by words, for most have nothing to be folded but their case
    return " ".join([word.lower() if word.isascii() else _fold_word(word) for word in joined.split(" ")])


def _fold_word(word: str) -> str:
    return _fold_short(word) if len(word) <= SHORT else _fold_odd(word)


def _fold_odd(text: str) -> str:
    return fold(_HIDDEN.sub("", _SYMBOL.sub(" ", text)))


_fold_short = lru_cache(maxsize=16384)(_fold_odd)


def join_apostrophes(text: str) -> str:
    """Return `text` without the apostrophes inside words; one behind another stands between words."""
    return text if "'" not in text and "’" not in text else _APOSTROPHE.sub("", text)


@lru_cache(maxsize=16384)
def name_key(name: str) -> str:
    """Return what makes two names the same; empty for a name without letters or digits."""
    name = name[:MAX_NAME]
    bare = _SUFFIX.sub("", name) if name.rstrip()[-1:] in (")", "）") else name
    return join_key([_folded(word) for word in _WORD.findall(bare) or _WORD.findall(name)])


def whole_key(name: str) -> str:
    """
    Return the key of a name with all that stands in parentheses at its end.

    Titles of papers may differ in that alone: `Gamma Function (Algorithm 31)`, `Gamma Function (Algorithm 34)`.
    """
    return join_key([_folded(word) for word in _WORD.findall(name[:MAX_NAME])])


def key_words(key: str) -> frozenset[str]:
    """Return the words of a key, all in the singular, to see whether one name is part of another."""
    return frozenset(map(singular, key.split()))


def predicate_key(predicate: str) -> str:
    """Return a predicate as it is kept: `Works on` becomes `works_on`."""
    return "_".join(_PREDICATE_WORD.findall(fold(predicate)))


def name_text(name: str, description: str) -> str:
    """Return what is embedded of a name."""
    return f"{name}: {description}"


def join_key(parts: Sequence[str]) -> str:
    """Return the key of folded words: no leading article, last word singular, CJK without spaces."""
    parts = list(parts)
    while len(parts) > 1 and _is_article(parts[0], parts[1]):
        parts = parts[1:]
    if not parts:
        return ""
    parts[-1] = singular(parts[-1])
    key = parts[0]
    for before, part in itertools.pairwise(parts):
        key += part if _CJK.match(before) and _CJK.match(part) else f" {part}"
    return key


def _is_article(word: str, after: str) -> bool:
    """Tell whether a word before another is an article: not the letter of `A-320`, `A.I.` and `A. J. Cook`."""
    if word != "a":
        return word in _ARTICLES
    return not (after.isascii() and ((len(after) == 1 and after.isalpha()) or after.removesuffix("s").isdigit()))


def spans(found: Sequence[Word], at: int, *, longest: int = MAX_WORDS) -> list[tuple[int, str]]:
    """Return (number of words, key) for the names that may begin at word `at`, longest first."""
    first = found[at].text
    after = found[at + 1].text if at + 1 < len(found) else ""
    if _is_article(first, after):  # a name begins behind its article, and a lone article is a word like any other
        return [(1, first)]
    is_cjk = _is_cjk(first)
    is_mixed = _is_cjk(after)  # `OAuth服务`
    limit = MAX_CHARACTERS if is_cjk else max(longest, MAX_CHARACTERS * is_mixed)
    keys = [(1, singular(first))]
    raw, size = first, 1
    for word in found[at + 1 : at + limit]:
        was_cjk, is_cjk = is_cjk, _is_cjk(word.text)
        gap = "" if was_cjk and is_cjk else " "
        size += 1
        keys.append((size, raw + gap + singular(word.text)))
        raw += gap + word.text
    return keys[::-1]


def candidate_keys(found: Sequence[Word], *, longest: int = MAX_WORDS) -> set[str]:
    """Return every key that a run of words could be: what has to be looked up in the dictionary."""
    return {key for at in range(len(found)) for _, key in spans(found, at, longest=longest) if key}


def short_keys(found: Sequence[Word], *, longest: int = MAX_WORDS) -> tuple[set[str], set[str]]:
    """
    Return the keys of one and two words that a text could hold, and those pairs of words that may begin a longer one.

    Where characters stand without spaces all keys are returned, for nothing tells which of them are pairs of words.
    """
    keys: set[str] = set()
    pairs: set[str] = set()
    for at, word in enumerate(found):
        after = found[at + 1].text if at + 1 < len(found) else ""
        if _is_cjk(word.text) or _is_cjk(after):
            keys |= {key for _, key in spans(found, at, longest=longest)}
            continue
        keys.add(singular(word.text))
        if after and not _is_article(word.text, after):
            keys.add(f"{word.text} {singular(after)}")
            pairs.add(f"{word.text} {after}")
    return keys, pairs


def long_keys(found: Sequence[Word], pairs: Collection[str], *, longest: int = MAX_WORDS) -> set[str]:
    """Return the keys of three and more words that a text could hold, of those that begin with one of `pairs`."""
    return {
        key
        for at in range(len(found) - 2)
        if f"{found[at].text} {found[at + 1].text}" in pairs
        for size, key in spans(found, at, longest=longest)
        if size > 2
    }


def match_names(
    found: Sequence[Word], known: Collection[str], *, longest: int = MAX_WORDS
) -> list[tuple[str, int, int]]:
    """
    Return (key, first word, number of words) of the known names in a text, longest first, none overlapping.

    A single word only counts where it is written like a name, so that the film `It` is not in every sentence, one that
    sentences open with only behind another word, and a single CJK character only where it stands alone or beside a
    particle: `宋` is not in `宋体`.
    """
    sizes: dict[str, int] = {}
    """By the first word of a name, how many words the longest such name has."""
    for key in known:
        head, size = key.partition(" ")[0], key.count(" ") + 1
        if not key.isascii():
            head, size = key[0] if _is_cjk(key[:1]) else head, longest
        sizes[head] = max(size, sizes.get(head, 0))
    matches: list[tuple[str, int, int]] = []
    at = 0
    while at < len(found):
        word = found[at]
        step = 1
        most = max(sizes.get(word.text, 0), sizes.get(singular(word.text), 0))
        if most:
            for size, key in spans(found, at, longest=min(most, longest)):
                if key in known and (size > 1 or _stands_alone(found, at)):
                    matches.append((key, at, size))
                    step = size
                    break
        at += step
    return matches


def _stands_alone(found: Sequence[Word], at: int) -> bool:
    """Tell whether one word may be a name where it stands."""
    word = found[at]
    if word.is_name_like == OPENING:  # one character after the word before it: there is no full stop between them
        return at > 0 and word.start == found[at - 1].end + 1
    return bool(word.is_name_like) and not _is_inside(found, at)


def _is_inside(found: Sequence[Word], at: int) -> bool:
    """Tell whether the word at `at` is a CJK character with another one beside it that may belong to the same word."""
    word = found[at]
    if not _is_cjk(word.text):
        return False
    before = found[at - 1] if at else None
    after = found[at + 1] if at + 1 < len(found) else None
    return any(
        other is not None and touches and _is_cjk(other.text) and other.text not in _PARTICLES
        for other, touches in (
            (before, before is not None and before.end == word.start),
            (after, after is not None and after.start == word.end),
        )
    )


@lru_cache(maxsize=65536)
def _is_cjk(word: str) -> bool:
    return len(word) == 1 and not word.isascii() and _CJK.match(word) is not None


def _folded(word: str) -> str:
    folded = fold(word if word.isascii() else _HIDDEN.sub("", word))
    return folded if folded.isalnum() else _POSSESSIVE.sub("", folded).replace("'", "").replace("’", "")


@lru_cache(maxsize=65536)
def _read(word: str) -> tuple[str, int]:
    """Return a word folded, and whether it is written like a name."""
    if is_opening(word):
        return _folded(word), OPENING
    return _folded(word), int(not word.islower() or any(map(_is_telling, word)))


def _is_telling(character: str) -> bool:
    return character.isdigit() or character in "+#＋＃"


def is_opening(word: str) -> bool:
    """Tell whether a word is one that sentences open with, its first letter large and no other."""
    return word[1:].islower() and not word.islower() and _folded(word) in OPENERS


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """`services` → `service`, `entries` → `entry`, `indexes` → `index`; short words, `ss`, `us` and `is` stay."""
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word in _SAME:
        return word
    if word.endswith(("sses", "shes", "xes")) or (word.endswith("ches") and word not in _SILENT):
        return word[:-2]
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 and word not in _SILENT else word[:-1]
