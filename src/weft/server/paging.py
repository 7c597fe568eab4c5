"""Paging of lists: page size, and the position of the next page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Query

Item = TypeVar("Item")

MAX_ITEMS = 1000
"""Maximum length of a list in a response."""

Limit = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="Maximum number of items.")]
After = Annotated[str, Query(pattern="^[0-9]{0,9}$", description="`next` of the previous page.")]


def cut(items: Sequence[Item], *, after: str, limit: int) -> tuple[Sequence[Item], str | None]:
    """Return one page of items, and the `after` of the next page; None on the last page."""
    start = int(after or 0)
    end = start + limit
    return items[start:end], str(end) if len(items) > end else None
