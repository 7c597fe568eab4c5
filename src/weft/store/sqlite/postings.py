"""
Packed postings: the keyword index inside the SQLite file.

One row of `posting` has the namespace, a term, a block number and a blob. A block covers 256 consecutive chunk numbers,
and the blob has four bytes per chunk that contains the term, ordered by place. Example: chunk 259 has 120 terms and
contains `fox` twice; chunk 513 has 48 terms and contains it once:

    chunk 259 = 1 x 256 + 3    term fox, block 1    03 02 78 00
    chunk 513 = 2 x 256 + 1    term fox, block 2    01 01 30 00
                                                    |  |  |
                                                    |  |  length of the chunk in terms, 2 bytes, at most 65,535
                                                    |  frequency, at most 255
                                                    place in the block

A write reads and replaces the blocks of its terms. A query reads all blocks of a term and scores them with numpy.

FTS5 is not used. It ranks by the statistics of its whole table, so one namespace would change the scores of another.
It is also slower. Figures: docs/decisions/0003-keyword-index.md.
"""

from __future__ import annotations

import json
import math
import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import ceiling, idf, term_scores
from weft.records import Filter, Ranking
from weft.store.relational.session import Namespace, Session
from weft.store.shared.blobs import read_entries
from weft.store.sqlite.candidates import allowed_chunks, best_chunks

CHUNKS_PER_BLOCK = 256

ENTRY = struct.Struct("<BBH")
"""Place in the block, frequency (at most 255), length of the chunk in terms (at most 65,535)."""

_ENTRY_TYPE = np.dtype([("place", "u1"), ("frequency", "u1"), ("length", "<u2")])


