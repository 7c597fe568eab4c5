"""What a namespace spent on language models."""

from __future__ import annotations

from weft.records import Usage
from weft.store.base import Store


def spent(store: Store) -> tuple[int, Usage]:
    """Return the number of runs and their total usage."""
    runs = store.spending.runs()
    return len(runs), sum((run.usage for run in runs), Usage())
