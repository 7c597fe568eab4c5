"""
Buckets of a graph: where a mention, a claim and a relation of a namespace with several parts is.

Entities, nominations, edits and facts decide what a name is and need all documents, so they are in the home. The rows
below are many for each chunk. They are divided into as many buckets as the namespace has parts; bucket 2 of `wiki`
has the namespace value of part 2, `wiki␟2`. A row is in the bucket of the column by which most statements find it:

    table       column    value
    mention     entity    number of the entity
    relation    source    number of the entity
    claim       source    key; it may be the key of no entity

The bucket is the CRC-32 of this value as text, modulo the number of buckets. So all mentions and all outgoing
relations of a name are in one bucket, and in their final order; incoming relations are in any. Names of one entity may
be in several buckets. Numbers of rows are not used without a hash: writes draw them in regular steps.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from weft.store.postgres.part_names import part_of
from weft.store.relational.session import Row

ROW_COLUMNS: Mapping[str, str] = {
    "write_mention": "entity",
    "move_mention": "entity",
    "delete_mention": "entity",
    "write_relation": "source",
    "delete_relation": "source",
    "write_claim": "source",
    "delete_claim": "source",
}
"""Statements that write rows of buckets, with the column that tells the bucket."""

Result = TypeVar("Result")
Item = TypeVar("Item")


class BucketSession(Protocol):
    """Transaction over the home and the buckets of a namespace."""

    def run_at(self, at: str, name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a statement in the home or in a bucket; return its rows."""

    def stream_at(self, at: str, name: str, values: Mapping[str, Any]) -> Iterator[Row]:
        """Run a statement in the home or in a bucket; iterate over its rows."""

    def each(self, parts: Sequence[str], read: Callable[[BucketSession, str], Result]) -> list[Result]:
        """Return what `read` returns for each bucket, in their order; in a snapshot they are read at once."""

    def run_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once for each row, in the bucket of the row."""


def bucket_of(namespace: str, value: int | str, buckets: int) -> str:
    """Return the name of the bucket of an entity, by number, or of the source of claims, by key."""
    return part_of(namespace, str(value), buckets)


def by_bucket(namespace: str, items: Mapping[Item, int | str], buckets: int) -> dict[str, list[Item]]:
    """Return items by the bucket of the value under which each is given."""
    found = defaultdict[str, list[Item]](list)
    for item, value in items.items():
        found[bucket_of(namespace, value, buckets)].append(item)
    return dict(sorted(found.items()))


def read_all(db: BucketSession, buckets: Sequence[str], name: str, values: Mapping[str, Any]) -> list[Row]:
    """Run a statement in buckets; return all rows."""
    return [row for rows in db.each(buckets, lambda db, bucket: db.run_at(bucket, name, values)) for row in rows]


def to_json(values: Collection[Any]) -> str:
    """Return a list as JSON."""
    return json.dumps(list(values), ensure_ascii=False)


def batched(values: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of at most `size` values."""
    part: list[Item] = []
    for value in values:
        part.append(value)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
