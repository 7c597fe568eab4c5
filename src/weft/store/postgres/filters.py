"""Chunks that pass a filter, in PostgreSQL."""

from __future__ import annotations

from weft.records import Filter
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Session


def filter_chunks(db: Session, namespace: Namespace, where: Filter) -> list[int]:
    """Return the numbers of the chunks that pass a filter. A filter with labels starts at the index of labels."""
    values = {"namespace": namespace, **bind(where)}
    if not where.metadata:
        return [number for (number,) in db.run("filter_chunks", values)]
    is_plain = not (where.documents or where.source_prefix)
    return [number for (number,) in db.run("filter_chunks_by_label", {**values, "is_plain": is_plain})]
