"""
Chunks that pass a filter, in PostgreSQL.

The chunks of recent filters are kept, and used as long as the namespace has not changed.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter
from weft.store.relational.filters import bind
from weft.store.relational.session import NamespaceRow, Session

MAX_KEPT_FILTERS = 16
"""Filters whose chunks a process keeps."""

MAX_KEPT_CHUNKS = 100_000
"""Chunks of a filter that is kept, about 1.5 MB."""


class AllowedChunks:
    """Chunks that pass a filter, as the server writes an array of their numbers, so that they are sent back unread."""

    def __init__(self, total: int, array: str) -> None:
        self.total = total
        self.array = array
        """`{3,8,5}`"""

    @cached_property
    def ascending(self) -> NDArray[np.int64]:
        """The numbers, in order."""
        return np.sort(np.fromstring(self.array[1:-1], dtype=np.int64, sep=","))


KeptFilters = dict[Hashable, AllowedChunks]
"""Chunks by the state of a namespace and the values of the filter; the oldest first."""


class FilterSession(Session, Protocol):
    """Transaction that keeps the chunks of filters."""

    kept_filters: KeptFilters
    is_snapshot: bool


def filter_chunks(db: FilterSession, found: NamespaceRow, where: Filter) -> AllowedChunks:
    """Return the chunks that pass a filter. A filter with labels starts at the index of labels."""
    values = {"namespace": found.key, **bind(where)}
    name = "filter_chunks"
    if where.metadata and not (where.metadata_if_present or where.metadata_excluded):
        name = "filter_chunks_by_label"
        values["is_plain"] = not (where.documents or where.source_prefix)
    key = (found.number, found.generation, *sorted(values.items())) if db.is_snapshot else None
    if kept := db.kept_filters.get(key):
        return kept
    ((total, array),) = db.run(name, values)
    allowed = AllowedChunks(total, array)
    if key and total <= MAX_KEPT_CHUNKS:
        db.kept_filters[key] = allowed
        for oldest in list(db.kept_filters)[:-MAX_KEPT_FILTERS]:
            db.kept_filters.pop(oldest, None)
    return allowed
