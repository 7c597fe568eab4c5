"""Conversion of front matter and record fields to metadata."""

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
"""Maximum length of a nested value as JSON. Longer values are omitted, because every result contains the metadata."""
MAX_NESTED_FIELDS = 50
"""Maximum number of fields of a nested value. Larger values are omitted."""
MAX_INT_BITS = 63
"""Largest integer in metadata, because stores have signed 64-bit integers. A larger integer becomes text."""


def to_metadata(fields: Mapping[str, object]) -> Fields:
    """Return the fields that are scalars or flat lists of scalars, cleaned; others are omitted."""
    return {clean(key): _to_value(value) for key, value in fields.items() if _is_flat(value)}


def flatten(fields: Mapping[str, object]) -> dict[str, object]:
    """
    Return the fields with nested values flattened under their path: `author.name`.

    A list on the path gives one field with several values. Nested values over the limits are omitted. A field that is
    written as `author.name` takes precedence.
    """
    flat = {key: value for key, value in fields.items() if _is_flat(value)}
    nested: dict[str, object] = {}
    for key, value in fields.items():
        found = _collect(key, value) if key not in flat and _to_json(value) is not None else {}
        if len(found) <= MAX_NESTED_FIELDS:
            nested |= {name: values[0] if len(values) == 1 else values for name, values in found.items()}
    return {**nested, **flat}


def nested_to_json(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with nested values as JSON text; values over the limit are omitted."""
    texts = {key: value if _is_flat(value) else _to_json(value) for key, value in fields.items()}
    return {key: value for key, value in texts.items() if value is not None or fields[key] is None}


def _collect(name: str, value: object) -> dict[str, list[object]]:
    """Return the scalars of a nested value by path, in the order written; without recursion."""
    found: dict[str, list[object]] = {}
    stack = [(name, value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            stack += [(f"{path}.{key}", inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(path, inner) for inner in reversed(item)]
        elif item is not None:
            found.setdefault(path, []).append(item)
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
        return value if math.isfinite(value) else str(value)  # JSON has no NaN
    if isinstance(value, datetime.date):
        return value.isoformat()
    return clean(str(value))


def _huge_to_text(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python converts at most 4300 digits
        return hex(value)


def _to_json(value: object) -> str | None:
    try:
        text = json.dumps(value, ensure_ascii=False, default=_to_plain, skipkeys=True)
    except (RecursionError, ValueError):
        return None
    return text if len(text) <= MAX_NESTED_CHARACTERS else None


def _to_plain(value: object) -> object:
    """Return a JSON value for another type; a set becomes a sorted list."""
    return sorted(map(str, value)) if isinstance(value, set) else str(value)
