"""Lookup of record fields by name, independent of case and separators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from weft.exchange.clean import first_keyword, to_name

PASSAGE_FIELDS = (
    *("document", "passage", "chunk", "documents", "passages", "chunks"),
    *("documentid", "docid", "passageid", "chunkid", "sourceids", "sourceid", "_id"),
)
TYPE_FIELDS = ("predicate", "relation", "type", "rel", "label", "relationtype", "relationship", "edgelabel")

_SEPARATORS = re.compile(r"[\W_]+")
_GEPHI_DIRECTIONS = ("Directed", "Undirected")
"""Values of the column `Type` in Gephi's edge tables, which also have a column `Id` or `Label`."""


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """Return a field name in lower case without separators: `subjecttype` for `subjectType` and `Subject Type`."""
    # In known data sets `_id` is the document, and `id` is usually the row number.
    return "_id" if name.strip() == "_id" else _SEPARATORS.sub("", name).casefold()


def fold_fields(record: Mapping[Any, object]) -> dict[str, object]:
    """Return the fields that are not empty, by folded name; the first of two with the same name."""
    fields: dict[str, object] = {}
    for name, value in record.items():
        if value is not None and not (isinstance(value, str) and not value.strip()):
            fields.setdefault(fold_name(str(name)), value)
    return fields


def find_field(fields: Mapping[str, object], *names: str) -> object:
    """Return the value of the first name that is present, or None."""
    return next((fields[name] for name in names if name in fields), None)


def find_relation_type(fields: Mapping[str, object], *names: str) -> str:
    """Return the type of a relation from one of the fields, else its first keyword, else an empty text."""
    is_gephi = fields.get("type") in _GEPHI_DIRECTIONS and not fields.keys().isdisjoint(("id", "label"))
    usable = (name for name in names or TYPE_FIELDS if name != "type" or not is_gephi)
    named = next(filter(None, (to_name(fields.get(name)) for name in usable)), "")
    return named or first_keyword(fields.get("keywords"))


def find_title(fields: Mapping[str, object]) -> str:
    """Return the title of a passage, else its file path, else an empty text."""
    return to_name(find_field(fields, "title", "filepath"))
