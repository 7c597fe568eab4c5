"""
Consistency check of the graph with its documents, and rebuilding it.

Candidates, stated relations and the user's edits are the source. The check derives everything else a second time and
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

from weft.graph.entity_resolution import KIND_RANKS, Resolution, follow, vote
from weft.records import Problem
from weft.store.relational.graph.graph_mentions import derive_mentions
from weft.store.relational.graph.graph_write import GraphChanges, Pair, batched
from weft.store.relational.graph.link_write import LinkChanges
from weft.store.relational.session import Namespace, Session
from weft.store.shared.merging import pair_tie_rank, tie_rank
from weft.text.ids import entity_id
from weft.text.plurals import counted

BATCH_CHUNKS = 256
"""Chunks whose text is in memory at once."""

Rows: TypeAlias = Iterable[tuple[Hashable, Any]]
"""Keys and values of rows."""

GRAPH_TABLES = ("candidate", "stated_relation", "mention", "relation", "entity_vector")
"""Tables whose rows are useless without the row they refer to."""


def find_graph_problems(db: Session, namespace: Namespace, name: str) -> list[Problem]:
    """Return the differences between the graph of a namespace and its documents. Reads only."""
    known = _derive_entities(GraphChanges(db, namespace=namespace, name=name))
    chunks = _Chunks()
    for rows in batched(db.stream("all_chunk_numbers", {"namespace": namespace}), BATCH_CHUNKS):
        numbers = [number for (number,) in rows]
        chunks.compare(db, numbers, namespace=namespace)
        chunks.compare_links(LinkChanges(db, namespace=namespace), numbers)
    findings = [
        _check_statements(db, namespace, stated_relations=chunks.misplaced),
        *_check_entities(db, namespace, name, known=known, counts=chunks.counts),
        chunks.mentions.describe("mention", "mentions"),
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
    """Correct the derived columns of candidates and stated relations; return how many rows changed."""
    before = db.total_changes()
    values = {"namespace": namespace}
    db.run("place_candidates", values)
    for kind, rank in KIND_RANKS.items():
        db.run("set_kind", {**values, "kind": kind, "vote": vote(kind), "rank": rank})
    for rows in batched(db.stream("all_chunk_numbers", values)):
        numbers = json.dumps([number for (number,) in rows])
        places = [(number, tie_rank(id)) for number, id in db.run("chunk_ids", {**values, "numbers": numbers})]
        if db.one("misplaced_stated_relations", {**values, "places": json.dumps(places)}):
            for number, place in places:
                db.run("place_stated_relations", {**values, "chunk": number, "place": place})
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


class _Chunks:
    """Mentions and links of the chunks read so far, compared with the stored ones."""

    def __init__(self) -> None:
        self.mentions, self.links = Tally(), Tally()
        self.counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """Number of mentions and of mentioning chunks, by key."""
        self.misplaced = 0
        """Stated relations without the namespace and tie rank of their chunk."""

    def compare(self, db: Session, numbers: Collection[int], *, namespace: Namespace) -> None:
        """Derive the mentions of these chunks and compare them with the stored ones."""
        mentions: dict[tuple[int, Namespace, str], tuple[int, bool, int, int]] = {}
        derived = derive_mentions(db, numbers, namespace=namespace)
        for chunk, (id, rows) in derived.items():
            for key, count, about, sentences in rows:
                mentions[chunk, namespace, key] = (count, about, sentences, tie_rank(id))
                self.counts[key][0] += count
                self.counts[key][1] += 1
        values = {"namespace": namespace, "chunks": json.dumps(list(numbers))}
        stored = (
            ((chunk, owner, key), (count, bool(about), sentences, rank))
            for chunk, owner, key, count, about, sentences, rank in db.run("all_mentions_in", values)
        )
        self.mentions.compare(mentions.items(), stored)
        places = json.dumps([(chunk, tie_rank(id)) for chunk, (id, _) in derived.items()])
        self.misplaced += db.one("misplaced_stated_relations", {"namespace": namespace, "places": places})

    def compare_links(self, changes: LinkChanges, numbers: Collection[int]) -> None:
        """Resolve the links of these chunks and compare the result with the stored stated relations and aliases."""
        found = changes.differences(dict.fromkeys(numbers))
        self.links.missing += len(found.new_stated_relations) + len(found.new_aliases)
        self.links.extra += len(found.old_stated_relations) + len(found.old_aliases)


def _derive_entities(changes: GraphChanges) -> dict[str, Resolution]:
    """Return the resolutions of all keys of entities."""
    found: dict[str, Resolution] = {}
    for keys in changes.all_keys():
        found |= {key: resolution for key, resolution in changes.resolutions(keys).items() if resolution.exists}
    return found


def _check_statements(db: Session, namespace: Namespace, *, stated_relations: int) -> str:
    wrong = stated_relations + int(db.one("misplaced_candidates", {"namespace": namespace}))
    for kind, votes, rank, count in db.run("candidate_kinds", {"namespace": namespace}):
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
    """Compare relations with what states them. Both sides come sorted and are merged, so neither is kept in memory."""
    values = {"namespace": namespace}
    expected = (
        (Pair(source, target, type), 0, namespace, (weight, pair_tie_rank(name, source, target)))
        for source, target, type, weight in db.stream("all_pairs", values)
        if source in known and target in known
    )
    stored = (
        (Pair(source, target, type), 1, owner, (weight, rank))
        for source, target, type, owner, weight, rank in db.stream("all_relations", values)
    )
    tally = Tally()
    for _, group in groupby(merge(expected, stored, key=itemgetter(0)), key=itemgetter(0)):
        sides: tuple[list[tuple[Hashable, Any]], ...] = ([], [])
        for _, side, owner, value in group:
            sides[side].append((owner, value))
        tally.compare(*sides)
    return tally.describe("relation", "relations")


def _check_vectors(db: Session, namespace: Namespace) -> str:
    stray = db.one("stray_entity_vectors", {"namespace": namespace})
    return f"{counted(stray, 'vector of a name matches', 'vectors of names match')} no description" if stray else ""
