"""Text normalisation: folding of case, width, accents and script; script detection."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from weft.text.simplified import simplify

# accents, and the optional marks of Hebrew and Arabic: points, harakat, tatweel
_OPTIONAL = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]+")
_SPACE = re.compile(r"\s+")
_PLAIN_HAN = re.compile("[\u4e00-\u9fff]+")  # text without case, accents and full-width forms

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
KANA = "\u3040-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
CJK = HAN + KANA + HANGUL
SOUTHEAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17d7\u17dc-\u17e9"  # Burmese, Khmer
)
UNSPACED = CJK + SOUTHEAST
"""Ranges of a regular-expression character class: scripts without spaces, and Hangul, which also needs bigrams."""

_MARKED = (  # Unicode blocks with combining marks, except those of unspaced scripts
    range(0x300, 0xE00),
    range(0xF00, 0x1000),
    range(0x10A0, 0x1780),
    range(0x1800, 0x1E00),
    range(0xA66F, 0xAC00),
    range(0xFE20, 0xFE30),
    range(0x10A00, 0x12000),
)


def _find_marks() -> Iterator[str]:
    """Yield the runs of spacing and non-spacing marks as ranges of a character class."""
    for block in _MARKED:
        for is_mark, run in groupby(block, key=lambda code: unicodedata.category(chr(code)) in ("Mn", "Mc")):
            if is_mark:
                codes = list(run)
                yield f"{chr(codes[0])}-{chr(codes[-1])}"


MARKS = "".join(_find_marks())
"""Ranges of a regular-expression character class: combining marks, such as the vowel signs of Devanagari."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
_SCRIPTS = (
    ("han", re.compile(f"[{HAN}]")),
    ("kana", re.compile(f"[{KANA}]")),
    ("hangul", re.compile(f"[{HANGUL}]")),
    ("latin", re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]")),
    ("cyrillic", re.compile("[\u0400-\u052f]")),
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("arabic", re.compile("[\u0600-\u06ff\u0750-\u077f]")),
    ("hebrew", re.compile("[\u0590-\u05ff]")),
    ("devanagari", re.compile("[\u0900-\u097f]")),
    ("thai", re.compile("[\u0e00-\u0e7f]")),
)


def fold(text: str) -> str:
    """Return `text` with width, case, accents and script folded: `Ｃａｆé` gives `cafe`, `圖檢索` gives `图检索`."""
    if text.isascii():
        return text.lower()
    if _PLAIN_HAN.fullmatch(text):
        return simplify(text)
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return simplify(unicodedata.normalize("NFKC", _OPTIONAL.sub("", decomposed)))


def squeeze(text: str) -> str:
    """Return `text` with each run of white space replaced by one space, and stripped."""
    return _SPACE.sub(" ", text).strip()


@lru_cache(maxsize=4096)
def scripts(text: str) -> dict[str, float]:
    """
    Return the share of each script among the letters of `text`, e.g. `{"han": 0.8, "latin": 0.2}`.

    A Han character or a Hangul syllable counts as two letters. Letters of unlisted scripts count as `other`. A text
    without letters gives `{}`.
    """
    counts = count_letters(text)
    total = sum(counts.values())
    return {name: count / total for name, count in sorted(counts.items())}


def count_letters(text: str) -> dict[str, int]:
    """Return the number of letters of `text` by script, counted as in `scripts`."""
    counts: dict[str, int] = {}
    for character, count in Counter(text).items():
        if character.isalpha():
            name = _script(character)
            counts[name] = counts.get(name, 0) + (2 if name in ("han", "hangul") else 1) * count
    return counts


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    return next((name for name, pattern in _SCRIPTS if pattern.match(character)), "other")


def is_unspaced(text: str) -> bool:
    """Return True if most of a text is in unspaced scripts. A character of these scripts counts as two letters."""
    inside = len(_UNSPACED.findall(text))
    return 2 * inside > sum(map(str.isalpha, text)) - inside
