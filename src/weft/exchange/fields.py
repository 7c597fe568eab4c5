"""The fields of a record, whatever case and joints their names are written with."""

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

_JOINTS = re.compile(r"[\W_]+")
_DIRECTIONS = ("Directed", "Undirected")
"""What Gephi writes into the column `Type` of its edges, beside those called `Id` and `Label`."""


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """Return a field's name in small letters without joints: `subjectType`, `Subject Type` are `subjecttype`."""
    # `_id` is the document in the sets we know, `id` mostly the number of the row.
    return "_id" if name.strip() == "_id" else _JOINTS.sub("", name).casefold()


def fold_fields(record: Mapping[Any, object]) -> dict[str, object]:
    """Return the fields that hold anything, under their folded names; of two with one name the first."""
    fields: dict[str, object] = {}
    for name, value in record.items():
        if value is not None and not (isinstance(value, str) and not value.strip()):
            fields.setdefault(fold_name(str(name)), value)
    return fields


def find_field(fields: Mapping[str, object], *names: str) -> object:
    """Return the value of the first of the names that is there, or None."""
    return next((fields[name] for name in names if name in fields), None)


def find_relation_type(fields: Mapping[str, object], *names: str) -> str:
    """Return what a relation calls itself in one of the fields, or else its first keyword, or nothing."""
    is_of_gephi = fields.get("type") in _DIRECTIONS and not fields.keys().isdisjoint(("id", "label"))
    usable = (name for name in names or TYPE_FIELDS if name != "type" or not is_of_gephi)
    named = next(filter(None, (to_name(fields.get(name)) for name in usable)), "")
    return named or first_keyword(fields.get("keywords"))


def find_title(fields: Mapping[str, object]) -> str:
    """Return what a passage calls itself, or where it is from, or nothing."""
    return to_name(find_field(fields, "title", "filepath"))
