"""Cleaning of values read from files: names, texts, ids, relation types."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from weft.text.decode import clean
from weft.text.normalise import squeeze

MAX_NAME_CHARACTERS = 300
"""Longer names are refused, because they are sentences."""
MAX_TYPE_CHARACTERS = 60
DEFAULT_TYPE = "related_to"
"""Type of a relation without a type."""

_MAX_READ_CHARACTERS = 1000
_NONCHARACTERS = re.compile("[\ufeff\ufffe\uffff]")
"""Byte order mark, and two noncharacters that XML forbids."""
_KEYWORD_SEPARATORS = re.compile("[,;|，；、\n]|<SEP>")


def to_text(value: object) -> str:
    """Return a text or number as cleaned, stripped text; empty for other values."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    text = str(value)
    # Printable texts, the common case, need no cleaning.
    return (text if text.isprintable() else _NONCHARACTERS.sub("", clean(text))).strip()


def to_name(value: object) -> str:
    """Return a text or number as cleaned text on one line; empty for other values."""
    return squeeze(to_text(value))


def to_names(value: object) -> tuple[str, ...]:
    """Return the distinct names of a list or single value; names that are too long are left out."""
    names = dict.fromkeys(map(to_name, _iter_items(value)))
    return tuple(name for name in names if name and len(name) <= MAX_NAME_CHARACTERS)


def to_ids(value: object) -> tuple[str, ...]:
    """Return the distinct ids of a list or single value."""
    return tuple(filter(None, dict.fromkeys(map(to_name, _iter_items(value)))))


def to_texts(value: object) -> tuple[str, ...]:
    """Return the distinct texts of a list or single value."""
    return tuple(filter(None, dict.fromkeys(map(to_text, _iter_items(value)))))


@lru_cache(maxsize=4096)
def relation_type(text: str) -> str:
    """
    Return a relation type in snake_case: `was_born_in` for `was born in` and `wasBornIn`.

    Letters, digits and combining marks of all scripts are kept, up to 60 characters. An empty result becomes
    `related_to`. The function is idempotent.
    """
    words = "".join(_iter_letters(squeeze(text)[:_MAX_READ_CHARACTERS]))
    joined = "_".join(filter(None, words.lower().split("_")))
    return joined[:MAX_TYPE_CHARACTERS].rstrip("_") or DEFAULT_TYPE


def first_keyword(value: object) -> str:
    """Return the first keyword of a list or of a text separated by commas, semicolons, bars or `<SEP>`."""
    words = (word for item in _iter_items(value) for word in _KEYWORD_SEPARATORS.split(to_text(item)))
    return next(filter(None, map(squeeze, words)), "")


def _iter_items(value: object) -> Iterable[object]:
    if isinstance(value, list | tuple):
        return value
    return () if value is None else (value,)


def _iter_letters(text: str) -> Iterator[str]:
    """Yield letters and digits, with `_` between words."""
    before = "_"
    for index, letter in enumerate(text):
        is_mark = unicodedata.category(letter).startswith("M") and before != "_"
        if not letter.isalnum() and not is_mark:
            before = "_"
        elif _starts_word(letter, before=before, after=text[index + 1 : index + 2]):
            yield "_"
            before = letter
        else:
            before = letter
        yield before


def _starts_word(letter: str, *, before: str, after: str) -> bool:
    """Return True if a capital starts a new word: the `I` of `bornIn`, the `S` of `HTTPServer`."""
    if not _is_capital(letter) or before == "_":
        return False
    return not _is_capital(before) or (after.isalpha() and not _is_capital(after))


def _is_capital(letter: str) -> bool:
    # Not `isupper`: it is also true for letters without lower case, and the result would not be idempotent.
    return letter.lower() != letter
