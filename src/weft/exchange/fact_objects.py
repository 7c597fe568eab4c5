"""Facts as JSON objects, for `weft fact add --from` and recall scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timezone
from typing import Any

from weft.records import GivenFact, parse_time

TIME_FIELDS = ("valid_from", "valid_to")
FIELD_TYPES: dict[str, tuple[type, ...]] = {
    item.name: (float, int) if item.name == "confidence" else (str,) for item in fields(GivenFact)
}


def read_time(text: str) -> datetime:
    """Return an ISO 8601 date or time in UTC; without a zone it is UTC. Raises `ValueError`."""
    time = parse_time(text.strip())
    try:
        return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    except OverflowError as error:
        raise ValueError(f"time {text!r} is out of range: expected a year from 1 to 9999") from error


def read_statement(row: object) -> GivenFact:
    """Return the fact of a JSON object. Raises `ValueError`."""
    if not isinstance(row, dict) or not {"subject", "predicate"} <= row.keys() <= FIELD_TYPES.keys():
        raise ValueError(f"expected an object with subject, predicate and any of {', '.join(FIELD_TYPES)}")
    filled: Mapping[str, Any] = {name: value for name, value in row.items() if value is not None}
    if wrong := [name for name, value in filled.items() if not isinstance(value, FIELD_TYPES[name])]:
        raise ValueError(f"invalid {wrong[0]}: {filled[wrong[0]]!r}")
    values: dict[str, Any] = {
        name: read_time(value) if name in TIME_FIELDS else value for name, value in filled.items()
    }
    return GivenFact(**values)
