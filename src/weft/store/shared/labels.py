"""What documents are filtered by: the scalars of their metadata, as text; `1` and `1.0` are one number."""

from __future__ import annotations

import re

from weft.extract.attributes import each
from weft.records import Filter, Metadata, Scalar

_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]{0,299}))(\.0)?")


def label_text(value: Scalar) -> str:
    """Return a scalar as it is compared: `True` is `true`, `None` is `null`, numbers as Python writes them."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return str(value)


def labels(metadata: Metadata) -> set[tuple[str, str]]:
    """Return every key with its value; a list gives one pair per element."""
    return {(key, label_text(item)) for key, value in metadata.items() for item in each(value)}


def wanted_labels(where: Filter) -> list[tuple[str, str, str]]:
    """Return the keys a document must have to pass the filter, each with the value and how it may be written too."""
    return [(key, label_text(value), _written_otherwise(value)) for key, value in where.metadata]


def passes(metadata: Metadata, where: Filter) -> bool:
    """Tell whether metadata has what a filter wants."""
    mine = labels(metadata)
    return all((key, value) in mine or (key, other) in mine for key, value, other in wanted_labels(where))


def _written_otherwise(value: Scalar) -> str:
    """Return a whole number with its point where it has none and without where it has one, else the same text."""
    text = label_text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or not (match := _WHOLE.fullmatch(text)):
        return text
    return match[1] if match[2] else str(float(text))
