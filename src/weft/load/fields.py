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
MAX_INT_BITS = 63
"""Stores keep signed 64-bit integers; a larger one becomes text."""


def to_metadata(fields: Mapping[str, object]) -> Fields:
    """Return the fields that are scalars or flat lists of scalars, cleaned; the rest is left out."""
    return {clean(key): _to_value(value) for key, value in fields.items() if _is_flat(value)}


def nested_to_json(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with JSON text in place of each nested value; a huge one is left out."""
    texts = {key: value if _is_flat(value) else _to_json(value) for key, value in fields.items()}
    return {key: value for key, value in texts.items() if value is not None or fields[key] is None}


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
