"""Labels: the scalar values of a document's metadata as text, which filters compare. `1` and `1.0` are equal."""

from __future__ import annotations

import re
from typing import NamedTuple

from weft.records import Filter, Metadata, Scalar, to_values

_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]{0,299}))(\.0)?")


REQUIRED, REQUIRED_IF_PRESENT, EXCLUDED = "required", "if present", "excluded"
"""Rules of wanted labels: a document has it; has it or lacks its key; does not have it."""


class WantedLabel(NamedTuple):
    """A key and value that a filter wants. A tuple: statements receive it as a JSON list."""

    key: str
    value: str
    alternative: str
    """The other spelling of a whole number (`1.0` for `1`), else the value itself."""
    rule: str = REQUIRED


def label_text(value: Scalar) -> str:
    """Return a scalar as text: `True` is `true`, `None` is `null`, numbers are written as in Python."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return str(value)


def labels(metadata: Metadata) -> set[tuple[str, str]]:
    """Return every key with its value; a list gives one pair per element."""
    return {(key, label_text(item)) for key, value in metadata.items() for item in to_values(value)}


def wanted_labels(where: Filter) -> list[WantedLabel]:
    """Return the labels that a document needs to pass a filter."""
    wanted = {
        REQUIRED: where.metadata,
        REQUIRED_IF_PRESENT: where.metadata_if_present,
        EXCLUDED: where.metadata_excluded,
    }
    return [
        WantedLabel(key, label_text(value), _other_spelling(value), rule)
        for rule, pairs in wanted.items()
        for key, value in pairs
    ]


def _other_spelling(value: Scalar) -> str:
    """Return a whole number with `.0` added or removed; other values unchanged."""
    text = label_text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or not (match := _WHOLE.fullmatch(text)):
        return text
    return match[1] if match[2] else str(float(text))
