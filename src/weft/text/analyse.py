"""
The analyser: which terms a text has. Shared by every store, by indexing and by asking.

- case, width and accents are folded; English endings are stemmed
- Chinese, Japanese and Korean runs become overlapping pairs of characters, and single characters
- a run ends where ASCII meets CJK, so `重跑gen-itgc后` has `重跑`, `gen-itgc` and `后`
- an identifier is kept whole *and* in its parts: `gpt-4o` gives `gpt-4o`, `gpt`, `4o`;
  `parseHTML` gives `parsehtml`, `parse`, `html`
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

import snowballstemmer

from weft.text.normalise import CJK, fold

VERSION = 1
"""Part of every content hash, so that documents are indexed again when the analyser changes."""

MAX_TERM = 120
"""Longer runs (base64, minified code) are cut: nobody types them, and they would swell the index."""

_LETTER = f"[^\\W_{CJK}]"
_TOKEN = re.compile(
    f"(?P<cjk>[{CJK}]+)"
    # letters and digits, joined by single marks that stand inside identifiers; C++, C#, F#
    f"|(?P<word>{_LETTER}+(?:[-._:/@&'’+#\\\\]{{1,2}}{_LETTER}+|_+{_LETTER}+)*(?:\\+\\+|#)?)"
    # emoji and other symbols are searchable on their own
    "|(?P<symbol>[\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff])"
)
_PART = re.compile(f"{_LETTER}+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_INITIALS = re.compile(f"{_LETTER}(?:\\.{_LETTER})+")
_APOSTROPHE = re.compile(r"['’](?:s|S)$|['’]")
_STEMMER = snowballstemmer.stemmer("english")


def terms(text: str) -> list[str]:
    """Return the terms of a document's `text`, in order, repeated as often as they occur."""
    found: list[str] = []
    for match in _TOKEN.finditer(_unify(text)):
        run = match.group()
        if match.lastgroup == "cjk":
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

    A lone CJK character is asked for as itself; a longer run only by its pairs, which are far more telling.
    """
    found: dict[str, None] = {}
    for match in _TOKEN.finditer(_unify(text)):
        run = match.group()
        if match.lastgroup == "cjk":
            run = fold(run)
            found |= dict.fromkeys((run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else run)
        elif match.lastgroup == "word":
            found |= dict.fromkeys(_word_terms(run))
        else:
            found[run] = None
    return list(found)


def count_terms(text: str) -> Counter[str]:
    """Return each term of a document's `text` with how often it occurs."""
    return Counter(terms(text))


def _unify(text: str) -> str:
    """Full-width letters become plain and accents are composed, so that runs are not torn apart."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=65536)
def _word_terms(run: str) -> tuple[str, ...]:
    """Return the terms of one word or identifier, the whole first."""
    run = run[:MAX_TERM]
    plain = _APOSTROPHE.sub("", run)
    whole = fold(plain)
    if whole.isalpha() and _is_plain(plain):
        return (_stem(whole),)
    found = [whole, *_NUMBER.findall(whole)]
    if _INITIALS.fullmatch(whole):
        found.append(whole.replace(".", ""))
    for part in _PART.findall(plain):
        found.append(_stem(fold(part)))
        found += (_stem(fold(hump)) for hump in _HUMP.split(part) if 1 < len(hump) < len(part))
    return tuple(dict.fromkeys(found))


def _is_plain(word: str) -> bool:
    return word.islower() or word.isupper() or word.istitle() or not word.isascii()


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    stem: str = _STEMMER.stemWord(word)
    return stem
