"""
Which chunks hold a term, packed: blocks of 256 consecutive chunk numbers, four bytes per chunk.

FTS5 ranks by the statistics of its whole table, so one namespace would move another's scores, and its tables
take seconds where these take milliseconds: docs/decisions/0003-keyword-index.md has the figures.
"""

from __future__ import annotations

import json
import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import ceiling, idf, term_scores
from weft.records import Filter, Ranking
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.blobs import read_entries
from weft.store.sqlite.candidates import allowed_chunks, best_chunks

BLOCK = 256
ENTRY = struct.Struct("<BBH")
"""Place in the block, frequency (at most 255), length of the chunk in terms (at most 65,535)."""

_DTYPE = np.dtype([("place", "u1"), ("frequency", "u1"), ("length", "<u2")])


class TermChanges:
    """Collects what a transaction takes out of the postings and puts in, and applies it once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._gone: dict[tuple[str, int], set[int]] = defaultdict(set)
        self._new: dict[tuple[str, int], dict[int, bytes]] = defaultdict(dict)
        self._numbers: set[int] = set()

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Take a chunk out of the postings of `terms`."""
        block, place = divmod(number, BLOCK)
        self._numbers.discard(number)
        for term in terms:
            self._gone[term, block].add(place)
            self._new[term, block].pop(place, None)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Put a chunk into the postings of `terms`."""
        block, place = divmod(number, BLOCK)
        self._numbers.add(number)
        for term, frequency in terms.items():
            self._new[term, block][place] = ENTRY.pack(place, min(frequency, 255), min(length, 65_535))

    def blocks(self) -> dict[tuple[str, int], bytes]:
        """Return the blocks that what was added makes on its own, by term and block number."""
        return {key: merge_entries(b"", gone=None, new=new) for key, new in self._new.items()}

    def apply(self) -> None:
        """Write the changed blocks, of which an emptied one is deleted, and how many chunks hold each term."""
        counts: Counter[str] = Counter()
        for term, block in sorted(self._gone.keys() | self._new.keys()):
            key = {"namespace": self._namespace, "term": term, "block": block}
            old = self._db.one("read_posting", key) or b""
            entries = merge_entries(old, gone=self._gone.get((term, block)), new=self._new.get((term, block), {}))
            if entries:
                self._db.run("write_posting", {**key, "entries": entries})
            elif old:
                self._db.run("delete_posting", key)
            counts[term] += (len(entries) - len(old)) // ENTRY.size
        key = {"namespace": self._namespace}
        self._db.run_many("add_term", [{**key, "term": term, "chunks": more} for term, more in counts.items() if more])
        self._db.run_many("drop_term", [{**key, "term": term} for term, more in counts.items() if more < 0])
        self._db.run_many("number_terms", [{**key, "chunk": number} for number in sorted(self._numbers)])


def merge_entries(old: bytes, *, gone: set[int] | None, new: Mapping[int, bytes]) -> bytes:
    """Return a block without the places in `gone` and with those in `new`, in order of place."""
    if not gone and new and (not old or min(new) > old[-ENTRY.size]):
        return old + b"".join(new[place] for place in sorted(new))
    kept = {old[i]: old[i : i + ENTRY.size] for i in range(0, len(old), ENTRY.size)}
    for place in gone or ():
        kept.pop(place, None)
    kept |= new
    return b"".join(kept[place] for place in sorted(kept))


def search_postings(
    db: Session,
    namespace: Namespace,
    terms: Sequence[str],
    *,
    limit: int,
    where: Filter,
    total: int,
    mean_length: float,
) -> Ranking:
    """Rank chunks by BM25, adding up the postings of each term."""
    held = [_unpack(db.run("term_postings", {"namespace": namespace, "term": term})) for term in dict.fromkeys(terms)]
    weights = [idf(len(numbers), total=total) for numbers, _, _ in held]
    highest = max((int(numbers[-1]) for numbers, _, _ in held if len(numbers)), default=-1)
    scores = np.zeros(highest + 1)
    for weight, (numbers, frequency, lengths) in zip(weights, held, strict=True):
        scores[numbers] += term_scores(frequency, lengths, weight=weight, mean_length=mean_length)
    allowed = allowed_chunks(db, namespace, where)
    if allowed is not None:
        keep = np.zeros(highest + 1, dtype=bool)
        keep[[number for number in allowed if number <= highest]] = True
        scores = np.where(keep, scores, 0.0)
    return Ranking(hits=best_chunks(db, namespace, scores, limit=limit, least=0.0), ceiling=ceiling(weights))


def read_postings(db: Session, namespace: Namespace) -> dict[tuple[str, int], bytes]:
    """Return all blocks of a namespace, by term and block number."""
    rows = db.run("all_postings", {"namespace": namespace})
    return {(term, block): entries for term, block, entries in rows}


def derive_postings(db: Session, namespace: Namespace) -> dict[tuple[str, int], bytes]:
    """Return what they must be, from the chunks' own terms."""
    changes = TermChanges(db, namespace=namespace)
    for number, terms, length in db.run("all_terms", {"namespace": namespace}):
        changes.add(number, json.loads(terms), length=length)
    return changes.blocks()


def count_holders(postings: Mapping[tuple[str, int], bytes]) -> dict[str, int]:
    """Return how many chunks hold each term."""
    counts: Counter[str] = Counter()
    for (term, _), entries in postings.items():
        counts[term] += len(entries) // ENTRY.size
    return dict(counts)


def find_holders(db: Session, *, namespace: Namespace, groups: Sequence[Collection[str]]) -> set[int]:
    """Return the numbers of the chunks that hold a term of every group; the rarest decides what is read."""
    counts = db.count_terms(namespace, {term for group in groups for term in group})
    held_by = [(sum(counts.get(term, 0) for term in group), sorted(group)) for group in groups if group]
    if not all(count for count, _ in held_by):
        return set()
    found: set[int] | None = None
    for _, group in sorted(held_by):
        held: set[int] = set()
        for term in filter(counts.get, group):
            key = {"namespace": namespace, "term": term}
            if found is None:
                rows = db.run("term_postings", key)
                held.update(BLOCK * block + place for block, entries in rows for place in entries[:: ENTRY.size])
            else:
                blocks = json.dumps(sorted({number // BLOCK for number in found}))
                held |= _among(found, db.run("term_blocks", {**key, "blocks": blocks}))
        found = held
        if not found:
            break
    return found or set()


def _among(numbers: Collection[int], rows: Sequence[tuple[int, bytes]]) -> set[int]:
    """Return those of some numbers that blocks hold."""
    places = {block: entries[:: ENTRY.size] for block, entries in rows}
    return {number for number in numbers if number % BLOCK in places.get(number // BLOCK, b"")}


def _unpack(
    rows: Sequence[tuple[int, bytes]],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return number, frequency and length of each entry of blocks."""
    entries = read_entries([row[1] for row in rows], _DTYPE)
    return _numbers(rows), entries["frequency"].astype(np.float64), entries["length"].astype(np.float64)


def _numbers(rows: Sequence[tuple[int, bytes]]) -> NDArray[np.int64]:
    """Return the number of each entry of blocks."""
    entries = read_entries([row[1] for row in rows], _DTYPE)
    blocks = np.repeat([row[0] for row in rows], [len(row[1]) // ENTRY.size for row in rows]).astype(np.int64)
    numbers: NDArray[np.int64] = blocks * BLOCK + entries["place"]
    return numbers
