"""A fact as one object of JSON, as `weft fact add --from` and scenarios of facts have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timezone
from typing import Any

from weft.records import GivenFact

TIMES = ("valid_from", "valid_to")
KINDS: dict[str, tuple[type, ...]] = {
    item.name: (float, int) if item.name == "confidence" else (str,) for item in fields(GivenFact)
}


def read_time(text: str) -> datetime:
    """Return a date or time of ISO 8601 in UTC, which it is where it does not say. Raises `ValueError`."""
    time = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace("z", "+00:00"))
    try:
        return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    except OverflowError as error:
        raise ValueError(f"{text!r} is beyond what calendars hold") from error


def read_statement(row: object) -> GivenFact:
    """Return the fact that an object states. Raises `ValueError`, which says what is wrong."""
    if not isinstance(row, dict) or not {"subject", "predicate"} <= row.keys() <= KINDS.keys():
        raise ValueError(f"expected an object with subject, predicate and any of {', '.join(KINDS)}")
    filled: Mapping[str, Any] = {name: value for name, value in row.items() if value is not None}
    if wrong := [name for name, value in filled.items() if not isinstance(value, KINDS[name])]:
        raise ValueError(f"{wrong[0]} is {filled[wrong[0]]!r}")
    given: dict[str, Any] = {name: read_time(value) if name in TIMES else value for name, value in filled.items()}
    return GivenFact(**given)
