"""
Documents that several members have: the same source with the same content. The first member shows them.

One namespace has such a document once, so its chunks must not count twice in the statistics either. All documents of
the members are listed once, and again for a member that has changed. Only the documents found twice are read.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.extract.links.page_keys import page_key
from weft.records import IndexedChunk
from weft.store.base import Store
from weft.store.federated.members import EntityCount, Hidden, Member

MAX_STATES = 16
"""States of combinations of members that are kept, the least recently used are evicted."""

MAX_READ_DOCUMENTS = 200
"""Documents found twice that are read at once."""

MAX_READ_CHUNKS = 1000
"""Chunks whose mentions are read at once."""

_State: TypeAlias = tuple[tuple[str, int], ...]
"""Label and generation of each member."""


class Duplicates:
    """
    Cache of the documents that several members have. Threads may share it.

    A label must stand for the same namespace of the same database as long as the cache lives.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: dict[str, tuple[int, NDArray[np.int64]]] = {}
        """Generation and sorted hashes of all documents, by label."""
        self._found: OrderedDict[_State, tuple[Hidden, ...]] = OrderedDict()

    def hide(self, members: Sequence[Member], generations: Sequence[int]) -> tuple[Member, ...]:
        """Return the members in these generations, each without the documents of earlier ones."""
        state = tuple((member.label, generation) for member, generation in zip(members, generations, strict=True))
        with self._lock:
            hidden = self._found.get(state)
            if hidden is None:
                hidden = self._find(members, generations)
                self._found[state] = hidden
                while len(self._found) > MAX_STATES:
                    self._found.popitem(last=False)
            self._found.move_to_end(state)
        return tuple(replace(member, hidden=found) for member, found in zip(members, hidden, strict=True))

    def _find(self, members: Sequence[Member], generations: Sequence[int]) -> tuple[Hidden, ...]:
        each = [self._read_digests(*pair) for pair in zip(members, generations, strict=True)]
        every, counts = np.unique(np.concatenate(each), return_counts=True)
        repeated = set(every[counts > 1].tolist())
        if not repeated:
            return tuple(Hidden() for _ in members)
        shown: dict[tuple[str, str], int] = {}
        hidden = []
        for place, (member, digests) in enumerate(zip(members, each, strict=True)):
            mine: dict[str, tuple[str, int]] = {}
            rows = member.store.content_hashes() if repeated.intersection(digests.tolist()) else []
            for id, *content in rows:
                source, hash = content
                if _digest(source, hash) in repeated:
                    first = shown.setdefault((source, hash), place)
                    if first != place:
                        mine[id] = source, first
            hidden.append(_measure(member.store, mine) if mine else Hidden())
        return tuple(hidden)

    def _read_digests(self, member: Member, generation: int) -> NDArray[np.int64]:
        known = self._digests.get(member.label)
        if known is None or known[0] != generation:
            rows = member.store.content_hashes()
            digests = np.unique(np.fromiter((_digest(source, hash) for _, source, hash in rows), np.int64, len(rows)))
            known = self._digests[member.label] = generation, digests
        return known[1]


def _digest(source: str, content_hash: str) -> int:
    return hash((source, content_hash))  # equal in one process; equal digests are compared


def _measure(store: Store, documents: Mapping[str, tuple[str, int]]) -> Hidden:
    """Return the share of documents in the statistics of a store; `documents` are source and place by id."""
    ids, items = sorted(documents), list[IndexedChunk]()
    for start in range(0, len(ids), MAX_READ_DOCUMENTS):
        batches = store.batches(ids[start : start + MAX_READ_DOCUMENTS])
        items += (item for batch in batches for item in batch.chunks)
    vectors = [item.vector for item in items if item.vector is not None]
    chunks = [item.chunk.id for item in items]
    pages = {key: place for source, place in documents.values() if (key := page_key(source))}
    return Hidden(
        documents=frozenset(ids),
        chunks=frozenset(chunks),
        length=sum(sum(item.terms.values()) for item in items),
        terms=Counter(term for item in items for term in item.terms),
        vectors=np.stack(vectors) if vectors else Hidden().vectors,
        entities=_count_mentions(store, chunks),
        pages=pages,
    )


def _count_mentions(store: Store, chunks: Sequence[str]) -> dict[str, EntityCount]:
    counts: dict[str, EntityCount] = defaultdict(EntityCount)
    for start in range(0, len(chunks), MAX_READ_CHUNKS):
        for mention in store.graph.mentions_in(chunks[start : start + MAX_READ_CHUNKS]):
            before = counts[mention.entity_id]
            counts[mention.entity_id] = EntityCount(
                before.chunks + 1, before.mentions + mention.count, before.defining + bool(mention.about)
            )
    return dict(counts)
