"""
Consistency check of the graph with its documents, and rebuilding it.

Nominations, stated claims and the user's edits are the source. The check derives everything else a second time and
compares it with the stored rows. Chunks are read in batches, so memory grows with the entities, not with the text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from weft.extract.mentions import MAX_SUPPORT, ChunkMentions, derived_weight, find_mentions
from weft.extract.names import candidate_keys, words
from weft.graph.entity_resolution import KIND_RANKS, Resolution, follow, vote
from weft.records import Problem
from weft.store.relational.graph_mentions import read_subjects, read_texts
from weft.store.relational.graph_write import GraphChanges, Pair, batched, is_behind
from weft.store.relational.link_write import LinkChanges
from weft.store.relational.session import Namespace, Session
from weft.store.shared.merging import tie_rank
from weft.text.ids import entity_id

BATCH_CHUNKS = 256
"""Chunks whose text is in memory at once."""

Rows: TypeAlias = Iterable[tuple[Hashable, Any]]
"""Keys and values of rows."""

GRAPH_TABLES = ("nomination", "claim", "mention", "reread", "relation", "entity_vector")
"""Tables whose rows are useless without the row they refer to."""


def find_graph_problems(db: Session, namespace: Namespace, name: str) -> list[Problem]:
    """
    Return the differences between the graph of a namespace and its documents. Reads only.

    While the graph is behind its documents, as during a first load, nothing is compared.
    """
    if is_behind(db, namespace):
        return []
    known = _derive_entities(GraphChanges(db, namespace=namespace, name=name))
    chunks = _Chunks(db, namespace=namespace)
    for rows in batched(db.stream("all_chunk_numbers", {"namespace": namespace}), BATCH_CHUNKS):
        numbers = [number for (number,) in rows]
        chunks.compare(db, numbers, namespace=namespace, known=known)
        chunks.compare_links(LinkChanges(db, namespace=namespace), numbers)
    if db.packs_claims:
        chunks.compare_sum(db, namespace=namespace)
    findings = [
        _check_statements(db, namespace, claims=chunks.misplaced),
        *_check_entities(db, namespace, name, known=known, counts=chunks.counts),
        chunks.mentions.describe("mention", "mentions"),
        chunks.claims.describe("derived claim", "derived claims"),
        chunks.links.describe("resolved link", "resolved links"),
        _check_relations(db, namespace, name, known=known),
        _check_vectors(db, namespace),
    ]
    return [Problem(where=f"namespace {name!r}", what=what, repairable=True) for what in findings if what]


def rebuild_graph(db: Session, namespace: Namespace, name: str) -> None:
    """Derive the graph of a namespace again from its documents and edits. Inside a transaction."""
    db.run("delete_stray_entity_vectors", {"namespace": namespace})
    GraphChanges(db, namespace=namespace, name=name).rebuild()


def restore_statements(db: Session, namespace: Namespace) -> int:
    """Correct the derived columns of nominations and claims; return how many rows changed."""
    before = db.total_changes()
    values = {"namespace": namespace}
    db.run("place_nominations", values)
    for kind, rank in KIND_RANKS.items():
        db.run("set_kind", {**values, "kind": kind, "vote": vote(kind), "rank": rank})
    for rows in batched(db.stream("all_chunk_numbers", values)):
        numbers = json.dumps([number for (number,) in rows])
        places = [(number, tie_rank(id)) for number, id in db.run("chunk_ids", {**values, "numbers": numbers})]
        if db.one("misplaced_claims", {**values, "places": json.dumps(places)}):
            for number, place in places:
                db.run("place_claims", {**values, "chunk": number, "place": place})
    return db.total_changes() - before


# ── comparison ──────────────────────────────────────────────────────────────────────────────────


@dataclass
class Tally:
    """Number of rows that are missing, wrong or unexpected."""

    missing: int = 0
    wrong: int = 0
    extra: int = 0

    def compare(self, expected: Rows, found: Rows) -> None:
        """Count rows that only one side has, and rows with different values."""
        missing = dict(expected)
        for at, value in found:
            if at not in missing:
                self.extra += 1
            elif missing.pop(at) != value:
                self.wrong += 1
        self.missing += len(missing)

    def describe(self, one: str, many: str) -> str:
        """Return `12 mentions are missing, 3 are wrong`; empty if all counts are 0."""
        text = ""
        for count, is_one, are_many in (
            (self.missing, "is missing", "are missing"),
            (self.wrong, "is wrong", "are wrong"),
            (self.extra, "should not exist", "should not exist"),
        ):
            if count:
                names = ("", "") if text else (f"{one} ", f"{many} ")
                text += (", " if text else "") + counted(count, names[0] + is_one, names[1] + are_many)
        return text


class Sum:
    """Number and sum of hashes of rows in any order."""

    def __init__(self) -> None:
        self.count = self.hashes = 0

    def add(self, rows: Iterable[Hashable]) -> None:
        """Add rows."""
        for row in rows:
            self.count += 1
            self.hashes += hash(row)


@dataclass
class Unlisted:
    """Chunks that claim a relation which does not list all of them."""

    listed: set[int]
    number: int = 0
    """Number of the others that were read."""


class _Chunks:
    """Mentions and derived claims of the chunks read so far, compared with the stored ones."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self.mentions, self.claims, self.links = Tally(), Tally(), Tally()
        rows = db.stream("all_packed_claims", {"namespace": namespace}) if db.packs_claims else ()
        self.unlisted = {
            Pair(source, target, type): Unlisted(set(chunks))
            for source, target, type, listed, size in rows
            if size > len(chunks := json.loads(listed))
        }
        """Relations with a list of chunks that is not complete."""
        self.counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """Number of mentions and of mentioning chunks, by key."""
        self.sum = Sum()
        """Sum of all derived claims: they are too many to be kept."""
        self.misplaced = 0
        """Claims without the namespace and tie rank of their chunk."""

    def compare(
        self, db: Session, numbers: Collection[int], *, namespace: Namespace, known: Mapping[str, Resolution]
    ) -> None:
        """Derive the mentions and claims of these chunks and compare them with the stored ones."""
        mentions: dict[tuple[int, Namespace, str], tuple[int, bool, int]] = {}
        claims: dict[tuple[int, str, str, str], tuple[float, str]] = {}
        texts = read_texts(db, numbers, namespace=namespace)
        subjects = read_subjects(db, numbers, namespace=namespace)
        for chunk, (text, id) in texts.items():
            about = subjects[chunk]
            named = _read(text, about=about, known=known)
            for key, count in named.counts.items():
                mentions[chunk, namespace, key] = (count, key in about, db.tie_place(tie_rank(id)))
                self.counts[key][0] += count
                self.counts[key][1] += 1
            claims |= {(chunk, c.source, c.target, c.type): (c.weight, c.description) for c in named.claims}
            self.sum.add(
                (chunk, c.source, c.target, c.type)
                for c in named.claims
                if not self._is_unlisted(chunk, Pair(c.source, c.target, c.type))
            )
        chunks = json.dumps(list(numbers))
        stored = (
            ((chunk, owner, key), (count, bool(about), rank))
            for chunk, owner, key, count, about, rank in db.run(
                "all_mentions_in", {"namespace": namespace, "chunks": chunks}
            )
        )
        self.mentions.compare(mentions.items(), stored)
        if not db.packs_claims:
            rows = db.run("all_derived_claims_in", {"namespace": namespace, "chunks": chunks})
            stated = (
                ((chunk, source, target, type), (weight, text)) for chunk, source, target, type, weight, text in rows
            )
            self.claims.compare(claims.items(), stated)
        places = json.dumps([(chunk, tie_rank(id)) for chunk, (_, id) in texts.items()])
        self.misplaced += db.one("misplaced_claims", {"namespace": namespace, "places": places})

    def compare_sum(self, db: Session, *, namespace: Namespace) -> None:
        """Compare the derived claims of all chunks with those that relations list."""
        found = Sum()
        for source, target, type, listed, size in db.stream("all_packed_claims", {"namespace": namespace}):
            chunks = json.loads(listed)
            found.add((chunk, source, target, type) for chunk in chunks)
            if size > len(chunks):  # of the others it has the number
                unlisted = self.unlisted[Pair(source, target, type)]
                self.claims.wrong += unlisted.number != size - len(chunks)
        self.claims.missing = max(0, self.sum.count - found.count)
        self.claims.extra = max(0, found.count - self.sum.count)
        self.claims.wrong += self.sum.count == found.count and self.sum.hashes != found.hashes

    def _is_unlisted(self, chunk: int, pair: Pair) -> bool:
        """Return True, and count the chunk, if its relation has a list of chunks without it that is not complete."""
        unlisted = self.unlisted.get(pair)
        if unlisted is None or chunk in unlisted.listed:
            return False
        unlisted.number += 1
        return True

    def compare_links(self, changes: LinkChanges, numbers: Collection[int]) -> None:
        """Resolve the links of these chunks and compare the result with the stored claims and aliases."""
        found = changes.differences(dict.fromkeys(numbers))
        self.links.missing += len(found.new_claims) + len(found.new_aliases)
        self.links.extra += len(found.old_claims) + len(found.old_aliases)


