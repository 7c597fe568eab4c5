"""
Chunks that wait to be read again, because a name that many contain became or ceased to be an entity.

A transaction that would read too many chunks lists them in the table `reread`, and later transactions read them:

    chunk   key            lost
        8   ada lovelace   NULL   a new entity: the name is searched in the chunk
        9   ada            0      no longer an entity: the chunk is read for all names
       10   ada            1      the same; the chunk defined the name

A lost name stays in the list until its chunk was read: the stored relations of the chunk were derived with it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TypeAlias

from weft.store.relational.session import Namespace, Row, Session

MAX_REREAD_CHUNKS = 256
"""Chunks that a transaction reads again for names that changed. To read one takes 1 to 2 ms."""

MAX_EXAMINED_CHUNKS = 16 * MAX_REREAD_CHUNKS
"""Chunks of the list of which a transaction reads the text. Most need not be read again if the words are common."""

LostNames: TypeAlias = Mapping[int, Mapping[str, bool]]
"""Names that a chunk mentioned, by its number; the value is True if the chunk defined the name."""


class Rereads:
    """Reads and writes the list of one namespace inside an open transaction."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._has_rows: bool | None = None
        """False if the list is empty; None if it is not known."""

    def is_empty(self) -> bool:
        """Return True if no chunk waits."""
        if self._has_rows is None:
            self._has_rows = has_waiting(self._db, self._namespace)
        return not self._has_rows

    def add(self, key: str, chunks: Collection[int]) -> None:
        """List chunks in which a new entity is to be searched."""
        values = {"namespace": self._namespace, "key": key, "chunks": json.dumps(sorted(chunks))}
        self._db.run("postpone_new_name", values)
        self._has_rows = True

    def lose(self, key: str, *, entity: int) -> None:
        """List the chunks that mention an entity, by its number, before it is deleted."""
        self._db.run("postpone_lost_name", {"namespace": self._namespace, "key": key, "entity": entity})
        self._has_rows = True

    def after(self, chunk: int, *, limit: int) -> list[Row]:
        """Return the rows of the first chunks after a number: chunk, key, lost."""
        return self._db.run("rereads_after", {"namespace": self._namespace, "chunk": chunk, "limit": limit})

    def lost(self, chunks: Collection[int]) -> LostNames:
        """Return the lost names of chunks."""
        found: defaultdict[int, dict[str, bool]] = defaultdict(dict)
        if not self.is_empty():
            values = {"namespace": self._namespace, "chunks": json.dumps(list(chunks))}
            for chunk, key, about in self._db.run("lost_names", values):
                found[chunk][key] = bool(about)
        return found

    def finish(self, chunks: Collection[int]) -> None:
        """Delete chunks that were read for all names, or for those of the list."""
        if chunks and not self.is_empty():
            self._db.run("delete_rereads", {"namespace": self._namespace, "chunks": json.dumps(list(chunks))})


def has_waiting(db: Session, namespace: Namespace) -> bool:
    """Return True if chunks of a namespace wait to be read again."""
    return db.postpones_rereads and bool(db.run("first_reread", {"namespace": namespace}))
