"""Parser of author names: `Vaswani, Ashish`, `A. Vaswani and N. Shazeer`, objects with name parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from weft.extract.names import name_key
from weft.load.line_map import collapse
from weft.text.decode import clean

MAX_NAME_CHARACTERS = 120
"""Maximum length of a name. A longer text is a list or a sentence."""

_WHOLE = ("display_name", "name", "full_name", "fullname", "raw_author_name", "literal", "login")
_GIVEN = ("given", "first_name", "firstname", "first", "forename", "given_name")
_FAMILY = ("family", "last_name", "lastname", "last", "surname", "family_name")
_AND = re.compile(r" ?[;；、] ?| (?:and|und|et|&) (?!al\b)| ?, and ")
"""Separator of names in a text with single spaces."""
_OTHERS = re.compile(r"\b(?:et al\.?|and others|others)$", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def read_people(value: object) -> Iterator[str | None]:
    """Yield the names in a field, given names first; None for an element without a name."""
    if isinstance(value, str):
        yield from map(to_person, filter(None, _split_names(_OTHERS.sub("", collapse(clean(value))))))
    elif isinstance(value, list):
        for item in value:
            name = collapse(clean(item)) if isinstance(item, str) else item
            if isinstance(name, str) and _OTHERS.fullmatch(name):
                continue
            if isinstance(name, str) and _AND.search(name):
                yield from read_people(name)
            else:
                yield to_person(name)
    elif value is not None:
        yield to_person(value)


def to_person(value: object) -> str | None:
    """Return `Ashish Vaswani` for `Vaswani, Ashish` or an object with name parts; None if it is not a name."""
    if isinstance(value, Mapping):
        value = _from_object(value)
    if not isinstance(value, str):
        return None
    name = collapse(clean(value)).strip(" ,;")
    if not name_key(name) or len(name) > MAX_NAME_CHARACTERS:
        return None
    last, comma, first = name.partition(", ")
    if not comma:
        return name
    suffix = ""
    if ", " in first:
        first, _, suffix = first.partition(", ")  # `King, Martin Luther, Jr.`
        first, suffix = (suffix, first) if _SUFFIX.fullmatch(first) else (first, suffix)
    elif _SUFFIX.fullmatch(first):
        return f"{last} {first}"
    return collapse(f"{first} {last} {suffix}")


def _from_object(record: Mapping[str, object]) -> object:
    """Return the name in an object: whole, in parts, or in a nested object `author` (OpenAlex)."""
    inner = record.get("author")
    if isinstance(inner, Mapping) and (name := _from_object(inner)):
        return name
    whole = next((record[field] for field in _WHOLE if isinstance(record.get(field), str) and record[field]), None)
    if whole is not None:
        return whole
    parts = (next((str(record[field]) for field in fields if record.get(field)), "") for fields in (_GIVEN, _FAMILY))
    return " ".join(filter(None, parts)) or None


def _split_names(names: str) -> list[str]:
    """Return the names in one text; commas separate names or the parts of a name."""
    if _AND.search(names):
        return [name for part in _AND.split(names) for name in _split_names(part)]
    parts = [part.strip() for part in names.split(",") if part.strip()]
    if len(parts) == 3 and _SUFFIX.fullmatch(parts[2]):
        return [names]
    if len(parts) < 2 or (len(parts) == 2 and (" " not in parts[0] or _INITIALS.fullmatch(parts[1]))):
        return [names]
    if len(parts) % 2 == 0 and all(_INITIALS.fullmatch(part) for part in parts[1::2]):
        return [f"{last}, {first}" for last, first in zip(parts[::2], parts[1::2], strict=True)]
    return parts
