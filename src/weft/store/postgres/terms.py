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

A write only appends the numbers of its chunks (`deltas`). Later the entries of many chunks are added to their blocks at
once (`BlockChanges`): a new chunk is appended without reading them, a changed or deleted one rewrites its blocks. Until
then, queries read the terms of these chunks from their rows (`PendingTerms`).

A query first reads all postings of its rarer terms. The rows of the best candidates then give the frequencies of the
common terms (`chunk.terms`). A common term adds at most `idf x (K1 + 1)`, which bounds the scores of all other chunks.
Example: the query `the quick axolotl`, with the terms in 900,000, 3,000 and 40 chunks:

    postings of axolotl, quick      3,040 <= MIN_FIRST_POSTINGS, so both terms are read
    rows of the best 160 chunks     frequencies of `the`; the tenth best score is 9.1
    bound of the common terms       idf(the) x (K1 + 1) = 0.2: no chunk with `the` alone is among the ten
    rows of chunks from 8.9 on      those that were not among the 160

If too many chunks could be among the best, the postings of the next term are read, rarest first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import K1, ceiling, idf, term_scores
from weft.records import Filter, Hit, KeywordStatistics, Ranking
from weft.store.postgres.blocks import (
    CHUNKS_PER_BLOCK,
    ENTRY,
    ENTRY_TYPE,
    MAX_FREQUENCY,
    MAX_LENGTH,
    Block,
    read_blocks,
)
from weft.store.postgres.filters import FilterSession, filter_chunks
from weft.store.relational.session import Namespace, NamespaceRow, Row, Session

MIN_FIRST_POSTINGS, FIRST_POSTINGS_SHARE = 100_000, 0.25
"""
Postings of the rarer terms that a query reads at once: as many, or this share of the chunks of the namespace.

More cost more than the rows of the best candidates, fewer leave too many candidates.
"""

MAX_JOINT_POSTINGS = 5_000
"""Postings of several terms that are read at once; a statement costs about as much as reading them."""

EXTRA_CANDIDATES = 150
"""Rows that are read at first beyond the limit. The common terms change the order of the last ranks."""

POSTINGS_PER_ROW = 300
"""Postings that cost as much as the row of a candidate: with many candidates, the next term is read instead."""

MAX_EXPECTED = 100
"""Chunks that may still be among the best after reading the postings of further terms with one statement."""

MAX_TABLE_SIZE = 1 << 26
"""Range of chunk numbers up to which a table with a byte for each number is used."""


class Postings(NamedTuple):
    """Blocks of a term, one after the other."""

    blocks: Sequence[int]
    """Numbers of the blocks."""
    sizes: Sequence[int]
    """Bytes of the blocks."""
    entries: bytes


NO_POSTINGS = Postings((), (), b"")


class PendingTerms(NamedTuple):
    """Changes of the postings of a term that are not in its blocks yet."""

    added: Postings
    removed: NDArray[np.int64]
    """Numbers of chunks whose entries in the blocks are outdated, ascending."""

    def apply(self, stored: Postings) -> Postings:
        """Return the postings of a term from those in its blocks."""
        kept = stored
        if len(self.removed) and stored.entries:
            numbers, entries = _unpack([stored])
            places = np.flatnonzero(~is_among(numbers, self.removed))
            kept = _pack(numbers[places], entries[places])
        return Postings(
            [*kept.blocks, *self.added.blocks], [*kept.sizes, *self.added.sizes], kept.entries + self.added.entries
        )


NOTHING_PENDING = PendingTerms(NO_POSTINGS, np.empty(0, dtype=np.int64))


class KnownTerms(NamedTuple):
    """Terms that a snapshot has read."""

    counts: dict[str, int]
    """Document frequencies, 0 for absent terms."""
    postings: dict[str, Postings]
    """Complete postings."""
    pending: dict[str, PendingTerms]
    """Changes of the stored postings."""


class TermSession(FilterSession, Protocol):
    """Transaction that keeps terms."""

    kept_terms: dict[Namespace, KnownTerms]

    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]: ...


