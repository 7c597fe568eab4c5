"""Blocks of the keyword index of PostgreSQL (layout: `terms`): their changes, check and rebuild."""

from __future__ import annotations

import json
import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from weft.store.relational.session import Namespace, Row, Session

CHUNKS_PER_BLOCK = 4_096
"""Chunk numbers of a block. Numbers are shared with documents and entities: some 500 of them are chunks."""

REBUILT_CHUNKS = 2_000
"""Chunks whose postings a rebuild writes at once."""

MAX_FREQUENCY, MAX_LENGTH = 255, 65_535
"""Largest frequency and length that an entry can have."""

ENTRY = struct.Struct("<HBH")
"""Place in the block, frequency, length of the chunk in terms."""

ENTRY_TYPE = np.dtype([("place", "<u2"), ("frequency", "u1"), ("length", "<u2")])

Block = tuple[str, int]
"""Term and number of a block."""


class BinarySession(Session, Protocol):
    """Transaction that can send bytes as they are."""

    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]: ...


class BlockChanges:
    """Collects changes of blocks and document frequencies and applies them once."""

    def __init__(self, db: BinarySession, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._counts: Counter[str] = Counter()
        self._removed: dict[Block, set[int]] = defaultdict(set)
        self._added: dict[Block, dict[int, bytes]] = defaultdict(dict)

    def remove(self, number: int, terms: Iterable[str]) -> None:
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        for term in terms:
            self._counts[term] -= 1
            self._removed[term, block].add(place)
            self._added[term, block].pop(place, None)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        size = min(length, MAX_LENGTH)
        for term, frequency in terms.items():
            self._counts[term] += 1
            self._added[term, block][place] = ENTRY.pack(place, min(frequency, MAX_FREQUENCY), size)

    def blocks(self) -> dict[Block, bytes]:
        """Return the blocks of the added chunks alone."""
        return {at: b"".join(added[place] for place in sorted(added)) for at, added in self._added.items() if added}

    def counts(self) -> dict[str, int]:
        """Return the changes of document frequencies."""
        return {term: count for term, count in sorted(self._counts.items()) if count}

    def changed(self, at: Block, entries: bytes) -> bytes:
        """Return a stored block after the changes."""
        return _without(entries, self._removed.get(at, ())) + b"".join(self._added.get(at, {}).values())

    def apply(self) -> None:
        key = {"namespace": self._namespace}
        counts = self.counts()
        if counts:
            rows = [{"term": term, "chunks": count} for term, count in counts.items()]
            self._db.run("count_term", {**key, "counts": json.dumps(rows, ensure_ascii=False)})
        if fewer := [term for term, count in counts.items() if count < 0]:
            self._db.run("drop_terms", {**key, "terms": fewer})
        added = self.blocks()
        appended = sorted(added.keys() - self._removed.keys())
        if appended:
            values = {**_columns(appended), "entries": [added[at] for at in appended]}
            self._db.run("append_postings", {**key, **values})
        self._rewrite()

    def _rewrite(self) -> None:
        """Write the blocks from which chunks were removed; delete those that became empty."""
        wanted = sorted(self._removed)
        stored = read_blocks(self._db, self._namespace, wanted)
        written, deleted = [], []
        for at in wanted:
            entries = self.changed(at, stored.get(at, b""))
            row = {"namespace": self._namespace, "term": at[0], "block": at[1]}
            if entries:
                written.append({**row, "entries": entries})
            elif at in stored:
                deleted.append(row)
        self._db.run_many("write_posting", written)
        self._db.run_many("delete_posting", deleted)


def are_sound(db: BinarySession, namespace: Namespace, *, pending: BlockChanges) -> bool:
    """Return True if the postings, after the `pending` changes, match the terms of the chunks."""
    changes = BlockChanges(db, namespace=namespace)
    for number, text, length in db.stream("all_terms", {"namespace": namespace}):
        changes.add(number, json.loads(text), length=length)
    rows = db.run_binary("all_postings", {"namespace": namespace})
    stored = {(term, block): entries for term, block, entries in rows}
    blocks = {at: _ordered(pending.changed(at, stored.get(at, b""))) for at in stored.keys() | pending.blocks().keys()}
    counts: Counter[str] = Counter(dict(db.run("all_term_counts", {"namespace": namespace})))
    counts.update(pending.counts())
    return {at: entries for at, entries in blocks.items() if entries} == changes.blocks() and {
        term: count for term, count in counts.items() if count
    } == changes.counts()


def rebuild(db: BinarySession, namespace: Namespace) -> int:
    """Build the keyword index again from the terms of the chunks; return the number of chunks."""
    rows = db.run("all_terms", {"namespace": namespace})
    for name in ("delete_postings", "delete_terms", "forget_pending_terms"):
        db.run(name, {"namespace": namespace})
    remaining = iter(rows)
    while some := list(islice(remaining, REBUILT_CHUNKS)):
        changes = BlockChanges(db, namespace=namespace)
        for number, terms, length in some:
            changes.add(number, json.loads(terms), length=length)
        changes.apply()
    return len(rows)


def read_blocks(db: BinarySession, namespace: Namespace, wanted: Sequence[Block]) -> dict[Block, bytes]:
    """Return the stored blocks among the wanted ones."""
    rows = db.run_binary("postings_at", {"namespace": namespace, **_columns(wanted)}) if wanted else []
    return {(term, block): entries for term, block, entries in rows}


def _columns(blocks: Sequence[Block]) -> dict[str, list[Any]]:
    return {"terms": [term for term, _ in blocks], "blocks": [block for _, block in blocks]}


def _without(entries: bytes, places: Collection[int]) -> bytes:
    """Return a block without some places."""
    if not places:
        return entries
    read = np.frombuffer(entries, dtype=ENTRY_TYPE)
    return read[~np.isin(read["place"], list(places))].tobytes()


def _ordered(entries: bytes) -> bytes:
    """Return a block in the order of places."""
    return np.sort(np.frombuffer(entries, dtype=ENTRY_TYPE), order="place").tobytes()
