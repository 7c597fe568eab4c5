"""
Changes of counters and postings that writes append (deltas), and their addition to the tables they belong to (folding).

    table           a row is                       readers add it to
    write_delta     one write, or a part of it     counts of `namespace`; blocks of `posting` and counts of `term`
    mention_delta   a name in one write            counts of `entity`

A write appends rows of its own, so it changes no counter that another writer changes too. The postings of new chunks
are not stored twice: `write_delta` has the numbers of the chunks, whose rows have the terms. The transaction that finds
more than a bound of them folds all, while it has its turn in the namespace.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from weft.store.postgres.blocks import BinarySession, BlockChanges
from weft.store.relational.session import Namespace, Session

MAX_PENDING_ROWS = 128
"""Rows of `write_delta` up to which none are folded: some 64 writes."""

MAX_PENDING_CHUNKS = 500
"""Chunks up to which none are folded; the terms of each are read by every question until then."""


MAX_PENDING_CHUNKS_AFTER_LOAD = 50
"""Chunks that may stay pending at the end of a run of writes."""


class Pending(NamedTuple):
    """Deltas of a namespace that are not folded."""

    rows: int = 0
    chunks: int = 0
    """Chunks whose terms changed."""

    @property
    def is_due(self) -> bool:
        """True if there are so many that they should be folded."""
        return self.rows > MAX_PENDING_ROWS or self.chunks > MAX_PENDING_CHUNKS


class TermDeltas:
    """Collects the chunks whose terms a transaction changes and appends them once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._added: set[int] = set()
        """Numbers of new chunks."""
        self._removed: dict[int, list[str]] = {}
        """Terms that stored chunks had before the transaction."""

    def remove(self, number: int, terms: Iterable[str]) -> None:
        if number in self._added:
            self._added.remove(number)
        else:
            self._removed.setdefault(number, sorted(terms))

    def add(self, number: int, terms: Iterable[str], *, length: int) -> None:
        if number not in self._removed:
            self._added.add(number)

    def apply(self) -> None:
        if self._added or self._removed:
            values = {
                "added": sorted(self._added),
                "removed": json.dumps(self._removed, ensure_ascii=False),
                "touched": len(self._added) + len(self._removed),
            }
            self._db.run("write_term_delta", {"namespace": self._namespace, **values})
        self._added, self._removed = set(), {}


def read_pending(db: BinarySession, namespace: Namespace) -> BlockChanges:
    """Return the changes of blocks and document frequencies that are not folded."""
    changes = BlockChanges(db, namespace=namespace)
    for number, terms in db.run("pending_removals", {"namespace": namespace}):
        changes.remove(number, json.loads(terms))
    for number, terms, length in db.run("pending_chunks", {"namespace": namespace}):
        changes.add(number, json.loads(terms), length=length)
    return changes


def fold(db: BinarySession, namespace: Namespace) -> None:
    """Add all deltas of a namespace to its tables. The transaction must have its turn."""
    read_pending(db, namespace).apply()
    for name in ("fold_mentions", "delete_mention_deltas", "fold_writes", "delete_write_deltas"):
        db.run(name, {"namespace": namespace})
