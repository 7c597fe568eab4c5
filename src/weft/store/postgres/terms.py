"""
Keyword search in PostgreSQL: BM25 over packed postings.

One row of `weft.posting` has the namespace, a term, a block number and the packed entries of the block. A block covers
4,096 consecutive chunk numbers, and has five bytes per chunk that contains the term, in any order. Example: chunk 4,099
has 120 terms and contains `fox` twice; chunk 8,193 has 48 terms and contains it once:

    chunk 4,099 = 1 x 4,096 + 3    term fox, block 1    03 00 02 78 00
    chunk 8,193 = 2 x 4,096 + 1    term fox, block 2    01 00 01 30 00
                                                        |     |  |
                                                        |     |  length of the chunk in terms, 2 bytes, at most 65,535
                                                        |     frequency, at most 255
                                                        place in the block, 2 bytes

A new chunk is appended to the blocks of its terms without reading them; a changed or deleted chunk rewrites its blocks.

A query first reads all postings of its rarer terms. The other terms can add at most `idf x (K1 + 1)` each. If that
lifts no other chunk to the first places, only the blocks of the best candidates are read for them. Example: the query
`the quick axolotl`, with the terms in 900,000, 3,000 and 40 chunks:

    postings of axolotl, quick      3,040 <= MAX_FIRST_POSTINGS, so both terms are read
    tenth best score                9.1
    bound of the remaining terms    idf(the) x (K1 + 1) = 0.2: no chunk with `the` alone is among the ten
"""

from __future__ import annotations

import json
import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import K1, ceiling, idf, term_scores
from weft.records import Filter, Hit, Ranking
from weft.store.postgres.filters import filter_chunks
from weft.store.relational.session import Namespace, Row, Session

CHUNKS_PER_BLOCK = 4_096
"""Chunk numbers of a block. Numbers are shared with documents and entities: some 500 of them are chunks."""

MAX_FIRST_POSTINGS = 20_000
"""Postings of the rarer terms that a query reads at once; more cost more than the check of a bound."""

MAX_JOINT_POSTINGS = 5_000
"""Postings of several terms that are read at once; a statement costs about as much as reading them."""

EXACT_PLACES = 10
"""Number of exact top ranks: common terms are read completely if another chunk could reach them."""

EXTRA_CANDIDATES = 200
"""Candidates beyond the limit for which the common terms are read."""

MAX_SUMMED_SPAN = 2_000_000
"""Chunk numbers of all blocks up to which scores are summed in an array (16 MB), without sorting the numbers."""

REBUILT_CHUNKS = 2_000
"""Chunks whose postings a rebuild writes at once."""

ENTRY = struct.Struct("<HBH")
"""Place in the block, frequency (at most 255), length of the chunk in terms (at most 65,535)."""

_ENTRY_TYPE = np.dtype([("place", "<u2"), ("frequency", "u1"), ("length", "<u2")])

Block = tuple[str, int]
"""Term and number of a block."""


class _Session(Session, Protocol):
    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]: ...

    def known_terms(self, namespace: Namespace) -> dict[str, int]: ...

    def known_postings(self, namespace: Namespace) -> dict[str, list[Row]]: ...


