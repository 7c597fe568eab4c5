"""Chunks that pass a filter, in PostgreSQL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Session


class AllowedChunks(NamedTuple):
    """Numbers of the chunks that pass a filter, as the server writes an array, so that they are sent back unread."""

    total: int
    array: str
    """`{3,5,8}`"""

    @property
    def as_json(self) -> str:
        return f"[{self.array[1:-1]}]"

    def numbers(self) -> NDArray[np.int64]:
        """Return the numbers."""
        return np.array(self.array[1:-1].split(",") if self.total else [], dtype=np.int64)


def filter_chunks(db: Session, namespace: Namespace, where: Filter) -> AllowedChunks:
    """Return the chunks that pass a filter. A filter with labels starts at the index of labels."""
    values = {"namespace": namespace, **bind(where)}
    name = "filter_chunks"
    if where.metadata:
        name = "filter_chunks_by_label"
        values["is_plain"] = not (where.documents or where.source_prefix)
    ((total, array),) = db.run(name, values)
    return AllowedChunks(total, array)
