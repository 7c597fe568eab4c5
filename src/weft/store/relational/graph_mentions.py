"""
Incremental update of mentions.

A chunk is read again if it is new, or if a name in it became or ceased to be an entity.

    add_names    new entities: only the chunks that may contain the names are read, and only for the new names
    lose_names   deleted entities: their chunks are read for all names
    reread       a new chunk: it is read for all names
    resume       chunks that an earlier transaction left, because it had too many of them (`reread_list`)
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from weft.cores import usable_cores
from weft.extract.mentions import ChunkMentions, Match, find_mentions, may_mention
from weft.extract.names import LazyWords, NameSet, long_keys, match_names, pair_keys, singular
from weft.store.mention_readers.reader_pool import ReaderPool, TextBatch
from weft.store.relational.rereads.reread_list import MAX_EXAMINED_CHUNKS, MAX_REREAD_CHUNKS, LostNames, Rereads
from weft.store.relational.session import Namespace, Row, Session
from weft.store.shared.merging import tie_rank

BATCH_CHUNKS = 512
"""Chunks whose candidate names are looked up in one statement. Most of their words are equal, and looked up once."""

MIN_BULK_CHUNKS = 256
"""Chunks that a transaction reads for all names before the entities are counted, which takes longer the more exist."""

MAX_NAMES_PER_CHUNK = 16
"""
Entities of a namespace for each chunk that a transaction reads, up to which all their names are read at once.

