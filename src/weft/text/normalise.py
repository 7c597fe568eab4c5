"""Makes texts comparable: folding of case, width and accents, and which scripts a text is written in."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_COMBINING = re.compile("[\u0300-\u036f]+")
_SPACE = re.compile(r"\s+")

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
KANA = "\u3040-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
CJK = HAN + KANA + HANGUL
"""Body of a character class: scripts written without spaces, or close enough to want bigrams."""

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
    """Return `text` with width, case and accents folded: `Ｃａｆé` becomes `cafe`."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFKC", _COMBINING.sub("", decomposed))


def squeeze(text: str) -> str:
    """Return `text` with every run of white space made one space, and none at the ends."""
    return _SPACE.sub(" ", text).strip()


@lru_cache(maxsize=4096)
def scripts(text: str) -> dict[str, float]:
    """
    Return the share of each script among the letters of `text`, e.g. `{"han": 0.8, "latin": 0.2}`.

    A Han character or a Hangul syllable carries about as much as two letters, so it counts twice.
    Letters of scripts not told apart here are `other`. A text without letters gives `{}`.
    """
    counts: dict[str, int] = {}
    for character in text:
        if character.isalpha():
            name = _script(character)
            counts[name] = counts.get(name, 0) + (2 if name in ("han", "hangul") else 1)
    total = sum(counts.values())
    return {name: count / total for name, count in sorted(counts.items())}


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    return next((name for name, pattern in _SCRIPTS if pattern.match(character)), "other")
