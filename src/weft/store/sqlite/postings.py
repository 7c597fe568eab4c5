"""
Which chunks hold a term, packed: blocks of 256 consecutive chunk numbers, four bytes per chunk.

FTS5 ranks by the statistics of its whole table, so one namespace would move another's scores, and its tables
take seconds where these take milliseconds: docs/decisions/0003-keyword-index.md has the figures.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from weft.store.sqlite.statements import one, run

BLOCK = 256
ENTRY = struct.Struct("<BBH")
"""Place in the block, frequency (at most 255), length of the chunk in terms (at most 65,535)."""

COMMON = 64
"""Blocks up to which terms are told apart by how rare they are."""

_DTYPE = np.dtype([("place", "u1"), ("frequency", "u1"), ("length", "<u2")])


class TermChanges:
    """Collects what a transaction takes out of the postings and puts in, and applies it once."""

    def __init__(self) -> None:
        self._gone: dict[tuple[str, int], set[int]] = defaultdict(set)
        self._new: dict[tuple[str, int], dict[int, bytes]] = defaultdict(dict)

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Take a chunk out of the postings of `terms`."""
        block, place = divmod(number, BLOCK)
        for term in terms:
            self._gone[term, block].add(place)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Put a chunk into the postings of `terms`."""
        block, place = divmod(number, BLOCK)
        for term, frequency in terms.items():
            self._new[term, block][place] = ENTRY.pack(place, min(frequency, 255), min(length, 65_535))

    def blocks(self) -> dict[tuple[str, int], bytes]:
        """Return the blocks that what was added makes on its own, by term and block number."""
        return {key: merge_entries(b"", gone=None, new=new) for key, new in self._new.items()}

    def apply(self, db: apsw.Connection, *, namespace: int) -> None:
        """Write the changed blocks; an emptied one is deleted."""
        for term, block in sorted(self._gone.keys() | self._new.keys()):
            key = {"namespace": namespace, "term": term, "block": block}
            old = one(db, "read_posting", key) or b""
            entries = merge_entries(old, gone=self._gone.get((term, block)), new=self._new.get((term, block), {}))
            if entries:
                run(db, "write_posting", {**key, "entries": entries})
            elif old:
                run(db, "delete_posting", key)


def merge_entries(old: bytes, *, gone: set[int] | None, new: Mapping[int, bytes]) -> bytes:
    """Return a block without the places in `gone` and with those in `new`, in order of place."""
    if not gone and new and (not old or min(new) > old[-ENTRY.size]):
        return old + b"".join(new[place] for place in sorted(new))
    kept = {old[i]: old[i : i + ENTRY.size] for i in range(0, len(old), ENTRY.size)}
    for place in gone or ():
        kept.pop(place, None)
    kept |= new
    return b"".join(kept[place] for place in sorted(kept))


def read_term(
    db: apsw.Connection, *, namespace: int, term: str
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of the chunks that hold `term`, its frequency in each, and their lengths."""
    return _unpack(run(db, "term_postings", {"namespace": namespace, "term": term}))


def find_holders(db: apsw.Connection, *, namespace: int, groups: Sequence[Collection[str]]) -> NDArray[np.int64]:
    """Return the numbers of the chunks that hold a term of every group; the rarest decides what is read."""

    def rarity(group: Collection[str]) -> int:
        values = [{"namespace": namespace, "term": term, "limit": COMMON} for term in group]
        return sum(one(db, "count_blocks", value) for value in values)

    found: NDArray[np.int64] | None = None
    for group in sorted(filter(None, groups), key=rarity):
        held = []
        for term in group:
            key = {"namespace": namespace, "term": term}
            if found is None:
                held.append(_unpack(run(db, "term_postings", key))[0])
            else:
                blocks = json.dumps(np.unique(found // BLOCK).tolist())
                held.append(_unpack(run(db, "term_blocks", {**key, "blocks": blocks}))[0])
        numbers = np.unique(np.concatenate(held))
        found = numbers if found is None else np.intersect1d(found, numbers, assume_unique=True)
        if not len(found):
            break
    return np.zeros(0, np.int64) if found is None else found


def _unpack(
    rows: Sequence[tuple[int, bytes]],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return number, frequency and length of each entry of blocks."""
    entries = np.frombuffer(b"".join(row[1] for row in rows), dtype=_DTYPE)
    blocks = np.repeat([row[0] for row in rows], [len(row[1]) // ENTRY.size for row in rows]).astype(np.int64)
    return (
        blocks * BLOCK + entries["place"],
        entries["frequency"].astype(np.float64),
        entries["length"].astype(np.float64),
    )