def search(
    db: TermSession,
    found: NamespaceRow,
    query_terms: Sequence[str],
    *,
    limit: int,
    where: Filter,
    statistics: KeywordStatistics | None = None,
) -> Ranking:
    """Rank the chunks that pass a filter by BM25; ties by id. `statistics` are those of several namespaces."""
    namespace, terms = found.key, list(dict.fromkeys(query_terms))
    most = most_first(found)
    counts, first = read_first(db, namespace, terms, most=most)
    everywhere, (total, length) = (
        (counts, (found.chunks, found.length))
        if statistics is None
        else (statistics.counts, (statistics.chunks, statistics.length))
    )
    idfs = {term: idf(everywhere.get(term, 0), total=total) for term in terms}
    known = _rarest_first(counts)
    allowed = filter_chunks(db, found, where).ascending if where else None
    scorer = _Scorer(idfs, mean_length=length / total, allowed=allowed)
    rarer = known[: _count_rarer(known, counts, most=most)]
    scorer.add(rarer, first)
    common = {term: counts[term] for term in known[len(rarer) :]}
    hits = _best_of_all(db, namespace, scorer, common, limit=limit) if common else _best(db, namespace, scorer, limit)
    return Ranking(hits=hits, ceiling=ceiling(list(idfs.values())))


