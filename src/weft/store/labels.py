"""What documents are filtered by: the scalars of their metadata, as text."""

from __future__ import annotations

from weft.records import Filter, Metadata, Scalar
from weft.text.attributes import each


def label_text(value: Scalar) -> str:
    """Return a scalar as it is compared: `True` is `true`, `None` is `null`, numbers as Python writes them."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return str(value)


def labels(metadata: Metadata) -> set[tuple[str, str]]:
    """Return every key with its value; a list gives one pair per element."""
    return {(key, label_text(item)) for key, value in metadata.items() for item in each(value)}


def wanted_labels(where: Filter) -> list[tuple[str, str]]:
    """Return the pairs a document must have to pass the filter."""
    return [(key, label_text(value)) for key, value in where.metadata]
