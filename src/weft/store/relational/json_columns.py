"""JSON columns: values that cannot be parsed raise `StoreCorrupt`."""

from __future__ import annotations

import json
from typing import Any

from weft.errors import StoreCorrupt


def read_object(text: str, *, what: str) -> dict[str, Any]:
    """Return the object in a column; `what` names it in the error. Raises `StoreCorrupt`."""
    if text == "{}":
        return {}
    return _read(text, dict, what=what)  # type: ignore[no-any-return]


def read_list(text: str, *, what: str) -> list[Any]:
    """Return the list in a column; `what` names it in the error. Raises `StoreCorrupt`."""
    return _read(text, list, what=what)  # type: ignore[no-any-return]


def unreadable(what: str) -> StoreCorrupt:
    """Return the error for a value that cannot be read."""
    return StoreCorrupt(f"cannot read {what}", hint="run weft check to list the damage, then weft repair")


def _read(text: str, kind: type, *, what: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable(what) from error
    if not isinstance(value, kind):
        raise unreadable(what)
    return value