To read a name takes 2 µs, and to look up the word sequences of a chunk 400 µs.
"""


MIN_READERS_CHUNKS = 2048
"""Chunks that a transaction reads for all names before processes help. They take half a second to start."""

MAX_READERS = 8
"""Maximum number of processes that read, this one included. More wait for the one that writes."""

READER_CHUNKS = 256
"""Chunks that such a process gets at once: about a tenth of a second."""


NO_NAMES: Mapping[str, bool] = {}


class ChunkText(NamedTuple):
    """Text and id of a chunk."""

    text: str
    id: str


class MentionRow(NamedTuple):
    """A mention of an entity in a chunk."""

    entity: int
    """Number of the entity."""
    count: int  # type: ignore[assignment]
    about: bool


class Read(NamedTuple):
    """A chunk that was read again."""

    chunk: int
    """Number of the chunk."""
    id: str
    relations: tuple[tuple[str, str, str], ...]
    """Relations derived from its mentions, as in `ChunkMentions`."""
    is_new: bool
    old: tuple[tuple[str, str, str], ...] = ()
    """Relations derived from its mentions before, if the store does not have them."""


class MentionChanges:
    """Collects the chunks that a transaction must read again, and reads them once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._whole: dict[int, bool] = {}
        """Chunks to read for all names; the value is True for a new chunk."""
        self._names: dict[int, set[str]] = defaultdict(set)
        """Chunks to read for names that became entities, with these names."""
        self._about: set[int] = set()
        """Defining chunks of such names; they need not contain the name."""
        self._counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        """Change of the number of mentions and chunks, by entity."""
        self._deleted: list[dict[str, Any]] = []
        self._new: list[dict[str, Any]] = []
        self._readers: ReaderPool | None = None
        self._rereads = Rereads(db, namespace=namespace)
        self._stored: dict[int, dict[str, MentionRow]] = {}
        """Mentions of chunks that may be removed, read together; each is used once."""
        self._lost: defaultdict[int, dict[str, bool]] = defaultdict(dict)
        """Names of deleted entities, by chunk that mentioned them, as in `LostNames`."""
        self._resumed: set[int] = set()
        """Chunks that an earlier transaction left."""

    def expect(self, chunks: Collection[int]) -> None:
        """Read the mentions of chunks together, some of which will be removed."""
        found = self._old(chunks)
        self._stored |= {chunk: found[chunk] for chunk in chunks}

    def remove(self, chunk: int) -> tuple[tuple[str, str, str], ...]:
        """Subtract a chunk that is about to be deleted from the counts; return its relations, as in `Read.old`."""
        old = self._stored.pop(chunk) if chunk in self._stored else self._old([chunk])[chunk]
        for mention in old.values():
            self._count(mention.entity, -mention.count, -1)
        self._whole.pop(chunk, None)
        lost = self._rereads.lost([chunk]).get(chunk, NO_NAMES)
        if not ((old or lost) and self._db.packs_claims):
            return ()
        return _old_relations(read_texts(self._db, [chunk], namespace=self._namespace)[chunk].text, old, lost)

    def reread(self, chunk: int, *, is_new: bool) -> None:
        """Mark a chunk to be read for all names."""
        self._whole[chunk] = is_new and self._whole.get(chunk, True)

    def first_new(self) -> float:
        """
        Return the number of the first new chunk; infinity without one.

        Chunks of the namespace with larger numbers are new as well, and are read for all names.
        """
        return min((chunk for chunk, is_new in self._whole.items() if is_new), default=math.inf)

    def add_names(self, chunks: Mapping[str, set[int]], *, about: Mapping[str, set[int]], postpone: bool) -> None:
        """
        Mark names that became entities: by name, the chunks that may contain it, and its defining chunks.

        With `postpone`, later transactions read these chunks if they are many.
        """
        wanted = {key: chunks.get(key, set()) | about.get(key, set()) for key in chunks.keys() | about.keys()}
        older = set().union(*wanted.values()) - self._whole.keys()
        if postpone and len(older) > MAX_REREAD_CHUNKS and self._db.postpones_rereads:
            for key in sorted(wanted):
                self._rereads.add(key, wanted[key] - self._whole.keys())
            return
        for key, numbers in wanted.items():
            for chunk in numbers:
                self._names[chunk].add(key)
        self._about.update(*about.values())

    def lose_names(self, entities: Mapping[str, int], *, postpone: bool) -> None:
        """Mark the chunks of names whose entities, by number, are about to be deleted; `postpone` as in `add_names`."""
        found: dict[str, dict[int, Any]] = {
            key: dict(self._db.run("entity_chunks", {"namespace": self._namespace, "entity": entity}))
            for key, entity in entities.items()
        }
        older = set[int]().union(*found.values()) - self._whole.keys()
        if postpone and len(older) > MAX_REREAD_CHUNKS and self._db.postpones_rereads:
            for key, entity in entities.items():
                self._rereads.lose(key, entity=entity)
            return
        for key, chunks in found.items():
            for chunk, about in chunks.items():
                self._lost[chunk][key] = bool(about)
                self.reread(chunk, is_new=False)

    def resume(self) -> bool:
        """
        Mark some of the chunks that earlier transactions left; return False if there are none.

        Nearly all chunks with the words of a name, if these are common, do not contain the name itself.
        """
        while len(self._whole) + len(self._names) < MAX_REREAD_CHUNKS and len(self._resumed) < MAX_EXAMINED_CHUNKS:
            rows = self._rereads.after(max(self._resumed, default=-1), limit=MAX_REREAD_CHUNKS)
            if not rows:
                break
            self._examine(rows)
        return bool(self._resumed)

    def _examine(self, rows: Sequence[Row]) -> None:
        """Mark the chunks of rows of the list that lost a name, define a new one, or may contain it."""
        names: defaultdict[int, set[str]] = defaultdict(set)
        known = self._numbers({key for _, key, lost in rows if lost is None})  # a new name may be lost again
        for chunk, key, lost in rows:
            self._resumed.add(chunk)
            if lost is not None:
                self.reread(chunk, is_new=False)
            elif key in known:
                names[chunk].add(key)
        wanted = sorted(names.keys() - self._whole.keys())
        texts = read_texts(self._db, wanted, namespace=self._namespace)
        subjects = read_subjects(self._db, wanted, namespace=self._namespace)
        for chunk, (text, _) in texts.items():
            if names[chunk] & subjects[chunk]:
                self._about.add(chunk)
            elif not may_mention(text, names[chunk]):
                continue
            self._names[chunk] |= names[chunk]

    @property
    def has_changed(self) -> bool:
        """True if mentions were written or deleted, or relations lost a name."""
        return bool(self._deleted or self._new or self._whole)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Have processes ready in the block if many chunks will be read for all names."""
        size = min(usable_cores(), MAX_READERS) - 1
        self._readers = ReaderPool(size) if size > 0 and len(self._whole) >= MIN_READERS_CHUNKS else None
        try:
            yield
        finally:
            if self._readers:
                self._readers.close()
            self._readers = None

    def settle(self) -> Iterator[list[Read]]:
        """Yield batches of chunks read again, with their derived claims; write the mentions at the end."""
        yield from self._read_names()
        whole = sorted(self._whole)
        every = self._all_numbers(len(whole))
        if every is None or self._readers is None:
            names = NameSet(every) if every is not None else None
            for chunks in _batched(whole, BATCH_CHUNKS):
                yield self._read_whole(chunks, names=names, numbers=every)
        else:
            yield from self._read_elsewhere(whole, every, self._readers)
        self._db.run_many("delete_mention", self._deleted)
        self._db.run_many("write_mention", self._new)
        rows = [
            {"namespace": self._namespace, "entity": entity, "mentions": mentions, "chunks": chunks}
            for entity, (mentions, chunks) in sorted(self._counts.items())
            if mentions or chunks
        ]
        self._db.run_many("count_mentions", rows)
        self._rereads.finish(self._resumed | self._whole.keys())

    def _read_names(self) -> Iterator[list[Read]]:
        """Read chunks for new names only; mark a chunk to be read in full if a new name changes other matches."""
        chunks = sorted(self._names.keys() - self._whole.keys())
        numbers = self._numbers(set().union(*self._names.values()))
        for start in range(0, len(chunks), BATCH_CHUNKS):
            part = chunks[start : start + BATCH_CHUNKS]
            lost = self._rereads.lost(part)  # a later transaction reads these chunks for all names
            part = [chunk for chunk in part if chunk not in lost]
            texts = read_texts(self._db, part, namespace=self._namespace)
            found = [c for c, chunk in texts.items() if c in self._about or may_mention(chunk.text, self._names[c])]
            subjects, old = read_subjects(self._db, found, namespace=self._namespace), self._old(found)
            yield [
                read
                for chunk in found
                if (read := self._add_names(chunk, texts[chunk], about=subjects[chunk], old=old[chunk], new=numbers))
            ]

    def _add_names(
        self, chunk: int, text: ChunkText, *, about: set[str], old: dict[str, MentionRow], new: Mapping[str, int]
    ) -> Read | None:
        """Add new names to a chunk; return it if its mentions changed, else None."""
        known = self._names[chunk] | old.keys()
        found = LazyWords(text.text)
        matches = match_names(found, known)
        if chunk not in self._about and self._names[chunk].isdisjoint(key for key, _, _ in matches):
            return None
        before = match_names(found, old)
        if not set(before) <= set(matches):
            self._whole[chunk] = False
            return None
        named = find_mentions(text.text, known=known, about=about, found=found, matches=matches)
        if {key: mention.count for key, mention in old.items()} == named.counts:
            return None
        numbers = {**new, **{key: mention.entity for key, mention in old.items()}}
        self._write(chunk, id=text.id, named=named, about=about, old=old, numbers=numbers)
        was = _old_relations(text.text, old, found=found, matches=before) if self._db.packs_claims else ()
        return Read(chunk, text.id, named.relations, is_new=False, old=was)

    def _read_whole(
        self, chunks: Collection[int], *, names: NameSet | None, numbers: Mapping[str, int] | None
    ) -> list[Read]:
        """Read chunks for all names: `names` and their `numbers`, or else those that the texts may contain."""
        texts = read_texts(self._db, chunks, namespace=self._namespace)
        subjects = read_subjects(self._db, chunks, namespace=self._namespace)
        found = {chunk: LazyWords(text) for chunk, (text, _) in texts.items()}
        if numbers is None:
            numbers = self._numbers(self._possible_keys(found.values()).union(*subjects.values()))
        known = names or NameSet(numbers)
        named = [
            find_mentions(text, known=known, about=subjects[chunk], found=found[chunk])
            for chunk, (text, _) in texts.items()
        ]
        return self._finish(texts, named, subjects=subjects, numbers=numbers)

    def _read_elsewhere(
        self, chunks: Sequence[int], numbers: Mapping[str, int], readers: ReaderPool
    ) -> Iterator[list[Read]]:
        """Read chunks for all names in processes, and here while they are busy."""
        known, stored = NameSet(numbers), dict[int, dict[int, ChunkText]]()

        def load() -> Iterator[TextBatch]:
            for part in _batched(chunks, READER_CHUNKS):
                texts = read_texts(self._db, part, namespace=self._namespace)
                subjects = read_subjects(self._db, part, namespace=self._namespace)
                batch = TextBatch({chunk: text for chunk, (text, _) in texts.items()}, subjects)
                stored[id(batch)] = texts
                yield batch

        def read_here(batch: TextBatch) -> list[ChunkMentions]:
            return [
                find_mentions(text, known=known, about=batch.subjects[chunk], found=LazyWords(text))
                for chunk, text in batch.texts.items()
            ]

        for batch, named in readers.read(list(numbers), load(), read_here=read_here):
            yield self._finish(stored.pop(id(batch)), named, subjects=batch.subjects, numbers=numbers)

    def _finish(
        self,
        texts: Mapping[int, ChunkText],
        found: Sequence[ChunkMentions],
        *,
        subjects: Mapping[int, set[str]],
        numbers: Mapping[str, int],
    ) -> list[Read]:
        """Collect the mentions of chunks, and return what was read."""
        read = [chunk for chunk in texts if not self._whole[chunk]]
        old, lost = self._old(read), self._lost_names(read)
        reads: list[Read] = []
        for (chunk, (text, id)), named in zip(texts.items(), found, strict=True):
            self._write(chunk, id=id, named=named, about=subjects[chunk], old=old[chunk], numbers=numbers)
            was = self._was(text, old[chunk], lost.get(chunk, NO_NAMES))
            reads.append(Read(chunk, id, named.relations, is_new=self._whole[chunk], old=was))
        return reads

    def _possible_keys(self, found: Collection[LazyWords]) -> set[str]:
        """Return the keys that texts may contain. Each word and pair of words is looked up once for all texts."""
        every = set().union(*(text.texts for text in found))
        heads = find_key_prefixes(self._db, self._namespace, every)
        keys = {singular(word) for word in set().union(*(text.name_like() for text in found))}
        pairs: set[str] = set()
        for text in found:
            short, beginnings = pair_keys(text.texts, heads)
            keys |= short
            pairs |= beginnings
        pairs = find_key_prefixes(self._db, self._namespace, pairs)
        return keys.union(*(long_keys(text, pairs) for text in found))

    def _write(
        self,
        chunk: int,
        *,
        id: str,
        named: ChunkMentions,
        about: Collection[str],
        old: Mapping[str, MentionRow],
        numbers: Mapping[str, int],
    ) -> None:
        """Collect the mentions of a chunk that changed."""
        if not old:  # hot: nearly all chunks are new
            place = tie_rank(id)
            for key, count in named.counts.items():
                entity = numbers[key]
                row = {"chunk": chunk, "place": place, "entity": entity, "count": count, "about": key in about}
                self._new.append({"namespace": self._namespace, **row})
                self._count(entity, count, 1)
            return
        new = {key: MentionRow(numbers[key], count, key in about) for key, count in named.counts.items()}
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        same = {"namespace": self._namespace, "chunk": chunk, "place": tie_rank(id)}
        for rows, collected, sign in ((old, self._deleted, -1), (new, self._new, 1)):
            for mention in (rows[key] for key in changed if key in rows):
                self._count(mention.entity, sign * mention.count, sign)
                collected.append({**same, "entity": mention[0], "count": mention[1], "about": mention[2]})

    def _count(self, entity: int, mentions: int, chunks: int) -> None:
        self._counts[entity][0] += mentions
        self._counts[entity][1] += chunks

    def _old(self, chunks: Collection[int]) -> defaultdict[int, dict[str, MentionRow]]:
        found: defaultdict[int, dict[str, MentionRow]] = defaultdict(dict)
        values = {"namespace": self._namespace, "chunks": json.dumps(chunks)}
        for chunk, key, entity, count, about in self._db.run("chunk_mentions", values) if chunks else ():
            found[chunk][key] = MentionRow(entity, count, bool(about))
        return found

    def _lost_names(self, chunks: Collection[int]) -> LostNames:
        """Return the names that chunks lost in this transaction, or that are in the list."""
        listed = self._rereads.lost(chunks) if chunks else {}
        return {
            chunk: {**listed.get(chunk, {}), **self._lost.get(chunk, {})}
            for chunk in chunks
            if chunk in listed or chunk in self._lost
        }

    def _was(
        self, text: str, old: Mapping[str, MentionRow], lost: Mapping[str, bool]
    ) -> tuple[tuple[str, str, str], ...]:
        """Return the relations of a chunk before it was read again, if the store does not have them."""
        return _old_relations(text, old, lost) if (old or lost) and self._db.packs_claims else ()

    def _all_numbers(self, chunks: int) -> dict[str, int] | None:
        """Return the numbers of all entities by key; None if there are too many for this number of chunks."""
        at = {"namespace": self._namespace}
        if chunks < MIN_BULK_CHUNKS or self._db.one("count_entities", at) > MAX_NAMES_PER_CHUNK * chunks:
            return None
        return dict(self._db.run("all_known_keys", at))

    def _numbers(self, keys: Collection[str]) -> dict[str, int]:
        values = {"namespace": self._namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
        return dict(self._db.run("known_keys", values))


def _old_relations(
    text: str,
    old: Mapping[str, MentionRow],
    lost: Mapping[str, bool] = NO_NAMES,
    *,
    found: LazyWords | None = None,
    matches: Sequence[Match] | None = None,
) -> tuple[tuple[str, str, str], ...]:
    """
    Return the stored relations that were derived from the mentions of a chunk.

    Names that it lost were read too; their own relations were deleted with them.
    """
    about = {key for key, mention in old.items() if mention.about} | {key for key, defined in lost.items() if defined}
    known = old.keys() | lost.keys()
    named = find_mentions(text, known=known, about=about, found=found or LazyWords(text), matches=matches)
    if not lost:
        return named.relations
    return tuple(pair for pair in named.relations if pair[0] not in lost and pair[1] not in lost)


def _batched(chunks: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (chunks[start : start + size] for start in range(0, len(chunks), size))


def find_key_prefixes(db: Session, namespace: Namespace, pairs: Collection[str]) -> set[str]:
    """Return the words, or pairs of words, that start a longer key."""
    values = {"namespace": namespace, "pairs": json.dumps(sorted(pairs), ensure_ascii=False)}
    return {pair for (pair,) in db.run("known_beginnings", values)}


def read_texts(db: Session, chunks: Collection[int], *, namespace: Namespace) -> dict[int, ChunkText]:
    """Return text and id of chunks, by number."""
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    return {number: ChunkText(text, id) for number, text, id in db.run("chunk_texts", values)}


def read_subjects(db: Session, chunks: Collection[int], *, namespace: Namespace) -> defaultdict[int, set[str]]:
    """Return the keys that chunks define, by chunk number."""
    values = {"namespace": namespace, "chunks": json.dumps(list(chunks))}
    subjects: defaultdict[int, set[str]] = defaultdict(set)
    for chunk, key in db.run("chunk_subjects", values) if chunks else ():
        subjects[chunk].add(key)
    return subjects
