"""Long lists in bounded pages, each with the cursor of the next one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from weft.errors import InputError

PAGE_CHARACTERS = 16_000
"""How much JSON one answer may hold, about 4,000 tokens."""

Item = TypeVar("Item")


def read_cursor(cursor: str) -> int:
    """Return how many items a cursor leaves behind. Raises `InputError`."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise InputError(f"cursor is {cursor[:80]!r}", hint="cursor: as the answer before gave it, or none at all")
    return int(cursor)


def cut_page(
    items: Iterable[Item], *, cursor: str = "", characters: int = PAGE_CHARACTERS, limit: int = 1000
) -> tuple[list[Item], str]:
    """
    Return the items after a cursor that fit into one answer, at least one, and the cursor of those that do not.

    An empty cursor says that nothing is left.
    """
    start, spent = read_cursor(cursor), 0
    page: list[Item] = []
    for place, item in enumerate(items):
        if place < start:
            continue
        spent += measure(item)
        if page and (spent > characters or len(page) == limit):
            return page, str(place)
        page.append(item)
    return page, ""


def measure(value: Any) -> int:
    """Return how many characters a value has as JSON."""
    return len(json.dumps(value, ensure_ascii=False, default=str))


def shorten(text: str, *, size: int) -> str:
    """Return the beginning of a text, with a mark where something is left out."""
    return text if len(text) <= size else text[: size - 2].rstrip() + " …"
