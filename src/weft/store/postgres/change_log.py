"""
Log of the chunks that writes change, which read indexes beside a serving process follow.

A write transaction raises the generation of its namespace, gives it a random stamp, and adds one row to `weft.change`:

    generation   since   stamp   chunks
            11      10    7301   {81, 82}     two chunks were added
            12      11    2290   {81, 90}     one was changed, one deleted
            13      12    5518   NULL         `weft repair`: any chunk may have changed

An index at generation 11, stamp 7301 reads the rows from 11 on. The first must be the write that the index knows, and
each must begin where the one before ended. Then only the chunks 81 and 90 are read again. A restored backup or a
namespace that was dropped and created again has other stamps.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from weft.store.relational.session import Namespace, Row, Session, TermChanges

MAX_LOGGED_CHUNKS = 16_384
"""Chunks that a row of the log names at most; an index that missed more is filled again."""

MAX_LOGGED_WRITES = 4_096
"""Writes of a namespace that the log keeps; an index that missed more is filled again."""

TRIM_INTERVAL = 64
"""Writes between two deletions of old rows."""

TOUCHING = frozenset({"touch_namespace", "set_counts"})
"""Statements that raise the generation of a namespace."""

UNTRACKED = frozenset({"set_terms", "delete_bad_vectors"})
"""Statements of `weft repair` after which any chunk may have changed."""


class Version(NamedTuple):
    """State of a namespace that a transaction sees."""

    generation: int
    stamp: int


class ChangeLog:
    """Collects the changes of a transaction."""

    def __init__(self) -> None:
        self._chunks: set[int] | None = set()
        """Numbers of changed chunks; None if any may have changed."""
        self._touches = 0
        self._last = Version(0, 0)

    def add(self, chunks: Iterable[int]) -> None:
        """Note changed chunks."""
        if self._chunks is not None:
            self._chunks.update(chunks)

    def add_all(self) -> None:
        """Note that any chunk may have changed."""
        self._chunks = None

    def values(self, name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of a statement, with a new stamp if it raises the generation."""
        return {**values, "stamp": secrets.randbits(63)} if name in TOUCHING else values

    def note(self, name: str, values: Mapping[str, Any], rows: Sequence[Row]) -> None:
        """Note the effect of a statement."""
        if name in TOUCHING and rows:
            self._touches += 1
            self._last = Version(rows[0][1], values["stamp"])
        elif name in UNTRACKED:
            self.add_all()
        elif name == "write_vector_by_id":
            self.add(chunk for (chunk,) in rows)

    def write(self, db: Session, namespace: Namespace) -> None:
        """Add the changes of the transaction to the log, before its commit."""
        if not self._touches and self._chunks != set():
            db.run("touch_namespace", {"namespace": namespace, "chunks": 0, "length": 0})
        if not self._touches:
            return
        chunks = None if self._chunks is None or len(self._chunks) > MAX_LOGGED_CHUNKS else sorted(self._chunks)
        generation, stamp = self._last
        key = {"namespace": namespace, "generation": generation}
        db.run("write_change", {**key, "since": generation - self._touches, "stamp": stamp, "chunks": chunks})
        if generation % TRIM_INTERVAL == 0 and generation > MAX_LOGGED_WRITES:
            db.run("drop_changes", {"namespace": namespace, "last": generation - MAX_LOGGED_WRITES})


class LoggedTermChanges:
    """Changes of the keyword index that the log names too: every added, changed or deleted chunk has some."""

    def __init__(self, changes: TermChanges, log: ChangeLog) -> None:
        self._changes = changes
        self._log = log

    def remove(self, number: int, terms: Iterable[str]) -> None:
        self._log.add([number])
        self._changes.remove(number, terms)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        self._log.add([number])
        self._changes.add(number, terms, length=length)

    def apply(self) -> None:
        self._changes.apply()


def read_changes(db: Session, namespace: Namespace, *, after: Version, until: Version) -> list[int] | None:
    """
    Return the numbers of the chunks that changed from one version to the one that a transaction sees, ascending.

    None if the log does not lead from one to the other, or if it names too many chunks.
    """
    values = {"namespace": namespace, "generation": after.generation, "limit": MAX_LOGGED_WRITES + TRIM_INTERVAL + 1}
    known, changed = after.generation, set[int]()
    for place, (generation, since, stamp, chunks) in enumerate(db.run("changes_since", values)):
        if place == 0:
            if (generation, stamp) != after:
                return None
            continue
        if since != known or chunks is None:
            return None
        known = generation
        changed.update(chunks)
        if len(changed) > MAX_LOGGED_CHUNKS:
            return None
        if (generation, stamp) == until:
            return sorted(changed)
    return None