def _read(text: str, *, about: Collection[str], known: Mapping[str, Resolution]) -> ChunkMentions:
    found = words(text) if known else []
    mine = {key for key in candidate_keys(found) | set(about) if key in known}
    return find_mentions(text, known=mine, about=about, found=found)


def _derive_entities(changes: GraphChanges) -> dict[str, Resolution]:
    """Return the resolutions of all keys of entities."""
    found: dict[str, Resolution] = {}
    for keys in changes.all_keys():
        found |= {key: resolution for key, resolution in changes.resolutions(keys).items() if resolution.exists}
    return found


def _check_statements(db: Session, namespace: Namespace, *, claims: int) -> str:
    wrong = claims + int(db.one("misplaced_nominations", {"namespace": namespace}))
    for kind, votes, rank, count in db.run("nomination_kinds", {"namespace": namespace}):
        if kind in KIND_RANKS and (votes, rank) != (vote(kind), KIND_RANKS[kind]):
            wrong += count
    return f"{counted(wrong, 'statement does', 'statements do')} not match chunk or kind" if wrong else ""


def _check_entities(
    db: Session, namespace: Namespace, name: str, *, known: Mapping[str, Resolution], counts: Mapping[str, list[int]]
) -> Iterator[str]:
    tally, miscounted, misdirected = Tally(), 0, 0
    same_as = {key: resolution.same_as for key, resolution in known.items()}
    rows = db.run("all_entities", {"namespace": namespace})
    keys = {number: key for number, _, key, *_ in rows}
    expected = ((key, (entity_id(name, key), s.strong, s.same_as, s.reason)) for key, s in known.items())
    stored = ((key, (id, bool(strong), target, reason)) for _, id, key, strong, target, reason, *_ in rows)
    tally.compare(expected, stored)
    for _, _, key, _, _, _, mentions, chunks, head in rows:
        if key in known:
            miscounted += [mentions, chunks] != counts.get(key, [0, 0])
            misdirected += keys.get(head) != follow(key, same_as)
    yield tally.describe("entity", "entities")
    if miscounted:
        yield counted(miscounted, "entity has a", "entities have a") + " wrong number of mentions"
    if misdirected:
        yield counted(misdirected, "name resolves", "names resolve") + " to the wrong entity"


