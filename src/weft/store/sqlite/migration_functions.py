"""SQL functions that migrations call, for conversions that SQLite does not have."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np

from weft.store.shared.merging import tie_rank
from weft.store.shared.twelve_bits import pack_twelve


def tie_place(rank):
    return rank >> 9


from weft.store.sqlite.postings import pack_frequency, pack_length


def add_migration_functions(db: apsw.Connection) -> None:
    """Register the functions on a connection."""
    db.create_scalar_function("to_half", _to_half, 1, deterministic=True)
    db.create_scalar_function("to_twelve", _to_twelve, 1, deterministic=True)
    db.create_scalar_function("tie_place", _tie_place, 1, deterministic=True)
    db.create_aggregate_function("merge_blocks", _MergedBlocks, 2)
    db.create_aggregate_function("merge_lengths", _MergedLengths, 2)


class _MergedBlocks:
    """A block of postings from up to 16 smaller ones, which have four bytes per chunk: place, frequency, length."""

    def __init__(self) -> None:
        self._entries: dict[int, bytes] = {}

    def step(self, *values: Any) -> None:
        number, block = values
        for i in range(0, len(block) - 3, 4):
            place = 256 * number + block[i]
            self._entries[place] = pack_frequency(place, block[i + 1])

    def final(self) -> bytes:
        return b"".join(entries for _, entries in sorted(self._entries.items()))


class _MergedLengths(_MergedBlocks):
    """The lengths of the chunks of a block, by place."""

    def step(self, *values: Any) -> None:
        place, length = values
        self._entries[place] = pack_length(place, length)


def _to_half(*values: Any) -> Any:
    """Return a float32 vector as float16. A damaged one stays as it is, for `weft check` to report."""
    (vector,) = values
    return vector if len(vector) % 4 else np.frombuffer(vector, "<f4").astype("<f2").tobytes()


def _to_twelve(*values: Any) -> Any:
    """Return a float16 vector with 12 bits per component; a damaged one stays as it is."""
    (vector,) = values
    return vector if len(vector) % 2 else pack_twelve([np.frombuffer(vector, "<f2").astype(np.float32)])[0]


def _tie_place(*values: Any) -> int:
    """Return the stored part of the tie-breaker of an entity; 0 for a damaged id, which `weft check` reports."""
    (id,) = values
    try:
        return tie_place(tie_rank(id))
    except ValueError:
        return 0
