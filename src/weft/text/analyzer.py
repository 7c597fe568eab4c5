"""
The analyser: which terms a text has. Shared by every store, by indexing and by asking.

- case, width, accents and traditional characters are folded; English endings are stemmed
- runs of a script without spaces (Chinese, Japanese, Thai …, and Korean) become overlapping pairs of
  characters, and single characters
- such a run ends where ASCII begins, so `重跑gen-itgc后` has `重跑`, `gen-itgc` and `后`
- an identifier is kept whole *and* in its parts: `gpt-4o` gives `gpt-4o`, `gpt`, `4o`;
  `parseHTML` gives `parsehtml`, `parse`, `html`
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache

import snowballstemmer

from weft.text.chinese import asked_parts
from weft.text.normalise import MARKS, UNSPACED, fold

VERSION = 3
"""Part of every content hash, so that documents are indexed again when the analyser changes."""

MAX_TERM = 120
"""A longer run (a path, base64, minified code) counts as its parts only, and each part is cut here."""

_LETTER = f"[^\\W_{UNSPACED}]"
_LETTERS = f"{_LETTER}+(?:[{MARKS}]+{_LETTER}*)*"
_INNER = f"[^\\W_]+(?:[{MARKS}]+[^\\W_]*)*"
"""The same inside a word, where there is nothing unspaced; much quicker to compile."""


@cache
def _token(letters: str) -> re.Pattern[str]:
    return re.compile(
        f"(?P<unspaced>[{UNSPACED}]+)"
        # letters and digits, joined by single marks that stand inside identifiers; C++, C#, F#
        f"|(?P<word>{letters}(?:[-._:/@&'’+#\\\\]{{1,2}}{letters}|_+{letters})*(?:\\+\\+|#)?)"
        # emoji and other symbols are searchable on their own: a flag is two letters, a skin tone is none
        "|(?P<symbol>[\U0001f1e6-\U0001f1ff]{2}"
        "|[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff])"
    )


_TOKEN = _token(f"{_LETTER}+")
_MARK = re.compile(f"[{MARKS}]")
_PART = re.compile(_INNER)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_SHARP = re.compile(r"\b[a-z](?:\+\+|#)")
_INITIALS = re.compile(r"[^\W_](?:\.[^\W_])+")
_APOSTROPHE = re.compile(r"['’](?:s|S)$|['’]")
_ELIDED = re.compile(f"['’]({_INNER})")
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
_STEMMER = snowballstemmer.stemmer("english")


def terms(text: str) -> list[str]:
    """Return the terms of a document's `text`, in order, repeated as often as they occur."""
    found: list[str] = []
    for match in _tokens(text):
        run = match.group()
        if match.lastgroup == "unspaced":
            run = fold(run)
            found += run
            found += (run[i : i + 2] for i in range(len(run) - 1))
        elif match.lastgroup == "word":
            found += _word_terms(run)
        else:
            found.append(run)
    return found


def query_terms(text: str) -> list[str]:
    """
    Return the terms to look up for a question, each once, in order.

    A lone CJK character is asked for as itself; a longer run only by its pairs, which are far more telling. Words that
    a Chinese question is made of, not about, end a run: `蓍的别名是什么` asks for `蓍` and `别名`.
    """
    found: dict[str, None] = {}
    for match in _tokens(text):
        run = match.group()
        if match.lastgroup == "unspaced":
            for part in asked_parts(fold(run)):
                found |= dict.fromkeys((part[i : i + 2] for i in range(len(part) - 1)) if len(part) > 1 else part)
        elif match.lastgroup == "word":
            found |= dict.fromkeys(_word_terms(run))
        else:
            found[run] = None
    return list(found)


def count_terms(text: str) -> Counter[str]:
    """Return each term of a document's `text` with how often it occurs."""
    return Counter(terms(text))


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Full-width letters become plain, accents are composed and joiners go, so that runs are not torn apart."""
    if text.isascii():
        return _TOKEN.finditer(text)
    visible = _INVISIBLE.sub("", text).replace("™", " ")  # else `Lego™` would become `LegoTM`
    unified = unicodedata.normalize("NFKC", visible)
    # the pattern for text with marks takes twice the time
    return (_token(_LETTERS) if _MARK.search(unified) else _TOKEN).finditer(unified)


def _word_terms(run: str) -> tuple[str, ...]:
    """Return the terms of one word or identifier, the whole first."""
    if len(run) <= MAX_TERM:
        return _identifier_terms(run)
    return tuple(_stem(fold(part)[:MAX_TERM]) for part in _PART.findall(run))


@lru_cache(maxsize=65536)
def _identifier_terms(run: str) -> tuple[str, ...]:
    plain = _APOSTROPHE.sub("", run)
    whole = fold(plain)
    # `l'homme` is asked for as `homme`; what follows in `don't` or `we'll` is no word
    elided = [part for part in _ELIDED.findall(run) if len(part) > 2]
    if whole.isalpha() and _is_plain(plain) and not elided:
        return (_stem(whole),)
    found = [whole, *_NUMBER.findall(whole), *_SHARP.findall(whole)]
    if _INITIALS.fullmatch(whole):
        found.append(whole.replace(".", ""))
    for part in _PART.findall(plain):
        found.append(_stem(fold(part)))
        found += (_stem(fold(hump)) for hump in _HUMP.split(part) if 1 < len(hump) < len(part))
    found += (_stem(fold(part)) for part in elided)
    return tuple(dict.fromkeys(found))


def _is_plain(word: str) -> bool:
    return word.islower() or word.isupper() or word.istitle() or word.lower() == word.upper()


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    stem: str = _STEMMER.stemWord(word)
    return stem
