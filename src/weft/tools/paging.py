"""Pages of long lists, each with the cursor of the next page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from weft.errors import InputError

PAGE_CHARACTERS = 16_000
"""Maximum size of the JSON of one answer, about 4,000 tokens."""

Item = TypeVar("Item")


def read_cursor(cursor: str) -> int:
    """Return the number of items before a cursor. Raises `InputError`."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise InputError(f"invalid cursor {cursor[:80]!r}", hint="pass the cursor of the previous answer, or omit it")
    return int(cursor)


def cut_page(
    items: Iterable[Item], *, cursor: str = "", characters: int = PAGE_CHARACTERS, limit: int = 1000
) -> tuple[list[Item], str]:
    """
    Return the items after a cursor that fit into one answer, at least one, and the cursor of the next page.

    The last page has an empty cursor.
    """
    start, size = read_cursor(cursor), 0
    page: list[Item] = []
    for position, item in enumerate(items):
        if position < start:
            continue
        size += measure(item)
        if page and (size > characters or len(page) == limit):
            return page, str(position)
        page.append(item)
    return page, ""


def measure(value: Any) -> int:
    """Return the number of characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, default=str))


def shorten(text: str, *, size: int) -> str:
    """Return the beginning of a text, with an ellipsis if it is cut."""
    return text if len(text) <= size else text[: size - 2].rstrip() + " …"
