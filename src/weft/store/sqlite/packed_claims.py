"""
Derived claims of a SQLite file: each relation has a packed list of the chunks that claim it.

Nearly all derived relations have one such chunk. So a list in the row of the relation takes four bytes, where a row of
`claim` with its index takes sixty. The claims of a chunk are not stored: they follow from its text and its mentions.

A list has at most `MAX_LISTED_CHUNKS`, those with the smallest ids; of the others it has the number. So writing and
reading a relation of two popular names takes no longer than of two others.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any, TypeAlias

from weft.extract.mentions import MAX_SUPPORT, derived_weight
from weft.store.relational.graph_write import batched
from weft.store.relational.session import Namespace, Session
from weft.store.shared.merging import tie_rank
from weft.store.sqlite.chunk_lists import ChunkList, pack_chunks, unpack_chunks
from weft.text.ids import entity_id

MAX_LISTED_CHUNKS = 32
"""A few more than `describe` returns, so that some may be deleted."""

MAX_KNOWN_IDS = 200_000
"""Ids of chunks that a transaction keeps in memory, about 40 MB."""

PLACE_BITS = 23
"""
Bits of a tie-breaker of 32 bits that the file stores. SQLite stores such a number in three bytes.

Of 5,000 relations of the same weight, two have the same bits at a given limit once in 1,700 cases. Their order is then
that of their numbers in the file.
"""


Relation: TypeAlias = tuple[str, str, str]
"""Source, target and type."""


class PackedClaims:
    """Collects the derived claims that a transaction adds and removes, and writes their relations."""

    def __init__(self, db: Session, *, namespace: Namespace, name: str) -> None:
        self._db = db
        self._namespace = namespace
        self._name = name
        self._added: dict[Relation, list[int]] = defaultdict(list)
        self._removed: dict[Relation, list[int]] = defaultdict(list)
        self._places: dict[str, int] = {}
        """Stored tie-breakers of entities, by key."""
        self._ids: dict[int, str] = {}
        """Ids of chunks in long lists. A chunk is in the lists of many relations."""

    def replace(self, chunk: int, *, old: Iterable[Relation], new: Iterable[Relation]) -> set[Relation]:
        """Replace the derived relations of a chunk; return those that change."""
        before, after = set(old), set(new)
        for pair in after - before:
            self._added[pair].append(chunk)
        for pair in before - after:
            self._removed[pair].append(chunk)
        return before ^ after

    def write(self, pairs: Collection[Relation]) -> None:
        """Update relations from the collected claims and the stated ones."""
        for part in batched(sorted(pairs)):
            deleted: list[dict[str, Any]] = []
            written: list[dict[str, Any]] = []
            values = {"namespace": self._namespace, "pairs": json.dumps(part, ensure_ascii=False)}
            rows = self._db.run("packed_support", values)
            for source, target, type, source_key, target_key, packed, stated, weight in rows:  # hot loop
                claimed = self._change((source_key, target_key, type), packed or b"")
                support = claimed.size
                if stated != "[]":
                    support += len(set(json.loads(stated)).difference(claimed.numbers))
                ends: dict[str, Any] = {"source": source, "target": target, "type": type}
                if not support:
                    deleted.append(ends)
                    continue
                support = min(support, MAX_SUPPORT)
                if weight is None:
                    weight = _derived_weight(type, support)
                ends["weight"], ends["support"] = weight, support
                ends["places"] = self._place(source_key) << PLACE_BITS | self._place(target_key)
                ends["chunks"] = pack_chunks(claimed.numbers, size=claimed.size)
                written.append(ends)
            self._db.run_many("delete_relation", deleted)
            self._db.run_many("write_packed_relation", written)
        self._added.clear()
        self._removed.clear()
        self._ids.clear()

    def _place(self, key: str) -> int:
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = tie_place(tie_rank(entity_id(self._name, key)))
        return place

    def _change(self, pair: Relation, packed: bytes) -> ChunkList:
        """Return the list of a relation with the collected changes."""
        added = self._added.get(pair, [])
        removed = self._removed.get(pair, [])
        if not (packed or removed or len(added) > MAX_LISTED_CHUNKS):  # hot: nearly all relations are new
            return ChunkList(added, len(added))
        old = unpack_chunks(packed)
        numbers, unlisted = set(old.numbers), old.size - len(old.numbers)
        unlisted -= sum(chunk not in numbers for chunk in removed) if unlisted else 0
        numbers.difference_update(removed)
        numbers.update(added)  # after the removal: a new chunk may have the number of a deleted one
        if len(numbers) > MAX_LISTED_CHUNKS:
            listed = self._first(numbers)
            unlisted += len(numbers) - len(listed)
            return ChunkList(listed, len(listed) + unlisted)
        return ChunkList(list(numbers), len(numbers) + unlisted)

    def _first(self, chunks: Collection[int]) -> list[int]:
        """Return the chunks with the smallest ids."""
        if len(self._ids) > MAX_KNOWN_IDS:
            self._ids.clear()
        if unknown := [chunk for chunk in chunks if chunk not in self._ids]:
            values = {"namespace": self._namespace, "numbers": json.dumps(unknown)}
            self._ids.update(self._db.run("chunk_ids", values))
        found = sorted((self._ids[chunk], chunk) for chunk in chunks if chunk in self._ids)
        return [number for _, number in found[:MAX_LISTED_CHUNKS]]


@lru_cache(maxsize=2 * MAX_SUPPORT)
def _derived_weight(type: str, support: int) -> float:
    return derived_weight(type, support=support)


def tie_place(rank: int) -> int:
    """Return the stored part of a tie-breaker."""
    return rank >> (32 - PLACE_BITS)


def pair_place(name: str, source: str, target: str) -> int:
    """Return the stored tie-breaker of a relation between two keys: that of the source, then that of the target."""
    first, second = (tie_place(tie_rank(entity_id(name, key))) for key in (source, target))
    return first << PLACE_BITS | second