class _Scorer:
    """Sum of the scores of chunks over terms."""

    def __init__(self, idfs: Mapping[str, float], *, mean_length: float, allowed: NDArray[np.int64] | None) -> None:
        self._idfs = idfs
        self._mean_length = mean_length
        self._allowed = allowed
        self.numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        """Numbers of the chunks, ascending."""
        self.scores: NDArray[Any] = np.empty(0)

    def add(self, terms: Sequence[str], postings: Mapping[str, Postings], *, at_least: float = 0.0) -> None:
        """Add the scores of terms, rarest first. Chunks with a lower score than `at_least` are left out."""
        read = [postings.get(term, NO_POSTINGS) for term in terms]
        numbers, entries = _unpack(read)
        sizes = [len(some.entries) // ENTRY.size for some in read]
        weights = np.repeat([self._idfs[term] for term in terms], sizes)
        if at_least > 0:
            kept = self.scores >= at_least
            self.numbers, self.scores = self.numbers[kept], self.scores[kept]
        allowed = self.numbers if at_least > 0 else self._allowed
        if allowed is not None:
            places = np.flatnonzero(is_among(numbers, allowed))
            numbers, entries, weights = numbers[places], entries[places], weights[places]
        scores = self._weighted(weights, entries["frequency"], entries["length"])
        if at_least > 0:  # all numbers are known; one by one, as in `_sum`
            np.add.at(self.scores, np.searchsorted(self.numbers, numbers), scores)
        else:
            self.numbers, self.scores = _sum(
                np.concatenate([self.numbers, numbers]), np.concatenate([self.scores, scores])
            )

    def scores_of(self, term: str, frequencies: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of a term in chunks of these lengths."""
        return self._weighted(self._idfs[term], frequencies, lengths)

    def _weighted(
        self, weight: float | NDArray[np.float64], frequencies: NDArray[Any], lengths: NDArray[Any]
    ) -> NDArray[np.float64]:
        values = (values.astype(np.float64) for values in (frequencies, lengths))
        return term_scores(*values, weight=weight, mean_length=self._mean_length)

    def bound(self, terms: Iterable[str]) -> float:
        """Return the highest possible score of terms."""
        return sum(self._idfs[term] for term in terms) * (K1 + 1)

    def next_terms(self, terms: Sequence[str], *, last: float) -> Sequence[str]:
        """Return the first terms after which few chunks are expected to reach the score `last`; at least one."""
        for count in range(1, len(terms)):
            least = last - self.bound(terms[count:])
            if least > 0 and np.count_nonzero(self.scores >= least) <= MAX_EXPECTED:
                return terms[:count]
        return terms

    def best(self, count: int) -> NDArray[np.intp]:
        """Return the positions of the `count` best chunks, ascending; among equal scores any are taken."""
        return np.sort(
            np.argpartition(self.scores, -count)[-count:] if count < len(self.scores) else self.scores.argsort()
        )


def score_at(place: int, scores: NDArray[Any]) -> float:
    """Return the score at a rank, from 1; -1 if there are fewer."""
    return float(np.partition(scores, -place)[-place]) if len(scores) >= place else -1.0


def _best(db: Session, namespace: Namespace, scorer: _Scorer, limit: int) -> tuple[Hit, ...]:
    """Return the best chunks if the scores of all terms have been added."""
    kept = scorer.scores >= score_at(limit, scorer.scores)
    scores: dict[int, float] = dict(zip(scorer.numbers[kept].tolist(), scorer.scores[kept].tolist(), strict=True))
    ids = db.chunk_ids.find(namespace, list(scores))
    return _to_hits(((scores[number], id) for number, id in ids.items()), limit=limit)


def _best_of_all(
    db: TermSession, namespace: Namespace, scorer: _Scorer, common: Mapping[str, int], *, limit: int
) -> tuple[Hit, ...]:
    """Return the best chunks if terms with these frequencies, rarest first, have not been added."""
    tried = np.flatnonzero(scorer.scores >= score_at(limit, scorer.scores) - scorer.bound(common))
    if len(tried) > 2 * limit + EXTRA_CANDIDATES:  # all that can be among the best, unless they are many
        tried = scorer.best(limit + EXTRA_CANDIDATES)
    numbers = scorer.numbers[tried]
    found = _complete(db, namespace, scorer, list(common), numbers, scorer.scores[tried])
    last = score_at(limit, np.array([score for score, _ in found]))
    left = list(common)
    while True:
        least = last - scorer.bound(left)
        missed = np.flatnonzero(scorer.scores >= least)
        missed = missed[~is_among(scorer.numbers[missed], numbers)]
        if not left or (least > 0 and len(missed) * POSTINGS_PER_ROW <= common[left[0]]):
            break
        read = scorer.next_terms(left, last=last)
        left = left[len(read) :]
        scorer.add(read, _read_terms(db, namespace, read), at_least=least)
        last = max(last, score_at(limit, scorer.scores))
    found += _complete(db, namespace, scorer, left, scorer.numbers[missed], scorer.scores[missed])
    return _to_hits(found, limit=limit)


def _complete(
    db: TermSession,
    namespace: Namespace,
    scorer: _Scorer,
    terms: Sequence[str],
    numbers: NDArray[np.int64],
    scores: NDArray[Any],
) -> list[tuple[float, str]]:
    """Return scores and ids of chunks after adding the scores of `terms`, which their rows contain."""
    if not len(numbers):
        return []
    array = f"{{{','.join(map(str, numbers.tolist()))}}}"
    rows = db.run_binary("chunk_frequencies", {"namespace": namespace, "numbers": array, "terms": list(terms)})
    found = np.array([row[0] for row in rows], dtype=np.int64)
    totals = scores[np.searchsorted(numbers, found)]
    lengths = np.minimum([row[2] for row in rows], MAX_LENGTH)
    frequencies = np.minimum([row[3] for row in rows], MAX_FREQUENCY)
    for place, term in enumerate(terms):
        totals = totals + scorer.scores_of(term, frequencies[:, place], lengths)
    return [(score, row[1]) for score, row in zip(totals.tolist(), rows, strict=True)]


def _to_hits(found: Iterable[tuple[float, str]], *, limit: int) -> tuple[Hit, ...]:
    ordered = nsmallest(limit, ((-score, id) for score, id in found))
    return tuple(Hit(id, rank, -score) for rank, (score, id) in enumerate(ordered, start=1))


def known_terms(db: TermSession, namespace: Namespace) -> KnownTerms:
    """Return the terms that a snapshot has read, to which more can be added. Other transactions keep none."""
    known = KnownTerms({}, {}, {})
    return db.kept_terms.setdefault(namespace, known) if db.is_snapshot else known


def count(db: TermSession, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
    """Return the number of chunks that contain each term; absent terms are left out."""
    counts = known_terms(db, namespace).counts
    if missing := sorted({term for term in terms if term not in counts}):
        counts = counts | _read_stored(db, namespace, missing, most=0).counts
    return {term: counts[term] for term in terms if counts[term]}


def find_chunks_with_terms(
    db: TermSession, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
) -> dict[str, set[int]]:
    """
    Return, for each entry of `wanted`, the numbers of the chunks that contain a term of each of its groups.

    All postings of the group with the lowest document frequency are read, then only the blocks of the remaining
    chunks. A statement serves one group of every entry. A few postings are read at once.
    """
    counts = count(db, namespace, {term for groups in wanted.values() for group in groups for term in group})
    groups: dict[str, list[list[str]]] = {}
    for name, some in wanted.items():
        known = [[term for term in sorted(group) if term in counts] for group in some if group]
        if known and all(known):
            groups[name] = sorted(known, key=lambda group: sum(counts[term] for term in group))
    first = {term for known in groups.values() for term in known[0]}
    every = {term for known in groups.values() for group in known for term in group}
    is_small = sum(counts[term] for term in every - known_terms(db, namespace).postings.keys()) <= MAX_JOINT_POSTINGS
    postings = _read_terms(db, namespace, sorted(every if is_small else first)) if first else {}
    found: dict[str, set[int]] = {name: set() for name in wanted}
    for name, known in groups.items():
        found[name] = _numbers(postings.get(term, NO_POSTINGS) for term in known[0])
    for level in range(1, max((len(known) for known in groups.values()), default=0)):
        left = {name: known[level] for name, known in groups.items() if level < len(known) and found[name]}
        blocks = {
            (term, number // CHUNKS_PER_BLOCK)
            for name, group in left.items()
            for term in group
            if term not in postings
            for number in found[name]
        }
        by_term = {term: [read] for term, read in postings.items()}
        by_term |= {term: [part] for term, part in _read_parts(db, namespace, sorted(blocks)).items()}
        for name, group in left.items():
            found[name] &= _numbers(some for term in group for some in by_term.get(term, ()))
    return found


def most_first(found: NamespaceRow) -> int:
    """Return the number of postings that a query reads at once."""
    return max(MIN_FIRST_POSTINGS, int(FIRST_POSTINGS_SHARE * found.chunks))


def read_first(
    db: TermSession, namespace: Namespace, terms: Sequence[str], *, most: int
) -> tuple[dict[str, int], Mapping[str, Postings]]:
    """Return the number of chunks of each known term, and at least the postings of the rarer ones (`_count_rarer`)."""
    known = known_terms(db, namespace)
    if any(term not in known.counts for term in terms):
        known = _read_stored(db, namespace, terms, most=most)
    counts = {term: known.counts[term] for term in terms if known.counts[term]}
    ordered = _rarest_first(counts)
    return counts, _read_terms(db, namespace, ordered[: _count_rarer(ordered, counts, most=most)])


def _read_terms(db: TermSession, namespace: Namespace, terms: Sequence[str]) -> dict[str, Postings]:
    """Return all postings of each term."""
    known = known_terms(db, namespace).postings
    missing = [term for term in terms if term not in known]
    if not missing:
        return {term: known[term] for term in terms}
    rows = db.run_binary("postings_of", {"namespace": namespace, "terms": missing})
    read = dict.fromkeys(missing, NO_POSTINGS) | {term: Postings(*columns) for term, *columns in rows}
    return {term: known[term] for term in terms if term in known} | _keep(db, namespace, read)


def _keep(db: TermSession, namespace: Namespace, read: Mapping[str, Postings]) -> dict[str, Postings]:
    """Add the pending changes to the stored postings of terms, and keep the result."""
    pending = _read_pending(db, namespace, list(read))
    complete = {term: pending[term].apply(stored) for term, stored in read.items()}
    known_terms(db, namespace).postings.update(complete)
    return complete


def _read_parts(db: TermSession, namespace: Namespace, blocks: Sequence[Block]) -> dict[str, Postings]:
    """Return the postings of terms in some blocks, and all that are pending."""
    parts: dict[str, list[tuple[int, bytes]]] = {term: [] for term, _ in blocks}
    for (term, block), entries in read_blocks(db, namespace, blocks).items():
        parts[term].append((block, entries))
    pending = _read_pending(db, namespace, list(parts))
    read = {
        term: Postings([at for at, _ in some], [len(part) for _, part in some], b"".join(part for _, part in some))
        for term, some in parts.items()
    }
    return {term: pending[term].apply(stored) for term, stored in read.items()}


def _read_pending(db: TermSession, namespace: Namespace, terms: Sequence[str]) -> dict[str, PendingTerms]:
    """Return the pending changes of each term."""
    known = known_terms(db, namespace)
    missing = [term for term in terms if term not in known.pending]
    if missing:
        known = _read_stored(db, namespace, missing, most=0)
    return {term: known.pending[term] for term in terms}


def _read_stored(db: TermSession, namespace: Namespace, terms: Sequence[str], *, most: int) -> KnownTerms:
    """Read the frequencies of terms with their pending changes, and the postings of the rarer ones."""
    known = known_terms(db, namespace)
    rows = db.run_binary("first_postings", {"namespace": namespace, "terms": list(terms), "most": most})
    for term, chunks, numbers, lengths, frequencies, outdated, *columns in rows:
        pending = NOTHING_PENDING
        if numbers or outdated:
            pending = PendingTerms(_to_postings(numbers, lengths, frequencies), np.array(outdated, dtype=np.int64))
        known.pending[term] = pending
        known.counts[term] = chunks
        if columns[0] or chunks == len(numbers):  # no stored entry is left
            known.postings[term] = pending.apply(Postings(*columns) if columns[0] else NO_POSTINGS)
    return known


def _to_postings(numbers: Sequence[int], lengths: Sequence[int], frequencies: Sequence[int]) -> Postings:
    """Return the postings of a term in chunks."""
    entries = np.zeros(len(numbers), dtype=ENTRY_TYPE)
    entries["length"] = np.minimum(np.array(lengths, dtype=np.int64), MAX_LENGTH)
    entries["frequency"] = np.minimum(np.array(frequencies, dtype=np.int64), MAX_FREQUENCY)
    return _pack(np.array(numbers, dtype=np.int64), entries)


def _rarest_first(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda term: (counts[term], term))


def _count_rarer(known: Sequence[str], counts: Mapping[str, int], *, most: int) -> int:
    """Return the number of terms, rarest first, with at most so many postings; at least one."""
    read = 0
    for place, term in enumerate(known):
        read += counts[term]
        if place and read > most:
            return place
    return len(known)


def _unpack(postings: Sequence[Postings]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the chunk numbers of the entries, and the entries."""
    entries = np.frombuffer(b"".join([some.entries for some in postings]), dtype=ENTRY_TYPE)
    blocks = np.array([block for some in postings for block in some.blocks], dtype=np.int64)
    sizes = np.array([size for some in postings for size in some.sizes], dtype=np.int64)
    return np.repeat(blocks * CHUNKS_PER_BLOCK, sizes // ENTRY.size) + entries["place"], entries


def _pack(numbers: NDArray[np.int64], entries: NDArray[Any]) -> Postings:
    """Return entries with their chunk numbers as postings."""
    packed = entries.copy()
    packed["place"] = numbers % CHUNKS_PER_BLOCK
    blocks: list[int] = (numbers // CHUNKS_PER_BLOCK).tolist()
    return Postings(blocks, [ENTRY.size] * len(blocks), packed.tobytes())


def _sum(numbers: NDArray[np.int64], scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """
    Return the distinct numbers, ascending, with the sums of their scores.

    Scores of a number are added one by one in the given order: chunks with the same terms get the same bits. The
    numbers of a term mostly ascend, and a stable sort merges such runs.
    """
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    is_first = np.ones(len(numbers), dtype=bool)
    is_first[1:] = numbers[1:] != numbers[:-1]
    return numbers[is_first], np.bincount(np.cumsum(is_first) - 1, weights=scores[order])


def is_among(numbers: NDArray[np.int64], ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the numbers are among others, by a table of their range; `np.isin` would sort both."""
    if not len(ascending):
        return np.zeros(len(numbers), dtype=bool)
    low, size = ascending[0], int(ascending[-1] - ascending[0]) + 1
    found: NDArray[np.bool_]
    if size > MAX_TABLE_SIZE:
        found = ascending[np.searchsorted(ascending[:-1], numbers)] == numbers
        return found
    table = np.zeros(size + 1, dtype=bool)
    table[ascending - low] = True
    places = np.minimum((numbers - low).view(np.uint64), np.uint64(size))  # lower numbers become very large ones
    found = table[places]
    return found


def _numbers(postings: Iterable[Postings]) -> set[int]:
    return set(_unpack(list(postings))[0].tolist())