class TermChanges:
    """Collects the changes of a transaction to the postings and applies them once."""

    def __init__(self, db: _Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._counts: Counter[str] = Counter()
        self._removed: dict[Block, set[int]] = defaultdict(set)
        self._added: dict[Block, dict[int, bytes]] = defaultdict(dict)

    def remove(self, number: int, terms: Iterable[str]) -> None:
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        for term in terms:
            self._counts[term] -= 1
            self._removed[term, block].add(place)
            self._added[term, block].pop(place, None)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        for term, frequency in terms.items():
            self._counts[term] += 1
            self._added[term, block][place] = ENTRY.pack(place, min(frequency, 255), min(length, 65_535))

    def blocks(self) -> dict[Block, bytes]:
        """Return the blocks of the added chunks alone."""
        return {at: b"".join(added[place] for place in sorted(added)) for at, added in self._added.items() if added}

    def apply(self) -> None:
        key = {"namespace": self._namespace}
        counts = {term: count for term, count in sorted(self._counts.items()) if count}
        if counts:
            rows = [{"term": term, "chunks": count} for term, count in counts.items()]
            self._db.run("count_term", {**key, "counts": json.dumps(rows, ensure_ascii=False)})
        if any(count < 0 for count in counts.values()):
            self._db.run("drop_terms", key)
        added = self.blocks()
        appended = sorted(added.keys() - self._removed.keys())
        if appended:
            values = {**_columns(appended), "entries": [added[at] for at in appended]}
            self._db.run("append_postings", {**key, **values})
        self._rewrite(added)

    def _rewrite(self, added: Mapping[Block, bytes]) -> None:
        """Write the blocks from which chunks were removed; delete those that became empty."""
        wanted = sorted(self._removed)
        stored = read_blocks(self._db, self._namespace, wanted)
        written, deleted = [], []
        for at in wanted:
            entries = _without(stored.get(at, b""), self._removed[at]) + added.get(at, b"")
            row = {"namespace": self._namespace, "term": at[0], "block": at[1]}
            if entries:
                written.append({**row, "entries": entries})
            elif at in stored:
                deleted.append(row)
        self._db.run_many("write_posting", written)
        self._db.run_many("delete_posting", deleted)


def search(
    db: _Session,
    namespace: Namespace,
    query_terms: Sequence[str],
    *,
    limit: int,
    where: Filter,
    total: int,
    mean_length: float,
    frequencies: Mapping[str, int] | None = None,
) -> Ranking:
    """
    Rank the chunks that pass a filter by BM25. The first `EXACT_PLACES` ranks are exact; ties by id.

    `frequencies` are document frequencies of the whole namespace, if `namespace` is one of its parts.
    """
    terms = list(dict.fromkeys(query_terms))
    counts, first = read_first(db, namespace, terms)
    everywhere = counts if frequencies is None else frequencies
    idfs = {term: idf(everywhere.get(term, 0), total=total) for term in terms}
    known = _rarest_first(counts)
    allowed = filter_chunks(db, namespace, where).numbers() if where else None
    scorer = _Scorer(idfs, mean_length=mean_length, allowed=allowed)
    rarer = known[: _count_rarer(known, counts)]
    common = known[len(rarer) :]
    scorer.add(rarer, first)
    bound = sum(idfs[term] for term in common) * (K1 + 1)
    last = scorer.score_at(min(limit, EXACT_PLACES))
    if common and last >= bound:
        blocks = scorer.keep_best(limit + EXTRA_CANDIDATES, at_least=last - bound)
        scorer.add(common, _read_terms(db, namespace, common, blocks=blocks), is_complete=False)
    elif common:
        scorer.add(common, _read_terms(db, namespace, common))
    hits = _best(db, namespace, scorer, limit=limit)
    return Ranking(hits=hits, ceiling=ceiling(list(idfs.values())))


class _Scorer:
    """Sum of the scores of chunks over terms."""

    def __init__(self, idfs: Mapping[str, float], *, mean_length: float, allowed: NDArray[np.int64] | None) -> None:
        self._idfs = idfs
        self._mean_length = mean_length
        self._allowed = None if allowed is None else np.sort(allowed)
        self.numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        """Numbers of the chunks, ascending."""
        self.scores: NDArray[Any] = np.empty(0)

    def add(self, terms: Sequence[str], postings: Mapping[str, Sequence[Row]], *, is_complete: bool = True) -> None:
        """Add the scores of terms, rarest first. Unless `is_complete`, chunks without a score are left out."""
        numbers, scores = [self.numbers], [self.scores]
        for term in terms:
            found, entries = _unpack(postings.get(term, ()))
            kept = self._is_allowed(found) if is_complete else _is_among(found, self.numbers)
            found, entries = found[kept], entries[kept]
            frequencies, lengths = (entries[name].astype(np.float64) for name in ("frequency", "length"))
            numbers.append(found)
            scores.append(term_scores(frequencies, lengths, weight=self._idfs[term], mean_length=self._mean_length))
        self.numbers, self.scores = _sum(np.concatenate(numbers), np.concatenate(scores))

    def _is_allowed(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.ones(len(numbers), dtype=bool) if self._allowed is None else _is_among(numbers, self._allowed)

    def score_at(self, place: int) -> float:
        """Return the score at a rank, from 1; -1 if there are fewer chunks."""
        if len(self.scores) < place:
            return -1.0
        return float(np.partition(self.scores, len(self.scores) - place)[len(self.scores) - place])

    def keep_best(self, count: int, *, at_least: float = np.inf) -> list[int]:
        """Keep the `count` best chunks, those of equal score and those of a score `at_least`; return their blocks."""
        kept = self.scores >= min(at_least, self.score_at(min(count, len(self.scores))))
        self.numbers, self.scores = self.numbers[kept], self.scores[kept]
        blocks: list[int] = np.unique(self.numbers // CHUNKS_PER_BLOCK).tolist()
        return blocks


def _best(db: Session, namespace: Namespace, scorer: _Scorer, *, limit: int) -> tuple[Hit, ...]:
    if len(scorer.numbers) > limit:
        scorer.keep_best(limit)
    scores: dict[int, float] = dict(zip(scorer.numbers.tolist(), scorer.scores.tolist(), strict=True))
    rows = db.run("chunk_ids", {"namespace": namespace, "numbers": json.dumps(list(scores))}) if scores else []
    ordered = sorted((-scores[number], id) for number, id in rows)
    return tuple(Hit(id, rank, -score) for rank, (score, id) in enumerate(ordered[:limit], start=1))


def count(db: Session, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
    """Return the number of chunks that contain each term; absent terms are left out."""
    values = {"namespace": namespace, "terms": json.dumps(sorted(terms), ensure_ascii=False)}
    return dict(db.run("term_counts", values)) if terms else {}


def find_chunks_with_terms(
    db: _Session, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
) -> dict[str, set[int]]:
    """
    Return, for each entry of `wanted`, the numbers of the chunks that contain a term of each of its groups.

    All postings of the group with the lowest document frequency are read, then only the blocks of the remaining
    chunks. A statement serves one group of every entry. A few postings are read at once.
    """
    counts = db.count_terms(namespace, {term for groups in wanted.values() for group in groups for term in group})
    groups: dict[str, list[list[str]]] = {}
    for name, some in wanted.items():
        known = [[term for term in sorted(group) if term in counts] for group in some if group]
        if known and all(known):
            groups[name] = sorted(known, key=lambda group: sum(counts[term] for term in group))
    first = {term for known in groups.values() for term in known[0]}
    every = {term for known in groups.values() for group in known for term in group}
    is_small = sum(counts[term] for term in every - db.known_postings(namespace).keys()) <= MAX_JOINT_POSTINGS
    postings = _read_terms(db, namespace, sorted(every if is_small else first)) if first else {}
    found: dict[str, set[int]] = {name: set() for name in wanted}
    for name, known in groups.items():
        found[name] = {number for term in known[0] for number in _numbers(postings.get(term, ()))}
    for level in range(1, max((len(known) for known in groups.values()), default=0)):
        left = {name: known[level] for name, known in groups.items() if level < len(known) and found[name]}
        blocks = {
            (term, number // CHUNKS_PER_BLOCK)
            for name, group in left.items()
            for term in group
            if term not in postings
            for number in found[name]
        }
        by_term = defaultdict[str, list[Row]](list, postings)
        for (term, block), entries in read_blocks(db, namespace, sorted(blocks)).items():
            by_term[term].append((block, entries))
        for name, group in left.items():
            found[name] &= {number for term in group for number in _numbers(by_term[term])}
    return found


def are_sound(db: _Session, namespace: Namespace) -> bool:
    """Return True if the postings match the terms of the chunks."""
    changes = TermChanges(db, namespace=namespace)
    counts: Counter[str] = Counter()
    for number, text, length in db.stream("all_terms", {"namespace": namespace}):
        terms = json.loads(text)
        counts.update(terms.keys())
        changes.add(number, terms, length=length)
    rows = db.run_binary("all_postings", {"namespace": namespace})
    stored = {(term, block): _ordered(entries) for term, block, entries in rows}
    return stored == changes.blocks() and dict(db.run("all_term_counts", {"namespace": namespace})) == dict(counts)


def rebuild(db: _Session, namespace: Namespace) -> int:
    """Build the keyword index again from the terms of the chunks; return the number of chunks."""
    rows = db.run("all_terms", {"namespace": namespace})
    for name in ("delete_postings", "delete_terms"):
        db.run(name, {"namespace": namespace})
    remaining = iter(rows)
    while some := list(islice(remaining, REBUILT_CHUNKS)):
        changes = TermChanges(db, namespace=namespace)
        for number, terms, length in some:
            changes.add(number, json.loads(terms), length=length)
        changes.apply()
    return len(rows)


def read_blocks(db: _Session, namespace: Namespace, wanted: Sequence[Block]) -> dict[Block, bytes]:
    """Return the stored blocks among the wanted ones."""
    rows = db.run_binary("postings_at", {"namespace": namespace, **_columns(wanted)}) if wanted else []
    return {(term, block): entries for term, block, entries in rows}


def read_first(
    db: _Session, namespace: Namespace, terms: Sequence[str]
) -> tuple[dict[str, int], Mapping[str, Sequence[Row]]]:
    """Return the number of chunks of each known term, and at least the postings of the rarer ones (`_count_rarer`)."""
    known, postings = db.known_terms(namespace), db.known_postings(namespace)
    missing = [term for term in terms if term not in known]
    if missing:
        values = {"namespace": namespace, "terms": list(terms), "most": MAX_FIRST_POSTINGS}
        rows = db.run_binary("first_postings", values)
        known |= dict.fromkeys(missing, 0) | {term: chunks for term, chunks, _, _ in rows}
        postings |= {term: [] for term, _, block, _ in rows if block is not None}
        for term, _, block, entries in rows:
            if block is not None:
                postings[term].append((block, entries))
    counts = {term: known[term] for term in terms if known[term]}
    ordered = _rarest_first(counts)
    return counts, _read_terms(db, namespace, ordered[: _count_rarer(ordered, counts)]) if not missing else postings


def _read_terms(
    db: _Session, namespace: Namespace, terms: Sequence[str], *, blocks: Sequence[int] | None = None
) -> dict[str, list[Row]]:
    """Return block number and entries of the blocks of each term: of all blocks, or at least of some."""
    known = db.known_postings(namespace)
    missing = [term for term in terms if term not in known]
    found: dict[str, list[Row]] = {term: known.get(term, []) for term in terms}
    values = {"namespace": namespace, "terms": missing, "every": blocks is None, "blocks": list(blocks or ())}
    for term, block, entries in db.run_binary("postings_of", values) if missing else ():
        found[term].append((block, entries))
    if blocks is None:
        known |= found
    return found


def _rarest_first(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda term: (counts[term], term))


def _count_rarer(known: Sequence[str], counts: Mapping[str, int]) -> int:
    """Return the number of terms, rarest first, whose postings a query reads at once; at least one."""
    read = 0
    for place, term in enumerate(known):
        read += counts[term]
        if place and read > MAX_FIRST_POSTINGS:
            return place
    return len(known)


def _columns(blocks: Sequence[Block]) -> dict[str, list[Any]]:
    return {"terms": [term for term, _ in blocks], "blocks": [block for _, block in blocks]}


def _unpack(rows: Sequence[Row]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the chunk numbers of the entries of blocks, and the entries."""
    entries = np.frombuffer(b"".join(blob for _, blob in rows), dtype=_ENTRY_TYPE)
    counts = [len(blob) // ENTRY.size for _, blob in rows]
    first = np.repeat(np.array([block for block, _ in rows], dtype=np.int64) * CHUNKS_PER_BLOCK, counts)
    return first + entries["place"], entries


def _sum(numbers: NDArray[np.int64], scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """
    Return the distinct numbers, ascending, with the sums of their scores, which are positive.

    The numbers of a namespace may be spread over those of many others, so only its own blocks are given space.
    """
    if not len(numbers):
        return numbers, scores
    blocks = numbers // CHUNKS_PER_BLOCK
    low = int(blocks.min())
    blocks -= low
    span = int(blocks.max()) + 1
    used = np.flatnonzero(np.bincount(blocks)) if span <= MAX_SUMMED_SPAN else blocks
    if len(used) * CHUNKS_PER_BLOCK <= MAX_SUMMED_SPAN:
        ranks = np.zeros(span, dtype=np.int64)
        ranks[used] = np.arange(len(used))
        sums = np.bincount(ranks[blocks] * CHUNKS_PER_BLOCK + numbers % CHUNKS_PER_BLOCK, weights=scores)
        slots = np.flatnonzero(sums)
        return (used[slots // CHUNKS_PER_BLOCK] + low) * CHUNKS_PER_BLOCK + slots % CHUNKS_PER_BLOCK, sums[slots]
    distinct, slots = np.unique(numbers, return_inverse=True)
    return distinct, np.bincount(slots, weights=scores)


def _is_among(numbers: NDArray[np.int64], ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the numbers are among others; quicker than `np.isin`, which sorts both."""
    if not len(ascending):
        return np.zeros(len(numbers), dtype=bool)
    found: NDArray[np.bool_] = ascending[np.searchsorted(ascending[:-1], numbers)] == numbers
    return found


def _numbers(rows: Sequence[Row]) -> list[int]:
    numbers: list[int] = _unpack(rows)[0].tolist()
    return numbers


def _without(entries: bytes, places: Collection[int]) -> bytes:
    """Return a block without some places."""
    read = np.frombuffer(entries, dtype=_ENTRY_TYPE)
    return read[~np.isin(read["place"], list(places))].tobytes()


def _ordered(entries: bytes) -> bytes:
    """Return a block in the order of places."""
    return np.sort(np.frombuffer(entries, dtype=_ENTRY_TYPE), order="place").tobytes()
