"""
Name keys: the normal form by which names are compared, and lookup of keys in running text.

| name | key | rule |
| --- | --- | --- |
| `The Auth-Services` | `auth service` | no article or punctuation; last word singular |
| `Mercury (planet)` | `mercury planet` | a qualifier in parentheses stays: it is not `Mercury (element)` |
| `Session Store Failover (SSF)` | `session store failover` | no abbreviation, translation or aside in parentheses |
| `Luther's Rose` | `luther rose` | no possessive |
| `Ｃａｆé Zoë` | `cafe zoe` | width, case and accents folded |
| `SR-052` | `sr 052` | digits stay: it is not `SR-053`, and `v1` is not `v2` |
| `C++`, `C#`, `Disney+` | `c++`, `c#`, `disney+` | the sign at the end of a word stays |
| `知識 圖譜` | `知识图谱` | simplified characters, no spaces between them |
| `OAuth服务` | `oauth 服务` | a space between scripts |
| `A-320`, `A. J. Cook` | `a 320`, `a j cook` | a letter is not an article |
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import overload

from weft.extract.lexicon import OPENERS
from weft.records import Word
from weft.text.normalise import CJK, MARKS, fold

MAX_KEY_WORDS = 8
"""Maximum number of words of a key that is searched in text."""

MAX_WRITTEN_WORDS = 4
"""Maximum number of words of a name that is looked up because a text writes it like one. Longer ones are proposed."""

MAX_CJK_CHARACTERS = 12
"""Maximum length of a key that is searched in a run of CJK characters."""

MAX_CACHED_CHARACTERS = 40
"""Longer words are not cached when folded: in unspaced scripts a whole text is one word."""

MAX_NAME_CHARACTERS = 200
"""Longer names are cut."""

MAX_QUALIFIER_WORDS = 5
"""A longer text in parentheses is an aside, not a qualifier."""

MAX_ACRONYM_CHARACTERS = 8

_INVISIBLE = "\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
_LETTERS = f"[^\\W_{CJK}][^\\W_{CJK}]*(?:[{MARKS}{_INVISIBLE}]+[^\\W_{CJK}]*)*"
"""Letters with combining marks; soft hyphens do not end a word."""


def _sign(pluses: str, sharps: str, *, skipped: str = "") -> str:
    """
    Return a pattern for an optional sign at the end of a word, with its possessive.

    | sign | no sign |
    | --- | --- |
    | `C++`, `C#'s`, `Disney+`, `S10+` | `3.8+`: a number |
    | `C++11`, `C++语言` | `a+b`, `x+=1`, `PR#12`, `AI+医疗`: the word continues |

    The pattern begins with the sign itself, so it is fast for words without a sign.
    """
    numbered = "|".join(f"(?<=[A-Za-z]{digits}.)" for digits in (r"\d", r"\d\d", r"\d\d\d"))  # `S10+`
    plus, sharp, on = f"(?<=[{pluses}])", f"(?<=[{sharps}])", f"(?!{skipped}['’]?"
    wide = "\u2e80-\ud7af"  # CJK, as a range that compiles fast
    return (
        f"(?:[{pluses}{sharps}](?:(?<!\\d.)|{numbered})"
        f"(?:{plus}[{pluses}]|{plus}{on}[\\d{wide}])|{sharp}{on}\\d))"
        f"(?:['’][sS]{on}[^\\W_]))?{on}[^\\W\\d_{wide}]|[{pluses}{sharps}=])|)"
    )


SIGNS = ("+", "#")
"""Signs that may end a folded word."""

SIGN = _sign("+＋", "#＃", skipped=f"[\u0300-\u036f{_INVISIBLE}]*")
SENTENCE_END = re.compile(r"[.!?…]['\"”’)\]]*\s|[。！？；\n]")
"""End of a sentence, between two words."""
_WORD = re.compile(f"[{CJK}]|{_LETTERS}(?:['’]{_LETTERS})*{SIGN}")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
"""Pattern of a word in text without combining marks, CJK, signs and invisible characters. It takes half the time."""
_SIGNED_WORD = re.compile(_PLAIN_WORD.pattern + _sign("+", "#"))
"""Pattern of a word in the same kind of text, but with signs."""
_NOT_PLAIN = re.compile(r"[^\x00-\xac\xae-\u02ff\u2010-\u2027]")
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_SYMBOL = re.compile(f"[^\\w\x00-\x7f’＋＃{MARKS}{_INVISIBLE}]")
_CJK = re.compile(f"[{CJK}]")
_PREDICATE_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_SUFFIX = re.compile(r"\s{0,8}[(（][^()（）]{0,400}[)）]\s{0,8}$")
_ARTICLES = ("the", "a", "an")
_APOSTROPHE = re.compile(r"['’](?<!['’]['’])(?=[^\W_])")
"""Apostrophe inside a word. The pattern starts with the apostrophe, which makes the search fast."""
_POSSESSIVE = re.compile("['’]s?$")
_PARTICLES = frozenset("的是在和与及或有为由于从对把被了吗呢")
_INVARIABLE_PLURALS = frozenset({"series", "species"})
_PLURALS_IN_E = frozenset(
    """
    aches apaches avalanches brownies caches calories cookies genies headaches hippies indies movies niches pixies
    psyches rookies selfies smoothies veggies zombies
    """.split()
)
"""Plurals of words that end in `e`: `movies` is not the plural of `movy`."""


OPENING = 2
"""Value of `Word.is_name_like` for a small word such as `It`, which may only open a sentence. `IT` has 1."""


def words(text: str) -> list[Word]:
    """Return the words of `text`; each CJK character is a word."""
    return list(iter_words(text))


def iter_words(text: str, start: int = 0) -> Iterator[Word]:
    """Yield the words of `text` from offset `start`."""
    return (Word(*_read(match[0]), *match.span()) for match in _word_pattern(text).finditer(text, start))


def _word_pattern(text: str) -> re.Pattern[str]:
    if is_plain(text):
        return _SIGNED_WORD if "+" in text or "#" in text else _PLAIN_WORD
    return _WORD


def is_plain(text: str) -> bool:
    """Return True if a text has no combining marks, invisible characters and scripts other than Latin."""
    return text.isascii() or not _NOT_PLAIN.search(text)


class LazyWords(Sequence[Word]):
    """
    The words of a text, as `words` returns them. A `Word` is made when it is accessed.

    Their places take as long as all the rest and are rarely needed, so they are found only then.
    """

    __slots__ = ("_ends", "_places", "_read", "_text", "texts")

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: list[tuple[int, int]] | None = None
        self._read: list[tuple[str, int]] = []
        self._ends: list[int] = []
        """Number of words up to the end of each sentence."""
        pattern = _word_pattern(text)
        for sentence in SENTENCE_END.split(text):  # no word spans two sentences
            self._read += map(_read, pattern.findall(sentence))
            self._ends.append(len(self._read))
        self.texts = [folded for folded, _ in self._read]
        """Folded words."""

    @overload
    def __getitem__(self, at: int) -> Word: ...
    @overload
    def __getitem__(self, at: slice) -> list[Word]: ...
    def __getitem__(self, at: int | slice) -> Word | list[Word]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if self._places is None:
            self._places = [match.span() for match in _word_pattern(self._text).finditer(self._text)]
        return Word(*self._read[at], *self._places[at])

    def __len__(self) -> int:
        return len(self.texts)

    def sentence(self, at: int) -> int:
        """Return the position of the sentence of one word."""
        return bisect_right(self._ends, at)

    def is_name_like(self, at: int) -> int:
        """Return `Word.is_name_like` of one word."""
        return self._read[at][1]

    def name_like_places(self) -> list[int]:
        """Return the places of the words that are written like a name."""
        return [at for at, (_, is_name_like) in enumerate(self._read) if is_name_like]


def _texts(found: Sequence[Word]) -> Sequence[str]:
    return found.texts if isinstance(found, LazyWords) else [word.text for word in found]


def sign_end(text: str, end: int) -> int:
    """Return the end of a word including its sign: 3 for the `C` of `C++`, which ends at 1."""
    sign = _sign_pattern().match(text, end)
    return end + len(sign[0].rstrip("'’sS")) if sign else end


@cache
def _sign_pattern() -> re.Pattern[str]:
    return re.compile(SIGN)


def plain_text(text: str) -> str:
    """
    Return `text` folded for the search of keys, without apostrophes and invisible characters inside words.

    Symbols become spaces, since folding may turn them into letters: `Windows™` would become `windowstm`.

    """
    joined = join_apostrophes(text)
    if joined.isascii():
        return joined.lower()
    # word by word: most words are ASCII and need only lower case
    return " ".join([word.lower() if word.isascii() else _fold_word(word) for word in joined.split(" ")])


def _fold_word(word: str) -> str:
    return _fold_short(word) if len(word) <= MAX_CACHED_CHARACTERS else _fold_odd(word)


def _fold_odd(text: str) -> str:
    return fold(_HIDDEN.sub("", _SYMBOL.sub(" ", text)))


_fold_short = lru_cache(maxsize=16384)(_fold_odd)


def join_apostrophes(text: str) -> str:
    """Return `text` without the apostrophes inside words. Two apostrophes in a row separate words."""
    return text if "'" not in text and "’" not in text else _APOSTROPHE.sub("", text)


@lru_cache(maxsize=16384)
def name_key(name: str) -> str:
    """Return the key of a name; empty for a name without letters or digits."""
    name = name[:MAX_NAME_CHARACTERS]
    bare = without_qualifier(name)
    kept = name if bare != name and _is_qualified(bare, name) else bare
    return join_key([_read(word)[0] for word in _word_pattern(kept).findall(kept) or _WORD.findall(name)])


def without_qualifier(name: str) -> str:
    """Return a name without a suffix in parentheses: `Mercury` of `Mercury (planet)`."""
    return (_SUFFIX.sub("", name) or name) if name.rstrip()[-1:] in (")", "）") else name


def _is_qualified(bare: str, name: str) -> bool:
    """
    Return True if the suffix in parentheses distinguishes two entities with the same name.

    | qualifier | no qualifier |
    | --- | --- |
    | `Mercury (planet)`, `Heat (1995)`, `Auth Service (legacy)`, `水星（行星）` | `Session Store Failover (SSF)` |
    | `Mutiny (1952 film)` | `RBAC (Role-Based Access Control)`, `认证服务（Auth Service）` |
    | | `Use Case(s)`, `print(x)`, `Li Bai (701 – 762)`, an aside of more than five words |
    """
    inner = name[len(bare) :].strip(" \t()（）")
    words = _WORD.findall(inner)
    is_called = bare.isascii() and name[len(bare) : len(bare) + 1] == "("
    if not words or not bare or is_called or not 0 < len(inner.split()) <= MAX_QUALIFIER_WORDS:
        return False
    if bool(_CJK.search(bare)) != bool(_CJK.search(inner)) or (len(words) > 1 and "".join(words).isdigit()):
        return False
    return not _abbreviates(inner, bare) and not _abbreviates(bare, inner)


def _abbreviates(short: str, full: str) -> bool:
    """Return True if `short` is an acronym that begins with the letter of `full`: `SSF`, `K8s`."""
    is_acronym = " " not in short and len(short) <= MAX_ACRONYM_CHARACTERS and sum(map(str.isupper, short)) > 1
    is_numeronym = len(short) <= MAX_ACRONYM_CHARACTERS and short.isascii() and short.isalnum() and not short.isalpha()
    is_short = is_acronym or (is_numeronym and not short.isdigit())
    return is_short and len(full) > len(short) and short[:1].casefold() == full[:1].casefold()


def whole_key(name: str) -> str:
    """
    Return the key of a name including a suffix in parentheses.

    Paper titles may differ only there: `Gamma Function (Algorithm 31)`, `Gamma Function (Algorithm 34)`.
    """
    return join_key([_folded(word) for word in _WORD.findall(name[:MAX_NAME_CHARACTERS])])


def key_words(key: str) -> frozenset[str]:
    """Return the set of words of a key in the singular, to check whether one name is part of another."""
    return frozenset(map(singular, key.split()))


def predicate_key(predicate: str) -> str:
    """Return the stored form of a predicate: `works_on` for `Works on`."""
    return "_".join(_PREDICATE_WORD.findall(fold(predicate)))


def name_text(name: str, description: str) -> str:
    """Return the text of an entity that is embedded."""
    return f"{name}: {description}"


def join_key(parts: Sequence[str]) -> str:
    """Return the key of folded words: no leading article, last word singular, no spaces between CJK."""
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
    """Return True if a word before `after` is an article. The letter of `A-320`, `A.I.` and `A. J. Cook` is not."""
    if word != "a":
        return word in _ARTICLES
    return not (after.isascii() and ((len(after) == 1 and after.isalpha()) or after.removesuffix("s").isdigit()))


def keys_at(texts: Sequence[str], at: int, *, longest: int = MAX_KEY_WORDS) -> list[tuple[int, str]]:
    """Return (number of words, key) of all runs of folded words that begin at word `at`, longest first."""
    first = texts[at]
    after = texts[at + 1] if at + 1 < len(texts) else ""
    if _is_article(first, after):  # a name begins after its article; an article alone is an ordinary word
        return [(1, first)]
    is_cjk = _is_cjk(first)
    is_mixed = _is_cjk(after)  # `OAuth服务`
    limit = MAX_CJK_CHARACTERS if is_cjk else max(longest, MAX_CJK_CHARACTERS * is_mixed)
    keys = [(1, singular(first))]
    raw, size = first, 1
    for word in texts[at + 1 : at + limit]:
        was_cjk, is_cjk = is_cjk, _is_cjk(word)
        gap = "" if was_cjk and is_cjk else " "
        size += 1
        keys.append((size, raw + gap + singular(word)))
        raw += gap + word
    return keys[::-1]


def candidate_keys(found: Sequence[Word], *, longest: int = MAX_KEY_WORDS) -> set[str]:
    """Return the keys of all runs of words, for lookup in the dictionary."""
    texts = _texts(found)
    return {key for at in range(len(texts)) for _, key in keys_at(texts, at, longest=longest) if key}


def written_keys(found: LazyWords) -> set[str]:
    """Return the keys of short runs of words that begin like a name. Runs of CJK characters have no such words."""
    texts, keys = found.texts, set[str]()
    for at in found.name_like_places():  # hot loop
        raw, *others = run = texts[at : at + MAX_WRITTEN_WORDS]
        if not "".join(run).isascii():
            keys.update(
                () if _is_cjk(raw) else (key for _, key in keys_at(texts, at, longest=MAX_WRITTEN_WORDS) if key)
            )
            continue
        keys.add(singular(raw))
        if others and not _is_article(raw, others[0]):
            for word in others:
                keys.add(f"{raw} {singular(word)}")
                raw = f"{raw} {word}"
    return keys


def short_keys(found: Sequence[Word], *, longest: int = MAX_KEY_WORDS) -> tuple[set[str], set[str]]:
    """
    Return the keys of one and two words of a text, and the pairs of words with which a longer key may begin.

    For CJK characters keys of all lengths are returned, since words have no boundaries there.
    """
    keys: set[str] = set()
    pairs: set[str] = set()
    texts = _texts(found)
    for at, word in enumerate(texts):
        after = texts[at + 1] if at + 1 < len(texts) else ""
        if _is_cjk(word) or _is_cjk(after):
            keys |= {key for _, key in keys_at(texts, at, longest=longest)}
            continue
        keys.add(singular(word))
        if after and not _is_article(word, after):
            keys.add(f"{word} {singular(after)}")
            pairs.add(f"{word} {after}")
    return keys, pairs


def long_keys(found: Sequence[Word], pairs: Collection[str], *, longest: int = MAX_KEY_WORDS) -> set[str]:
    """Return the keys of three and more words of a text that begin with one of `pairs`."""
    texts = _texts(found)
    return {
        key
        for at in range(len(texts) - 2)
        if f"{texts[at]} {texts[at + 1]}" in pairs
        for size, key in keys_at(texts, at, longest=longest)
        if size > 2
    }


class NameSet:
    """Known names, prepared for the search in many texts."""

    __slots__ = ("beginnings", "keys", "longest", "sizes")

    def __init__(self, keys: Collection[str], *, longest: int = MAX_KEY_WORDS) -> None:
        self.keys = keys
        self.longest = longest
        self.sizes: dict[str, int] = {}
        """First word of a name → number of words of the longest such name."""
        self.beginnings: set[str] = set()
        """First two words of the names with three words and more."""
        sizes = self.sizes
        for key in keys:
            head, size = key.partition(" ")[0], key.count(" ") + 1
            if size > 2:
                self.beginnings.add(" ".join(key.split(" ", 2)[:2]))
            if not key.isascii():
                head, size = key[0] if _is_cjk(key[:1]) else head, longest
            if size > sizes.get(head, 0):
                sizes[head] = size


def match_names(
    found: Sequence[Word], known: Collection[str] | NameSet, *, longest: int = MAX_KEY_WORDS
) -> list[tuple[str, int, int]]:
    """
    Return (key, index of the first word, number of words) of the known names in a text, in order, without overlap.

    The longest name at a position is used. A single word must be written like a name; otherwise the film `It` would
    match every sentence. A sentence opener such as `It` matches only after another word. A single CJK character matches
    only alone or next to a particle: `宋` does not match in `宋体`.
    """
    names = known if isinstance(known, NameSet) else NameSet(known, longest=longest)
    keys, sizes = names.keys, names.sizes
    texts = _texts(found)
    matches: list[tuple[str, int, int]] = []
    end = 0
    for at, text in enumerate(texts):  # hot loop; only a word in `s` has another singular
        if text not in sizes and not (text[-1:] == "s" and singular(text) in sizes):
            continue
        if at < end:
            continue
        for size, key in _possible_at(texts, at, names):
            if key in keys and (size > 1 or _stands_alone(found, at)):
                matches.append((key, at, size))
                end = at + size
                break
    return matches


def _possible_at(texts: Sequence[str], at: int, names: NameSet) -> list[tuple[int, str]]:
    """Return the runs of words at `at` that may be one of `names`, as `keys_at` does: of ASCII words, few are."""
    text, after = texts[at], texts[at + 1] if at + 1 < len(texts) else ""
    most = max(names.sizes.get(text, 0), names.sizes.get(singular(text), 0))
    if not (text.isascii() and after.isascii()) or f"{text} {after}" in names.beginnings:
        return keys_at(texts, at, longest=min(most, names.longest))
    single = (1, singular(text))
    if most < 2 or names.longest < 2 or not after or _is_article(text, after):
        return [single]
    return [(2, f"{text} {singular(after)}"), single]


def _stands_alone(found: Sequence[Word], at: int) -> bool:
    """Return True if the single word at `at` may be a name."""
    if isinstance(found, LazyWords):  # hot path: most words need no place
        kind = found.is_name_like(at)
        if not kind or (kind != OPENING and found.texts[at].isascii()):
            return bool(kind)
    word = found[at]
    if word.is_name_like == OPENING:  # only a space after the word before it, so no full stop
        return at > 0 and word.start == found[at - 1].end + 1
    return bool(word.is_name_like) and not _is_inside(found, at)


def _is_inside(found: Sequence[Word], at: int) -> bool:
    """Return True if the word at `at` is a CJK character next to another one that may belong to the same word."""
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
    """Return a folded word and its `Word.is_name_like`."""
    if is_opening(word):
        return _folded(word), OPENING
    return _folded(word), int(not word.islower() or any(map(_is_digit_or_sign, word)))


def _is_digit_or_sign(character: str) -> bool:
    return character.isdigit() or character in "+#＋＃"


def is_opening(word: str) -> bool:
    """Return True if a word is a sentence opener with only its first letter in upper case."""
    return word[1:].islower() and not word.islower() and _folded(word) in OPENERS


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """
    Return the singular of a word: `service` of `services`, `entry` of `entries`.

    Short words and words in `ss`, `us` and `is` are unchanged.
    """
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word in _INVARIABLE_PLURALS:
        return word
    if word.endswith(("sses", "shes", "xes")) or (word.endswith("ches") and word not in _PLURALS_IN_E):
        return word[:-2]
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 and word not in _PLURALS_IN_E else word[:-1]
