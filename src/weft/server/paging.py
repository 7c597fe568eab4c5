"""Long lists over HTTP: a bounded page, and where the next one begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Query

Item = TypeVar("Item")

MAX_ITEMS = 1000
"""No list in an answer is longer."""

Limit = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="At most so many.")]
After = Annotated[str, Query(pattern="^[0-9]{0,9}$", description="The `next` of the page before.")]


def cut(items: Sequence[Item], *, after: str, limit: int) -> tuple[Sequence[Item], str | None]:
    """Return the items of one page, and the `after` of the page behind it, None where there is none."""
    start = int(after or 0)
    end = start + limit
    return items[start:end], str(end) if len(items) > end else None
