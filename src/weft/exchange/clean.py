"""Values of any kind, as files give them, to clean names, texts and relation types."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from weft.text.decode import clean
from weft.text.normalise import squeeze

MAX_NAME_CHARACTERS = 300
"""Longer names are not taken: they are sentences."""
MAX_TYPE_CHARACTERS = 60
RELATED = "related_to"
"""The type of a relation that says nothing about itself."""

_READ_CHARACTERS = 1000
_NO_TEXT = re.compile("[\ufeff\ufffe\uffff]")
"""The byte order mark, and two codes that stand for no character and that XML forbids."""
_KEYWORD_ENDS = re.compile("[,;|，；、\n]|<SEP>")


def to_text(value: object) -> str:
    """Return a text or number as clean text without white space at its ends, and nothing for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    text = str(value)
    # Most texts are printable, and those hold nothing to clean.
    return (text if text.isprintable() else _NO_TEXT.sub("", clean(text))).strip()


def to_name(value: object) -> str:
    """Return a text or number as clean text on one line, and nothing for anything else."""
    return squeeze(to_text(value))


def to_names(value: object) -> tuple[str, ...]:
    """Return the different names in a list, or the one that stands alone; those too long are left out."""
    names = dict.fromkeys(map(to_name, _iter_items(value)))
    return tuple(name for name in names if name and len(name) <= MAX_NAME_CHARACTERS)


def to_ids(value: object) -> tuple[str, ...]:
    """Return the different ids in a list, or the one that stands alone."""
    return tuple(filter(None, dict.fromkeys(map(to_name, _iter_items(value)))))


def to_texts(value: object) -> tuple[str, ...]:
    """Return the different texts in a list, or the one that stands alone."""
    return tuple(filter(None, dict.fromkeys(map(to_text, _iter_items(value)))))


@lru_cache(maxsize=4096)
def relation_type(text: str) -> str:
    """
    Return what a relation is called as snake_case: `was born in` and `wasBornIn` become `was_born_in`.

    Letters and digits of all scripts stay, with the marks upon them; a type has at most 60 characters.
    Where nothing is left it is `related_to`. A type that has been through here comes out as it is.
    """
    words = "".join(_iter_letters(squeeze(text)[:_READ_CHARACTERS]))
    joined = "_".join(filter(None, words.lower().split("_")))
    return joined[:MAX_TYPE_CHARACTERS].rstrip("_") or RELATED


def first_keyword(value: object) -> str:
    """Return the first filled one of a list, or of words between commas, semicolons, bars or `<SEP>`."""
    words = (word for item in _iter_items(value) for word in _KEYWORD_ENDS.split(to_text(item)))
    return next(filter(None, map(squeeze, words)), "")


def _iter_items(value: object) -> Iterable[object]:
    if isinstance(value, list | tuple):
        return value
    return () if value is None else (value,)


def _iter_letters(text: str) -> Iterator[str]:
    """Yield the letters and digits, and `_` for what stands between words."""
    before = "_"
    for index, letter in enumerate(text):
        is_mark = unicodedata.category(letter).startswith("M") and before != "_"
        if not letter.isalnum() and not is_mark:
            before = "_"
        elif _begins_word(letter, before=before, after=text[index + 1 : index + 2]):
            yield "_"
            before = letter
        else:
            before = letter
        yield before


def _begins_word(letter: str, *, before: str, after: str) -> bool:
    """Tell whether a capital begins a new word: the `I` of `bornIn`, the `S` of `HTTPServer`."""
    if not _is_capital(letter) or before == "_":
        return False
    return not _is_capital(before) or (after.isalpha() and not _is_capital(after))


def _is_capital(letter: str) -> bool:
    # `isupper` also holds for letters that stay as they are when lowered, and would cut them off again each time.
    return letter.lower() != letter