class TermChanges:
    """Collects the changes of a transaction to the postings and applies them once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._removed: dict[tuple[str, int], set[int]] = defaultdict(set)
        self._added: dict[tuple[str, int], dict[int, bytes]] = defaultdict(dict)
        self._numbers: set[int] = set()

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Remove a chunk from the postings of `terms`."""
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        self._numbers.discard(number)
        for term in terms:
            self._removed[term, block].add(place)
            self._added[term, block].pop(place, None)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Add a chunk to the postings of `terms`, a mapping of terms to frequencies."""
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        self._numbers.add(number)
        size = min(length, 65_535)
        once = ENTRY.pack(place, 1, size)
        added = self._added
        for term, frequency in terms.items():  # hot loop: most terms occur once
            entry = once if frequency == 1 else ENTRY.pack(place, min(frequency, 255), size)
            added[term, block][place] = entry

    def blocks(self) -> dict[tuple[str, int], bytes]:
        """Return the blocks of the added chunks alone, by term and block number."""
        return {key: merge_entries(b"", removed=None, added=added) for key, added in self._added.items()}

    def apply(self) -> None:
        """Write the changed blocks and the document frequencies of their terms; delete empty blocks."""
        counts: Counter[str] = Counter()
        key = {"namespace": self._namespace}
        written, deleted = [], []
        stored = self._read_blocks()
        for at in sorted(self._removed.keys() | self._added.keys()):
            term, block = at
            old = stored.get(at, b"")
            entries = merge_entries(old, removed=self._removed.get(at), added=self._added.get(at, {}))
            if entries:
                written.append({"namespace": self._namespace, "term": term, "block": block, "entries": entries})
            elif old:
                deleted.append({**key, "term": term, "block": block})
            counts[term] += (len(entries) - len(old)) // ENTRY.size
        self._db.run_many("write_posting", written)
        self._db.run_many("delete_posting", deleted)
        rows = [{**key, "term": term, "chunks": change} for term, change in counts.items() if change]
        self._db.run_many("add_term", rows)
        self._db.run_many("drop_term", [{**key, "term": term} for term, change in counts.items() if change < 0])
        self._db.run_many("number_terms", [{**key, "chunk": number} for number in sorted(self._numbers)])

    def _read_blocks(self) -> dict[tuple[str, int], bytes]:
        """Return the stored blocks that change, by term and block number. One statement reads all terms of a block."""
        terms: dict[int, list[str]] = defaultdict(list)
        for term, block in self._removed.keys() | self._added.keys():
            terms[block].append(term)
        found: dict[tuple[str, int], bytes] = {}
        for block, wanted in sorted(terms.items()):
            values = {"namespace": self._namespace, "block": block}
            rows = self._db.run("read_block", {**values, "terms": json.dumps(sorted(wanted), ensure_ascii=False)})
            found.update(((term, block), entries) for term, entries in rows)
        return found


def merge_entries(old: bytes, *, removed: set[int] | None, added: Mapping[int, bytes]) -> bytes:
    """Return a block without the places in `removed` and with the entries in `added`, ordered by place."""
    if not removed and added and (not old or min(added) > old[-ENTRY.size]):
        return old + b"".join([added[place] for place in sorted(added)])
    kept = {old[i]: old[i : i + ENTRY.size] for i in range(0, len(old), ENTRY.size)}
    for place in removed or ():
        kept.pop(place, None)
    kept |= added
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
    """Rank the chunks that pass a filter by BM25, adding up all postings of each term."""
    postings = [
        _unpack(db.run("term_postings", {"namespace": namespace, "term": term})) for term in dict.fromkeys(terms)
    ]
    weights = [idf(len(numbers), total=total) for numbers, _, _ in postings]
    highest = max((int(numbers[-1]) for numbers, _, _ in postings if len(numbers)), default=-1)
    scores = np.zeros(highest + 1)
    for weight, (numbers, frequency, lengths) in zip(weights, postings, strict=True):
        scores[numbers] += term_scores(frequency, lengths, weight=weight, mean_length=mean_length)
    allowed = allowed_chunks(db, namespace, where)
    if allowed is not None:
        keep = np.zeros(highest + 1, dtype=bool)
        keep[[number for number in allowed if number <= highest]] = True
        scores = np.where(keep, scores, 0.0)
    return Ranking(hits=best_chunks(db, namespace, scores, limit=limit, least=0.0), ceiling=ceiling(weights))


def read_postings(db: Session, namespace: Namespace) -> dict[tuple[str, int], bytes]:
    """Return the stored blocks of a namespace, by term and block number."""
    rows = db.run("all_postings", {"namespace": namespace})
    return {(term, block): entries for term, block, entries in rows}


def derive_postings(db: Session, namespace: Namespace) -> dict[tuple[str, int], bytes]:
    """Return the blocks that the terms of the chunks imply, by term and block number."""
    changes = TermChanges(db, namespace=namespace)
    for number, terms, length in db.run("all_terms", {"namespace": namespace}):
        changes.add(number, json.loads(terms), length=length)
    return changes.blocks()


def document_frequencies(postings: Mapping[tuple[str, int], bytes]) -> dict[str, int]:
    """Return the number of chunks that contain each term (document frequency)."""
    counts: Counter[str] = Counter()
    for (term, _), entries in postings.items():
        counts[term] += len(entries) // ENTRY.size
    return dict(counts)


def find_chunks_with_terms(
    db: Session,
    *,
    namespace: Namespace,
    groups: Sequence[Collection[str]],
    counts: Mapping[str, int],
    before: float = math.inf,
) -> set[int]:
    """
    Return the numbers `before` a limit of the chunks that contain a term of every group.

    `counts` are the document frequencies.

    All blocks of the rarest group are read, then only the blocks of the remaining chunks.
    """
    by_frequency = sorted((sum(counts.get(term, 0) for term in group), sorted(group)) for group in groups if group)
    if not all(count for count, _ in by_frequency):
        return set()
    found: set[int] | None = None
    for _, group in by_frequency:
        matching: set[int] = set()
        for term in filter(counts.get, group):
            key = {"namespace": namespace, "term": term}
            if found is None:
                rows = db.run("term_postings", key)
                matching.update(
                    number
                    for block, entries in rows
                    if CHUNKS_PER_BLOCK * block < before
                    for place in entries[:: ENTRY.size]
                    if (number := CHUNKS_PER_BLOCK * block + place) < before
                )
            else:
                blocks = json.dumps(sorted({number // CHUNKS_PER_BLOCK for number in found}))
                matching |= _contained(found, db.run("term_blocks", {**key, "blocks": blocks}))
        found = matching
        if not found:
            break
    return found or set()


def _contained(numbers: Collection[int], rows: Sequence[tuple[int, bytes]]) -> set[int]:
    """Return the numbers that occur in the blocks."""
    places = {block: entries[:: ENTRY.size] for block, entries in rows}
    return {number for number in numbers if number % CHUNKS_PER_BLOCK in places.get(number // CHUNKS_PER_BLOCK, b"")}


def _unpack(
    rows: Sequence[tuple[int, bytes]],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return chunk number, frequency and chunk length of each entry of the blocks."""
    entries = read_entries([blob for _, blob in rows], _ENTRY_TYPE)
    return _numbers(rows), entries["frequency"].astype(np.float64), entries["length"].astype(np.float64)


def _numbers(rows: Sequence[tuple[int, bytes]]) -> NDArray[np.int64]:
    """Return the chunk number of each entry of the blocks."""
    entries = read_entries([blob for _, blob in rows], _ENTRY_TYPE)
    counts = [len(blob) // ENTRY.size for _, blob in rows]
    blocks = np.repeat([block for block, _ in rows], counts).astype(np.int64)
    numbers: NDArray[np.int64] = blocks * CHUNKS_PER_BLOCK + entries["place"]
    return numbers
