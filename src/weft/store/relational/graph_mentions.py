"""Which chunks mention which entities: read again only where a name came, went, or the text is new."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from weft.extract.mentions import Named, may_hold, read_names
from weft.extract.names import long_keys, match_names, short_keys, words
from weft.records import Claim
from weft.store.relational.session import Namespace, Session

SLICE = 32
"""Chunks whose possible names are looked up at once."""


class ChunkText(NamedTuple):
    """Text and id of a chunk."""

    text: str
    id: str


Mentioned = tuple[int, int, bool]
"""Number of the entity, count, about."""

Read = tuple[int, str, tuple[Claim, ...], bool]
"""Number and id of a chunk that was read, the claims that follow from its mentions, whether it is new."""


class MentionChanges:
    """Collects which chunks must be read again in a transaction, and reads them once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._whole: dict[int, bool] = {}
        """Chunks to be read for all names, and whether they are new."""
        self._names: dict[int, set[str]] = defaultdict(set)
        """Chunks to be read for names that became entities."""
        self._about: set[int] = set()
        """Those of them that are about such a name, whether they hold it or not."""
        self._counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        """By entity, how many mentions and chunks it gains."""
        self._gone: list[dict[str, Any]] = []
        self._new: list[dict[str, Any]] = []

    def remove(self, chunk: int) -> None:
        """Take a chunk that is about to be deleted out of the counts."""
        for entity, count, _ in self._old([chunk])[chunk].values():
            self._count(entity, -count, -1)
        self._whole.pop(chunk, None)

    def read(self, chunk: int, *, is_new: bool) -> None:
        """Say that a chunk has to be read for all names."""
        self._whole[chunk] = is_new and self._whole.get(chunk, True)

    def add_name(self, key: str, *, chunks: Iterable[int], about: Iterable[int]) -> None:
        """Say that a name has become an entity, which chunks may hold it, and which are about it."""
        for chunk in chunks:
            self._names[chunk].add(key)
        for chunk in about:
            self._names[chunk].add(key)
            self._about.add(chunk)

    def settle(self) -> Iterator[list[Read]]:
        """Yield the chunks that are read, some at a time, with the claims that follow; then write the mentions."""
        yield from self._read_names()
        whole = sorted(self._whole)
        for start in range(0, len(whole), SLICE):
            yield self._read_whole(whole[start : start + SLICE])
        self._db.run_many("delete_mention", self._gone)
        self._db.run_many("write_mention", self._new)
        rows = [
            {"namespace": self._namespace, "entity": entity, "mentions": mentions, "chunks": chunks}
            for entity, (mentions, chunks) in sorted(self._counts.items())
            if mentions or chunks
        ]
        self._db.run_many("count_mentions", rows)

    def _read_names(self) -> Iterator[list[Read]]:
        """Add new names to the chunks that hold them; where that would move other matches, read the whole chunk."""
        chunks = sorted(self._names.keys() - self._whole.keys())
        numbers = self._numbers(set().union(*self._names.values()))
        for start in range(0, len(chunks), SLICE):
            part = chunks[start : start + SLICE]
            texts = read_texts(self._db, part, namespace=self._namespace)
            held = [c for c, (text, _) in texts.items() if c in self._about or may_hold(text, self._names[c])]
            subjects, old = read_subjects(self._db, held, namespace=self._namespace), self._old(held)
            yield [
                read
                for chunk in held
                if (read := self._add_names(chunk, *texts[chunk], about=subjects[chunk], old=old[chunk], new=numbers))
            ]

    def _add_names(
        self, chunk: int, text: str, id: str, *, about: set[str], old: dict[str, Mentioned], new: Mapping[str, int]
    ) -> Read | None:
        """Add new names to a chunk; return it where that changes anything."""
        known = self._names[chunk] | old.keys()
        found = words(text)
        matches = match_names(found, known)
        if chunk not in self._about and self._names[chunk].isdisjoint(key for key, _, _ in matches):
            return None
        if not set(match_names(found, old)) <= set(matches):
            self._whole[chunk] = False
            return None
        named = read_names(text, known=known, about=about, found=found, matches=matches)
        if {key: count for key, (_, count, _) in old.items()} == named.counts:
            return None
        numbers = {**new, **{key: number for key, (number, _, _) in old.items()}}
        self._write(chunk, id=id, named=named, about=about, old=old, numbers=numbers)
        return chunk, id, named.claims, False

    def _read_whole(self, chunks: Collection[int]) -> list[Read]:
        texts = read_texts(self._db, chunks, namespace=self._namespace)
        subjects = read_subjects(self._db, chunks, namespace=self._namespace)
        found = {chunk: words(text) for chunk, (text, _) in texts.items()}
        short = {chunk: short_keys(found[chunk]) for chunk in texts}
        pairs = find_beginnings(self._db, self._namespace, set().union(*(pairs for _, pairs in short.values())))
        possible = {chunk: short[chunk][0] | long_keys(found[chunk], pairs) | subjects[chunk] for chunk in texts}
        numbers = self._numbers(set().union(*possible.values()))
        old = self._old([chunk for chunk in texts if not self._whole[chunk]])
        reads: list[Read] = []
        for chunk, (text, id) in texts.items():
            known, about = {key for key in possible[chunk] if key in numbers}, subjects[chunk]
            named = read_names(text, known=known, about=about, found=found[chunk])
            self._write(chunk, id=id, named=named, about=about, old=old[chunk], numbers=numbers)
            reads.append((chunk, id, named.claims, self._whole[chunk]))
        return reads

    def _write(
        self,
        chunk: int,
        *,
        id: str,
        named: Named,
        about: Collection[str],
        old: Mapping[str, Mentioned],
        numbers: Mapping[str, int],
    ) -> None:
        """Note the mentions of a chunk that differ."""
        new = {key: (numbers[key], count, key in about) for key, count in named.counts.items()}
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        place = int(id[1:9], 16)
        same = {"namespace": self._namespace, "chunk": chunk, "place": place}
        for rows, noted, sign in ((old, self._gone, -1), (new, self._new, 1)):
            for entity, count, is_about in (rows[key] for key in changed if key in rows):
                self._count(entity, sign * count, sign)
                noted.append({**same, "entity": entity, "count": count, "about": is_about})

    def _count(self, entity: int, mentions: int, chunks: int) -> None:
        self._counts[entity][0] += mentions
        self._counts[entity][1] += chunks

    def _old(self, chunks: Collection[int]) -> defaultdict[int, dict[str, Mentioned]]:
        found: defaultdict[int, dict[str, Mentioned]] = defaultdict(dict)
        values = {"namespace": self._namespace, "chunks": json.dumps(list(chunks))}
        for chunk, key, entity, count, about in self._db.run("chunk_mentions", values) if chunks else ():
            found[chunk][key] = (entity, count, bool(about))
        return found

    def _numbers(self, keys: Collection[str]) -> dict[str, int]:
        values = {"namespace": self._namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
        return dict(self._db.run("known_keys", values))


def find_beginnings(db: Session, namespace: Namespace, pairs: Collection[str]) -> set[str]:
    """Return the pairs of words that longer names begin with."""
    values = {"namespace": namespace, "pairs": json.dumps(sorted(pairs), ensure_ascii=False)}
    return {pair for (pair,) in db.run("known_beginnings", values)}


def read_texts(db: Session, chunks: Collection[int], *, namespace: Namespace) -> dict[int, ChunkText]:
    """Return text and id of chunks, by number."""
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    return {number: ChunkText(text, id) for number, text, id in db.run("chunk_texts", values)}


def read_subjects(db: Session, chunks: Collection[int], *, namespace: Namespace) -> defaultdict[int, set[str]]:
    """Return the keys that chunks are about."""
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    subjects: defaultdict[int, set[str]] = defaultdict(set)
    for chunk, key in db.run("chunk_subjects", values) if chunks else ():
        subjects[chunk].add(key)
    return subjects
