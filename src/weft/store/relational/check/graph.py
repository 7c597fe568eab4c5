"""
Whether the graph is what the documents say, and deriving it anew where it is not.

What documents and imports nominate and claim, and what the user said, is the source. Everything else is derived
here a second time, a slice at a time: what is kept in memory grows with the entities, not with the text.
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

from weft.extract.mentions import MAX_SUPPORT, Named, derived_weight, read_names
from weft.extract.names import candidate_keys, words
from weft.graph.entity_resolution import KIND_RANKS, Standing, follow, vote
from weft.records import Problem
from weft.store.relational.graph_mentions import read_subjects, read_texts
from weft.store.relational.graph_write import GraphChanges, Pair, slices
from weft.store.relational.session import Namespace, Session
from weft.store.shared.merging import pair_tie_rank, tie_rank
from weft.text.ids import entity_id

CHUNKS = 256
"""Chunks whose text is in memory at once."""

Rows: TypeAlias = Iterable[tuple[Hashable, Any]]
"""What a row is about, and what it says."""


GRAPH_TABLES = ("nomination", "claim", "mention", "relation", "entity_vector")
"""Tables whose rows mean nothing without the row they belong to."""


def find_graph_problems(db: Session, namespace: Namespace, name: str) -> list[Problem]:
    """Return what contradicts the documents in the graph of a namespace, in plain words. Reads only."""
    known = _derive_entities(GraphChanges(db, namespace=namespace, name=name))
    seen = _Chunks()
    for rows in slices(db.stream("all_chunk_numbers", {"namespace": namespace}), CHUNKS):
        seen.compare(db, [number for (number,) in rows], namespace=namespace, known=known)
    lines = [
        _check_statements(db, namespace, claims=seen.misplaced),
        *_check_entities(db, namespace, name, known=known, counts=seen.counts),
        seen.mentions.say("mention", "mentions"),
        seen.claims.say("derived claim", "derived claims"),
        _check_relations(db, namespace, name, known=known),
        _check_vectors(db, namespace),
    ]
    return [Problem(where=f"namespace {name!r}", what=line, repairable=True) for line in lines if line]


def rebuild_graph(db: Session, namespace: Namespace, name: str) -> None:
    """Make the graph of a namespace exactly what its documents and edits give. Inside a transaction."""
    db.run("delete_stray_entity_vectors", {"namespace": namespace})
    GraphChanges(db, namespace=namespace, name=name).rebuild()


def restore_statements(db: Session, namespace: Namespace) -> int:
    """Make nominations and claims fit chunk and kind; return how many did not."""
    before = db.total_changes()
    values = {"namespace": namespace}
    db.run("place_nominations", values)
    for kind, rank in KIND_RANKS.items():
        db.run("set_kind", {**values, "kind": kind, "vote": vote(kind), "rank": rank})
    for rows in slices(db.stream("all_chunk_numbers", values)):
        numbers = json.dumps([number for (number,) in rows])
        for number, id in db.run("chunk_ids", {**values, "numbers": numbers}):
            db.run("place_claims", {**values, "chunk": number, "place": tie_rank(id)})
    return db.total_changes() - before


# ── comparing ───────────────────────────────────────────────────────────────────────────────────


@dataclass
class Tally:
    """How many rows are not as they should be."""

    missing: int = 0
    wrong: int = 0
    extra: int = 0

    def compare(self, expected: Rows, found: Rows) -> None:
        """Count the rows that are only in one of two, or in both but with other values."""
        left = dict(expected)
        for at, value in found:
            if at not in left:
                self.extra += 1
            elif left.pop(at) != value:
                self.wrong += 1
        self.missing += len(left)

    def say(self, one: str, many: str) -> str:
        """Return `12 mentions are missing, 3 are wrong`; empty when all is well."""
        said = ""
        for count, is_one, are_many in (
            (self.missing, "is missing", "are missing"),
            (self.wrong, "is wrong", "are wrong"),
            (self.extra, "should not be there", "should not be there"),
        ):
            if count:
                names = ("", "") if said else (f"{one} ", f"{many} ")
                said += (", " if said else "") + counted(count, names[0] + is_one, names[1] + are_many)
        return said


class _Chunks:
    """What the chunks read so far mention and what follows from it, against what is stored."""

    def __init__(self) -> None:
        self.mentions, self.claims = Tally(), Tally()
        self.counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """By key, in how many places and in how many chunks it is mentioned."""
        self.misplaced = 0
        """Claims that do not carry the namespace and the place of their chunk."""

    def compare(
        self, db: Session, numbers: Collection[int], *, namespace: Namespace, known: Mapping[str, Standing]
    ) -> None:
        """Derive what these chunks mention, and compare it with what is stored of them."""
        mentions: dict[tuple[int, Namespace, str], tuple[int, bool, int]] = {}
        claims: dict[tuple[int, str, str, str], tuple[float, str]] = {}
        texts = read_texts(db, numbers, namespace=namespace)
        subjects = read_subjects(db, numbers, namespace=namespace)
        for chunk, (text, id) in texts.items():
            about = subjects[chunk]
            named = _read(text, about=about, known=known)
            for key, count in named.counts.items():
                mentions[chunk, namespace, key] = (count, key in about, tie_rank(id))
                self.counts[key][0] += count
                self.counts[key][1] += 1
            claims |= {(chunk, c.source, c.target, c.type): (c.weight, c.description) for c in named.claims}
        chunks = json.dumps(list(numbers))
        stored = db.run("all_mentions_in", {"namespace": namespace, "chunks": chunks})
        self.mentions.compare(mentions.items(), ((row[:3], (row[3], bool(row[4]), row[5])) for row in stored))
        stored = db.run("all_derived_claims_in", {"namespace": namespace, "chunks": chunks})
        self.claims.compare(claims.items(), ((row[:4], row[4:]) for row in stored))
        places = json.dumps([(chunk, tie_rank(id)) for chunk, (_, id) in texts.items()])
        self.misplaced += db.one("misplaced_claims", {"namespace": namespace, "places": places})


def _read(text: str, *, about: Collection[str], known: Mapping[str, Standing]) -> Named:
    found = words(text) if known else []
    mine = {key for key in candidate_keys(found) | set(about) if key in known}
    return read_names(text, known=mine, about=about, found=found)


def _derive_entities(changes: GraphChanges) -> dict[str, Standing]:
    """Return what is an entity by all documents and edits."""
    found: dict[str, Standing] = {}
    for keys in changes.all_keys():
        found |= {key: standing for key, standing in changes.standings(keys).items() if standing.exists}
    return found


def _check_statements(db: Session, namespace: Namespace, *, claims: int) -> str:
    wrong = claims + int(db.one("misplaced_nominations", {"namespace": namespace}))
    for kind, votes, rank, count in db.run("nomination_kinds", {"namespace": namespace}):
        if kind in KIND_RANKS and (votes, rank) != (vote(kind), KIND_RANKS[kind]):
            wrong += count
    return f"{counted(wrong, 'statement does', 'statements do')} not fit chunk or kind" if wrong else ""


def _check_entities(
    db: Session, namespace: Namespace, name: str, *, known: Mapping[str, Standing], counts: Mapping[str, list[int]]
) -> Iterator[str]:
    tally, miscounted, misled = Tally(), 0, 0
    same_as = {key: standing.same_as for key, standing in known.items()}
    rows = db.run("all_entities", {"namespace": namespace})
    keys = {number: key for number, _, key, *_ in rows}
    expected = ((key, (entity_id(name, key), s.strong, s.same_as, s.reason)) for key, s in known.items())
    stored = ((key, (id, bool(strong), target, reason)) for _, id, key, strong, target, reason, *_ in rows)
    tally.compare(expected, stored)
    for _, _, key, _, _, _, mentions, chunks, head in rows:
        if key in known:
            miscounted += [mentions, chunks] != counts.get(key, [0, 0])
            misled += keys.get(head) != follow(key, same_as)
    yield tally.say("entity", "entities")
    if miscounted:
        yield counted(miscounted, "entity counts its", "entities count their") + " mentions wrong"
    if misled:
        yield counted(misled, "entity is", "entities are") + " read under the wrong one"


def _check_relations(db: Session, namespace: Namespace, name: str, *, known: Mapping[str, Standing]) -> str:
    """Compare relations with the claims they rest on; both sides come sorted, so that neither has to be kept."""
    values = {"namespace": namespace}
    expected = (
        ((source, target, type), 0, namespace, _weighed(name, (source, target, type), support, weight))
        for source, target, type, support, weight in db.stream("all_pairs", values)
        if source in known and target in known
    )
    stored = (
        ((source, target, type), 1, other, (weight, support, at))
        for source, target, type, other, weight, support, at in db.stream("all_relations", values)
    )
    tally = Tally()
    for _, group in groupby(merge(expected, stored, key=itemgetter(0)), key=itemgetter(0)):
        sides: tuple[list[tuple[Hashable, Any]], ...] = ([], [])
        for _, side, owner, value in group:
            sides[side].append((owner, value))
        tally.compare(*sides)
    return tally.say("relation", "relations")


def _weighed(name: str, pair: Pair, support: int, weight: float | None) -> tuple[float, int, int]:
    """Return weight, support and place of a relation that so many chunks bear out; `weight` is what somebody gave."""
    support = min(support, MAX_SUPPORT)
    if weight is None:
        weight = derived_weight(pair[2], support=support)
    return weight, support, pair_tie_rank(name, pair[0], pair[1])


def _check_vectors(db: Session, namespace: Namespace) -> str:
    stray = db.one("stray_entity_vectors", {"namespace": namespace})
    return f"{counted(stray, 'vector of a name fits', 'vectors of names fit')} no description" if stray else ""


def counted(count: int, one: str, many: str) -> str:
    """Return `1 row` or `3 rows`."""
    return f"{count:,} {one if count == 1 else many}"
