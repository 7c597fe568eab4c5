"""Which chunks mention which entities: read again only where a name came, went, or the text is new."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from weft.records import Claim
from weft.store.relational.session import Namespace, Session
from weft.text.mentions import Named, adds_only, may_hold, read_names
from weft.text.names import candidate_keys, words

SLICE = 32
"""Chunks whose possible names are looked up at once."""

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
        self._counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        """By entity, how many mentions and chunks it gains."""

    def remove(self, chunk: int) -> None:
        """Take a chunk that is about to be deleted out of the counts."""
        for _, entity, count, _ in self._db.run("chunk_mentions", {"namespace": self._namespace, "chunk": chunk}):
            self._count(entity, -count, -1)
        self._whole.pop(chunk, None)

    def read(self, chunk: int, *, is_new: bool) -> None:
        """Say that a chunk has to be read for all names."""
        self._whole[chunk] = is_new and self._whole.get(chunk, True)

    def add_name(self, key: str, *, chunks: Iterable[int]) -> None:
        """Say that a name has become an entity, and which chunks may hold it."""
        for chunk in chunks:
            self._names[chunk].add(key)

    def settle(self) -> Iterator[Read]:
        """Write the mentions; yield each chunk read with the claims that follow."""
        yield from self._read_names()
        whole = sorted(self._whole)
        for start in range(0, len(whole), SLICE):
            yield from self._read_whole(whole[start : start + SLICE])
        rows = [
            {"namespace": self._namespace, "entity": entity, "mentions": mentions, "chunks": chunks}
            for entity, (mentions, chunks) in sorted(self._counts.items())
            if mentions or chunks
        ]
        self._db.run_many("count_mentions", rows)

    def _read_names(self) -> Iterator[Read]:
        """Add new names to the chunks that hold them; where that would move other matches, read the whole chunk."""
        chunks = sorted(self._names.keys() - self._whole.keys())
        for start in range(0, len(chunks), SLICE):
            texts, subjects = read_texts(self._db, chunks[start : start + SLICE], namespace=self._namespace)
            for chunk, (text, id) in texts.items():
                keys = self._names[chunk]
                about = subjects.get(chunk, set())
                # `may_hold` looks for keys as they are, and `O'Brien` has the key `obrien`
                if not keys & about and "'" not in text and not may_hold(text, keys):
                    continue
                old = self._old(chunk)
                known = keys | old.keys()
                found = words(text)
                if not adds_only(found, old=old.keys(), new=known):
                    self._whole[chunk] = False
                    continue
                named = read_names(text, known=known, about=about, found=found)
                if named.counts.keys() != old.keys() or any(named.counts[key] != old[key][1] for key in old):
                    numbers = self._numbers(named.counts)
                    self._write(chunk, id=id, named=named, about=about, old=old, numbers=numbers)
                    yield chunk, id, named.claims, False

    def _read_whole(self, chunks: Collection[int]) -> Iterator[Read]:
        texts, subjects = read_texts(self._db, chunks, namespace=self._namespace)
        found = {chunk: words(text) for chunk, (text, _) in texts.items()}
        possible = {chunk: candidate_keys(found[chunk]) | subjects.get(chunk, set()) for chunk in texts}
        numbers = self._numbers(set().union(*possible.values()))
        for chunk, (text, id) in texts.items():
            known = {key for key in possible[chunk] if key in numbers}
            about = subjects.get(chunk, set())
            named = read_names(text, known=known, about=about, found=found[chunk])
            is_new = self._whole[chunk]
            old = {} if is_new else self._old(chunk)
            self._write(chunk, id=id, named=named, about=about, old=old, numbers=numbers)
            yield chunk, id, named.claims, is_new

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
        """Write the mentions of a chunk that differ."""
        new = {key: (numbers[key], count, key in about) for key, count in named.counts.items()}
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        place = int(id[1:9], 16)
        for rows, name, sign in ((old, "delete_mention", -1), (new, "write_mention", 1)):
            mine = [rows[key] for key in changed if key in rows]
            for entity, count, _ in mine:
                self._count(entity, sign * count, sign)
            same = {"namespace": self._namespace, "chunk": chunk, "place": place}
            values = [{**same, "entity": entity, "count": count, "about": is_about} for entity, count, is_about in mine]
            self._db.run_many(name, values)

    def _count(self, entity: int, mentions: int, chunks: int) -> None:
        self._counts[entity][0] += mentions
        self._counts[entity][1] += chunks

    def _old(self, chunk: int) -> dict[str, Mentioned]:
        rows = self._db.run("chunk_mentions", {"namespace": self._namespace, "chunk": chunk})
        return {key: (entity, count, bool(about)) for key, entity, count, about in rows}

    def _numbers(self, keys: Collection[str]) -> dict[str, int]:
        values = {"namespace": self._namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
        return dict(self._db.run("known_keys", values))


def read_texts(
    db: Session, chunks: Collection[int], *, namespace: Namespace
) -> tuple[dict[int, tuple[str, str]], dict[int, set[str]]]:
    """Return text and id of chunks, and the keys they are about."""
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    texts = {number: (text, id) for number, text, id in db.run("chunk_texts", values)}
    subjects: dict[int, set[str]] = defaultdict(set)
    for chunk, key in db.run("chunk_subjects", values):
        subjects[chunk].add(key)
    return texts, subjects
