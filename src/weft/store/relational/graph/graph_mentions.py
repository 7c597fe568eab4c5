"""
Mentions of the names that chunks propose, as rows of these chunks.

A row depends on its chunk alone: it is written also for a name that is no entity, and stays when the name becomes one.
Entities count their rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from weft.extract.mentions import find_mentions
from weft.records import StatedMention
from weft.store.relational.session import Namespace, Session
from weft.store.shared.merging import tie_rank


class ChunkText(NamedTuple):
    """Text and id of a chunk."""

    text: str
    id: str


class MentionChanges:
    """Collects the chunks whose mentions a transaction changes, and writes these once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._new: dict[int, tuple[str, Collection[StatedMention]]] = {}
        """Id and mentions of chunks to write."""
        self._changed: set[int] = set()
        """Stored chunks whose names changed."""
        self._old: dict[int, list[StatedMention]] = {}
        """Stored mentions of chunks, read together."""
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """Change of the number of mentions and chunks, by key."""

    def add(self, chunk: int, *, id: str, mentions: Collection[StatedMention]) -> None:
        """Collect the mentions of a new chunk."""
        self._new[chunk] = id, mentions

    def expect(self, chunks: Collection[int]) -> None:
        """Read the mentions of stored chunks together; `change` or `remove` follows for each."""
        self._old |= self._stored(chunks)

    def change(self, chunk: int) -> None:
        """Mark a stored chunk whose candidates change."""
        self._new.pop(chunk, None)
        self._changed.add(chunk)

    def remove(self, chunk: int) -> None:
        """Subtract a chunk that is about to be deleted."""
        self._new.pop(chunk, None)
        self._changed.discard(chunk)
        old = self._old.pop(chunk) if chunk in self._old else self._stored([chunk])[chunk]
        self._count(old, sign=-1)

    def write(self) -> None:
        """Write the collected mentions. The names must have been written."""
        self._write_changed()
        self.write_new()

    def write_new(self) -> None:
        """Write the mentions of new chunks."""
        keys = {row.key for _, rows in self._new.values() for row in rows}
        numbers = self._db.names.numbers(self._namespace, keys)
        values: list[dict[str, Any]] = []
        for chunk, (id, rows) in self._new.items():  # hot loop
            at = {"namespace": self._namespace, "chunk": chunk, "place": tie_rank(id)}
            values += [
                {**at, "key": numbers[key], "count": count, "about": about, "sentences": sentences}
                for key, count, about, sentences in rows
            ]
            self._count(rows, sign=1)
        self._db.run_many("write_mention", values)
        self._new = {}

    def write_counts(self) -> None:
        """Write the collected changes of the counts of entities."""
        numbers = self._db.names.numbers(self._namespace, self._counts)
        rows = [
            {"namespace": self._namespace, "key": numbers[key], "mentions": mentions, "chunks": chunks}
            for key, (mentions, chunks) in sorted(self._counts.items())
            if mentions or chunks
        ]
        self._db.run_many("count_mentions", rows)
        self._counts.clear()

    def count_new(self, created: Collection[str]) -> None:
        """Count the rows of the keys of new entities."""
        if created:
            values = {"namespace": self._namespace, "keys": json.dumps(sorted(created), ensure_ascii=False)}
            self._db.run("count_new_entities", values)

    def _write_changed(self) -> None:
        """Compute the mentions of stored chunks again, from all their candidates."""
        if not self._changed:
            return
        before = self._old | self._stored(self._changed - self._old.keys())
        after = derive_mentions(self._db, self._changed, namespace=self._namespace)
        for chunk, (id, rows) in after.items():
            if sorted(rows) != sorted(before[chunk]):
                self._count(before[chunk], sign=-1)
                self._db.run("delete_mentions", {"namespace": self._namespace, "chunk": chunk})
                self._new[chunk] = id, rows
        self._changed, self._old = set(), {}

    def _stored(self, chunks: Collection[int]) -> dict[int, list[StatedMention]]:
        found: dict[int, list[StatedMention]] = {chunk: [] for chunk in chunks}
        values = {"namespace": self._namespace, "chunks": json.dumps(list(chunks))}
        for chunk, key, count, about, sentences in self._db.run("chunk_mentions", values) if chunks else ():
            found[chunk].append(StatedMention(key, count, bool(about), sentences))
        return found

    def _count(self, rows: Iterable[StatedMention], *, sign: int) -> None:
        for row in rows:
            counts = self._counts[row.key]
            counts[0] += sign * row.count
            counts[1] += sign


def derive_mentions(
    db: Session, chunks: Collection[int], *, namespace: Namespace
) -> dict[int, tuple[str, Collection[StatedMention]]]:
    """Return the id and the mentions of stored chunks, computed from their texts and candidates."""
    names, about = defaultdict[int, set[str]](set), defaultdict[int, set[str]](set)
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    for chunk, key, is_about in db.run("chunk_names", values) if chunks else ():
        names[chunk].add(key)
        if is_about:
            about[chunk].add(key)
    texts = read_texts(db, chunks, namespace=namespace)
    return {
        chunk: (id, find_mentions(text, names=names[chunk], about=about[chunk])) for chunk, (text, id) in texts.items()
    }


def read_texts(db: Session, chunks: Collection[int], *, namespace: Namespace) -> dict[int, ChunkText]:
    """Return text and id of chunks, by number."""
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    return {number: ChunkText(text, id) for number, text, id in db.run("chunk_texts", values)}
