"""Fields of front matter and records to metadata."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from typing import TypeAlias

from weft.records import Scalar
from weft.text.decode import clean

Fields: TypeAlias = dict[str, "Scalar | list[Scalar]"]

MAX_NESTED_CHARACTERS = 20_000
"""A nested value whose JSON is longer is left out: metadata travels with every result."""
MAX_NESTED_FIELDS = 50
"""A nested value with more fields inside is left out, too."""
MAX_INT_BITS = 63
"""Stores keep signed 64-bit integers; a larger one becomes text."""


def to_metadata(fields: Mapping[str, object]) -> Fields:
    """Return the fields that are scalars or flat lists of scalars, cleaned; the rest is left out."""
    return {clean(key): _to_value(value) for key, value in fields.items() if _is_flat(value)}


def flatten(fields: Mapping[str, object]) -> dict[str, object]:
    """
    Return the fields with those inside a nested one beside them, named by the way to them: `author.name`.

    A list on the way gives one field with several values. A nested one that is huge, or has very many fields, is left
    out.
    """
    flat = {key: value for key, value in fields.items() if _is_flat(value)}
    inside: dict[str, object] = {}
    for key, value in fields.items():
        found = _collect(key, value) if key not in flat and _to_json(value) is not None else {}
        if len(found) <= MAX_NESTED_FIELDS:
            inside |= {name: values[0] if len(values) == 1 else values for name, values in found.items()}
    return {**inside, **flat}


def nested_to_json(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with JSON text in place of each nested value; a huge one is left out."""
    texts = {key: value if _is_flat(value) else _to_json(value) for key, value in fields.items()}
    return {key: value for key, value in texts.items() if value is not None or fields[key] is None}


def _collect(name: str, value: object) -> dict[str, list[object]]:
    """Return what is inside a value by the way to it, in the order it is written; nesting costs no stack."""
    found: dict[str, list[object]] = {}
    left = [(name, value)]
    while left:
        place, item = left.pop()
        if isinstance(item, dict):
            left += [(f"{place}.{key}", inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list):
            left += [(place, inner) for inner in reversed(item)]
        elif item is not None:
            found.setdefault(place, []).append(item)
    return found


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | datetime.date)


def _is_flat(value: object) -> bool:
    return _is_scalar(value) or (isinstance(value, list) and all(map(_is_scalar, value)))


def _to_value(value: object) -> Scalar | list[Scalar]:
    return [_to_scalar(item) for item in value] if isinstance(value, list) else _to_scalar(value)


def _to_scalar(value: object) -> Scalar:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= MAX_INT_BITS else _huge_to_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)  # JSON has no word for NaN
    if isinstance(value, datetime.date):
        return value.isoformat()
    return clean(str(value))


def _huge_to_text(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to print more than 4300 digits
        return hex(value)


def _to_json(value: object) -> str | None:
    try:
        text = json.dumps(value, ensure_ascii=False, default=_to_plain, skipkeys=True)
    except (RecursionError, ValueError):
        return None
    return text if len(text) <= MAX_NESTED_CHARACTERS else None


def _to_plain(value: object) -> object:
    """Return what JSON has a word for; the members of a set in an order that is always the same."""
    return sorted(map(str, value)) if isinstance(value, set) else str(value)