def _check_relations(db: Session, namespace: Namespace, name: str, *, known: Mapping[str, Resolution]) -> str:
    """Compare relations with their claims. Both sides come sorted and are merged, so neither is kept in memory."""
    values = {"namespace": namespace}
    expected = (
        (Pair(source, target, type), 0, namespace, _weigh(db, name, Pair(source, target, type), support, weight))
        for source, target, type, support, weight in db.stream("all_pairs", values)
        if source in known and target in known
    )
    stored = (
        (Pair(source, target, type), 1, owner, (weight, support, rank))
        for source, target, type, owner, weight, support, rank in db.stream("all_relations", values)
    )
    tally = Tally()
    for _, group in groupby(merge(expected, stored, key=itemgetter(0)), key=itemgetter(0)):
        sides: tuple[list[tuple[Hashable, Any]], ...] = ([], [])
        for _, side, owner, value in group:
            sides[side].append((owner, value))
        tally.compare(*sides)
    return tally.describe("relation", "relations")


def _weigh(db: Session, name: str, pair: Pair, support: int, weight: float | None) -> tuple[float, int, int]:
    """Return the expected weight, support and tie-break order; without a stated weight it derives from the support."""
    support = min(support, MAX_SUPPORT)
    if weight is None:
        weight = derived_weight(pair.type, support=support)
    return weight, support, db.pair_place(name, pair.source, pair.target)


def _check_vectors(db: Session, namespace: Namespace) -> str:
    stray = db.one("stray_entity_vectors", {"namespace": namespace})
    return f"{counted(stray, 'vector of a name matches', 'vectors of names match')} no description" if stray else ""


def counted(count: int, one: str, many: str) -> str:
    """Return `1 row` or `3 rows`."""
    return f"{count:,} {one if count == 1 else many}"
