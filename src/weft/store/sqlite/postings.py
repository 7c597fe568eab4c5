"""
Packed postings: the keyword index inside the SQLite file.

One row of `posting` has the namespace, a term, a block number and a blob. A block covers 4,096 consecutive chunk
numbers. The blob has two bytes per chunk that contains the term, ordered by place: 12 bits for the place in the block,
4 bits for the frequency. Example: chunk 4099 contains `fox` twice, and chunk 8193 contains it 20 times:

    chunk 4099 = 1 x 4096 + 3    term fox, block 1    32 00
    chunk 8193 = 2 x 4096 + 1    term fox, block 2    1F 00 15 00
                                                      |     |
                                                      |     place 1, another 5 times
                                                      place 1, 15 times

Frequencies are at most 255. A block of the term ` ` has the lengths of the chunks: four entries for each, with four
bits of the length, the highest first. No text has this term.

A write reads and replaces the blocks of its terms. A query reads all blocks of a term and scores them with numpy.

FTS5 is not used. It ranks by the statistics of its whole table, so one namespace would change the scores of another.
It is also slower. Figures: docs/decisions/0003-keyword-index.md.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.rank.bm25 import ceiling, idf, term_scores
from weft.records import Filter, Ranking
from weft.store.base import MIN_COMMON_TERM_CHUNKS
from weft.store.relational.session import Namespace, Session
from weft.store.shared.blobs import read_entries
from weft.store.sqlite.candidates import allowed_chunks, best_chunks

CHUNKS_PER_BLOCK = 4096

LENGTHS = " "
"""Term whose blocks have the lengths of chunks."""

MAX_ENTRY_FREQUENCY = 15
"""Largest frequency of an entry. More frequent terms have several entries."""

_ENTRY_TYPE = np.dtype("<u2")
_LENGTH_TYPE = np.dtype("<u8")
"""Four entries of a length."""
_NIBBLES = np.uint64(1 << 60 | 1 << 40 | 1 << 20 | 1)

MAX_DESCRIBED_HITS = 5
"""Best hits whose terms are told; the confidence compares as many."""

_NOTHING = b"", 0

Postings: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
"""The numbers of the chunks that contain a term, and its frequency in each."""


class _AddedChunks:
    """Chunks added to one block, and their postings one after the other."""

    def __init__(self) -> None:
        self.places, self.lengths, self.sizes = array("q"), array("q"), array("q")
        """By chunk: place, length, number of postings."""
        self.terms, self.frequencies = array("q"), array("q")
        """By posting: index of the term, frequency."""


class TermChanges:
    """Collects the changes of a transaction to the postings and applies them once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._removed: dict[int, dict[str, set[int]]] = defaultdict(dict)
        """Places that lose a term, by block and term."""
        self._added: dict[int, _AddedChunks] = defaultdict(_AddedChunks)
        """Chunks that get terms, by block."""
        self._indexes: defaultdict[str, int] = defaultdict()
        """Terms in the order in which they were added, with their indexes."""
        self._indexes.default_factory = self._indexes.__len__
        self._last: dict[int, int] = {}
        """Last addition of each chunk to its block. Earlier ones do not count."""

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Remove a chunk from the postings of `terms`."""
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        removed = self._removed[block]
        self._last.pop(number, None)
        for term in (LENGTHS, *terms):
            removed.setdefault(term, set()).add(place)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Add a chunk to the postings of `terms`, a mapping of terms to frequencies."""
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        added = self._added[block]
        self._last[number] = len(added.places)
        added.places.append(place)
        added.lengths.append(length)
        added.sizes.append(len(terms))
        added.terms.extend(map(self._indexes.__getitem__, terms))
        added.frequencies.extend(terms.values())

    def blocks(self) -> dict[tuple[str, int], bytes]:
        """Return the blocks of the added chunks alone, by term and block number."""
        return {(term, block): entries for block in self._added for term, (entries, _) in self._pack(block).items()}

    def apply(self) -> None:
        """Write the changed blocks and the document frequencies of their terms; delete empty blocks."""
        counts: Counter[str] = Counter()
        namespace = self._namespace
        written, deleted = [], []
        for block in self._removed.keys() | self._added.keys():
            removed, added = self._removed[block], self._pack(block)
            terms = sorted(removed.keys() | added.keys())
            stored = self._read_block(block, terms)
            for term in terms:
                entries, change = added.get(term, _NOTHING)
                if old := stored.get(term):
                    entries, change = merge_entries(old, removed=removed.get(term), added=entries)
                if entries:
                    written.append((namespace, term, block, entries))
                elif old:
                    deleted.append((namespace, term, block))
                counts[term] += change
        del counts[LENGTHS]
        changes = [(namespace, term, change) for term, change in sorted(counts.items()) if change]
        self._db.run_many("write_posting", written)
        self._db.run_many("delete_posting", deleted)
        self._db.run_many("add_term", changes)
        self._db.run_many("drop_term", [(namespace, term) for _, term, change in changes if change < 0])
        self._db.run_many("number_terms", [(number, namespace) for number in sorted(self._last)])

    def _pack(self, block: int) -> dict[str, tuple[bytes, int]]:
        """Return the entries of the chunks added to a block, and the number of these chunks, by term."""
        added = self._added[block]
        places = np.array(added.places, np.int64)
        numbers = (CHUNKS_PER_BLOCK * block + places).tolist()
        is_last = np.array([self._last.get(number) == at for at, number in enumerate(numbers)], bool)
        order = np.flatnonzero(is_last)[places[is_last].argsort()]
        if not len(order):
            return {}
        lengths = np.minimum(np.array(added.lengths, np.int64)[order], 65_535)[:, None] >> np.array([12, 8, 4, 0]) & 15
        found = {LENGTHS: ((16 * places[order][:, None] + lengths).astype(_ENTRY_TYPE).tobytes(), len(order))}
        chunks = np.arange(len(places)).repeat(np.array(added.sizes, np.int64))
        terms, frequencies = np.array(added.terms, np.int64), np.array(added.frequencies, np.int64)
        chosen = np.flatnonzero(is_last[chunks] & (frequencies > 0))
        chosen = chosen[np.lexsort((places[chunks[chosen]], terms[chosen]))]
        terms, at, frequencies = terms[chosen], 16 * places[chunks[chosen]], np.minimum(frequencies[chosen], 255)
        sizes = -(-frequencies // MAX_ENTRY_FREQUENCY)  # entries of each posting: nearly always one
        ends = sizes.cumsum()
        entries = at.repeat(sizes) + MAX_ENTRY_FREQUENCY
        entries[ends - 1] += frequencies - MAX_ENTRY_FREQUENCY * sizes
        data = entries.astype(_ENTRY_TYPE).tobytes()
        firsts = np.flatnonzero(np.diff(terms, prepend=-1))
        counts = np.diff(firsts, append=len(terms)).tolist()
        bounds = [0, *(2 * ends[firsts[1:] - 1]).tolist(), len(data)]
        names = list(self._indexes)
        for term, count, (start, end) in zip(terms[firsts].tolist(), counts, pairwise(bounds), strict=False):
            found[names[term]] = data[start:end], count
        return found

    def _read_block(self, block: int, terms: Sequence[str]) -> dict[str, bytes]:
        """Return the stored entries of terms in one block."""
        values = {"namespace": self._namespace, "block": block}
        return dict(self._db.run("read_block", {**values, "terms": json.dumps(terms, ensure_ascii=False)}))


def merge_entries(old: bytes | bytearray, *, removed: set[int] | None, added: bytes | bytearray) -> tuple[bytes, int]:
    """Return a block without the places in `removed` and with the entries in `added`, and how many places it gains."""
    if not removed and added and (not old or _first_place(added) > _last_place(old)):
        return bytes(old) + added, count_places(added)
    kept = _by_place(old)
    before = len(kept)
    for place in removed or ():
        kept.pop(place, None)
    kept |= _by_place(added)
    return b"".join(kept[place] for place in sorted(kept)), len(kept) - before


def count_places(entries: bytes | bytearray) -> int:
    """Return the number of chunks in a block."""
    if len(entries) <= 2:  # most terms are rare
        return len(entries) // 2
    places = np.frombuffer(entries, _ENTRY_TYPE) >> 4
    return 1 + int(np.count_nonzero(places[1:] != places[:-1]))


def _by_place(entries: bytes | bytearray) -> dict[int, bytes]:
    """Return the entries of each place."""
    found: dict[int, bytes] = {}
    for at in range(0, len(entries) - 1, 2):
        place = _place(entries, at)
        found[place] = found.get(place, b"") + entries[at : at + 2]
    return found


def _first_place(entries: bytes | bytearray) -> int:
    return _place(entries, 0)


def _last_place(entries: bytes | bytearray) -> int:
    return _place(entries, len(entries) - 2)


def _place(entries: bytes | bytearray, at: int) -> int:
    return entries[at] >> 4 | entries[at + 1] << 4


@dataclass(slots=True)
class KeptPostings:
    """Postings that a transaction has read."""

    terms: dict[str, Postings] = field(default_factory=dict)
    lengths: list[tuple[int, bytes]] | None = None
    """The blocks of lengths; None if they were not read."""


def search_postings(
    db: Session,
    namespace: Namespace,
    terms: Sequence[str],
    *,
    limit: int,
    where: Filter,
    total: int,
    mean_length: float,
    frequencies: Mapping[str, int] | None = None,
    kept: KeptPostings | None = None,
) -> Ranking:
    """
    Rank the chunks that pass a filter by BM25, adding up all postings of each term.

    `frequencies` are document frequencies of several namespaces; `total` and `mean_length` are then theirs too. The
    postings that are read are added to `kept`.
    """
    found, rows = read_terms(db, namespace, terms, kept=kept, with_lengths=True)
    postings = list(found.values())
    known = frequencies if frequencies is not None else {term: len(numbers) for term, (numbers, _) in found.items()}
    weights = [idf(known.get(term, 0), total=total) for term in found]
    highest = max((int(numbers[-1]) for numbers, _ in postings if len(numbers)), default=-1)
    lengths = _unpack_lengths(rows, highest=highest)
    numbers, frequency = (np.concatenate(parts) for parts in zip(*postings, strict=True))
    weight = np.repeat(weights, [len(some) for some, _ in postings])
    added = term_scores(frequency, lengths[numbers], weight=weight, mean_length=mean_length)
    scores = np.asarray(np.bincount(numbers, added, highest + 1), np.float64)  # adds in the order of the terms
    allowed = allowed_chunks(db, namespace, where)
    if allowed is not None:
        keep = np.zeros(highest + 1, dtype=bool)
        keep[[number for number in allowed if number <= highest]] = True
        scores = np.where(keep, scores, 0.0)
    hits = best_chunks(db, namespace, scores, limit=limit, least=0.0)
    first = np.flatnonzero(scores >= hits[:MAX_DESCRIBED_HITS][-1].score) if hits else numbers
    shared = _find_shared(db, namespace, first, found) if len(first) <= limit else {}
    return Ranking(hits=hits, ceiling=ceiling(weights), shared=shared)


def _find_shared(
    db: Session, namespace: Namespace, numbers: NDArray[np.int64], found: Mapping[str, Postings]
) -> dict[str, frozenset[str]]:
    """Return the terms that chunks contain, by chunk id."""
    ids = db.chunk_ids.find(namespace, numbers.tolist())
    shared: dict[str, set[str]] = {id: set() for id in ids.values()}
    for term, (some, _) in found.items():
        if len(some):
            held = numbers[some.take(some.searchsorted(numbers), mode="clip") == numbers]
            for number in ids.keys() & held.tolist():
                shared[ids[number]].add(term)
    return {id: frozenset(terms) for id, terms in shared.items()}


def read_postings(db: Session, namespace: Namespace) -> dict[tuple[str, int], bytes]:
    """Return the stored blocks of a namespace, by term and block number."""
    rows = db.run("all_postings", {"namespace": namespace})
    return {(term, block): entries for term, block, entries in rows}


def derive_postings(db: Session, namespace: Namespace) -> dict[tuple[str, int], bytes]:
    """Return the blocks that the terms of the chunks imply, by term and block number."""
    found: dict[tuple[str, int], bytes] = {}
    rows = db.run("all_terms", {"namespace": namespace})
    for _, some in groupby(rows, key=lambda row: row[0] // CHUNKS_PER_BLOCK):
        changes = TermChanges(db, namespace=namespace)
        for number, terms, length in some:
            changes.add(number, json.loads(terms), length=length)
        found |= changes.blocks()
    return found


def document_frequencies(postings: Mapping[tuple[str, int], bytes]) -> dict[str, int]:
    """Return the number of chunks that contain each term (document frequency)."""
    counts: Counter[str] = Counter()
    for (term, _), entries in postings.items():
        counts[term] += count_places(entries)
    del counts[LENGTHS]
    return dict(counts)


def find_chunks_with_terms(
    db: Session,
    *,
    namespace: Namespace,
    wanted: Mapping[str, Sequence[Collection[str]]],
    counts: Mapping[str, int],
    kept: KeptPostings | None = None,
) -> dict[str, set[int]]:
    """
    Return, for each entry, the numbers of the chunks that contain a term of every group.

    `counts` are the document frequencies, `kept` are postings that were read before. The terms of rare groups are read
    together; of a common group, only the blocks of the chunks that remain.
    """
    ordered = {
        name: sorted((sum(counts.get(term, 0) for term in group), sorted(group)) for group in groups if group)
        for name, groups in wanted.items()
    }
    possible = {name: groups for name, groups in ordered.items() if groups and groups[0][0]}
    whole = {
        term
        for groups in possible.values()
        for place, (size, group) in enumerate(groups)
        if not place or size < MIN_COMMON_TERM_CHUNKS
        for term in group
        if counts.get(term)
    }
    read, _ = read_terms(db, namespace, whole, kept=kept)
    numbers = {term: set(found.tolist()) for term, (found, _) in read.items()}
    chunks: dict[str, set[int]] = {name: set() for name in wanted}
    for name, groups in possible.items():
        found: set[int] | None = None
        for _, group in groups:
            terms = [term for term in group if counts.get(term)]
            matching = set[int]().union(*(numbers[term] for term in terms if term in numbers))
            found = (
                matching
                if found is None
                else found & matching
                | _find_among(found, [term for term in terms if term not in numbers], db=db, namespace=namespace)
            )
            if not found:
                break
        chunks[name] = found or set()
    return chunks


def find_terms(
    db: Session, namespace: Namespace, chunk_ids: Sequence[str], terms: Sequence[str]
) -> dict[str, set[str]]:
    """Return which of these terms each chunk contains, by chunk id. Only the blocks of these chunks are read."""
    values = {"ids": json.dumps(list(chunk_ids)), "terms": json.dumps(list(terms), ensure_ascii=False)}
    rows = db.run("terms_among", {"namespace": namespace, **values})
    ids = {number: id for id, number, entries in rows if entries is None}
    blocks: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for term, block, entries in rows:
        if entries is not None:
            blocks[term].append((block, entries))
    found: dict[str, set[str]] = {id: set() for id in ids.values()}
    for term, some in blocks.items():
        for number in _contained(ids, some):
            found[ids[number]].add(term)
    return found


def _find_among(chunks: set[int], terms: Sequence[str], *, db: Session, namespace: Namespace) -> set[int]:
    """Return which of `chunks` contain one of the terms."""
    blocks = json.dumps(sorted({number // CHUNKS_PER_BLOCK for number in chunks}))
    found: set[int] = set()
    for term in terms:
        found |= _contained(chunks, db.run("term_blocks", {"namespace": namespace, "term": term, "blocks": blocks}))
    return found


def _contained(numbers: Collection[int], rows: Sequence[tuple[int, bytes]]) -> set[int]:
    """Return the numbers that occur in the blocks."""
    by_block: dict[int, list[int]] = defaultdict(list)
    for number in numbers:
        by_block[number // CHUNKS_PER_BLOCK].append(number)
    found: set[int] = set()
    for block, blob in rows:  # hot loop: a binary search for a few numbers, in blocks of up to 8 kB
        entries = read_entries([blob], _ENTRY_TYPE)
        wanted = np.array(by_block[block], np.int64)
        first = (wanted % CHUNKS_PER_BLOCK << 4).astype(_ENTRY_TYPE)
        is_found = entries.take(entries.searchsorted(first), mode="clip") >> 4 == first >> 4
        found.update(wanted[is_found].tolist())
    return found


def read_terms(
    db: Session,
    namespace: Namespace,
    terms: Collection[str],
    *,
    kept: KeptPostings | None = None,
    with_lengths: bool = False,
) -> tuple[dict[str, Postings], list[tuple[int, bytes]]]:
    """Return the postings of each term in the order of `terms`, and the blocks of lengths if they are asked for."""
    known = KeptPostings() if kept is None else kept
    missing = [term for term in dict.fromkeys(terms) if term not in known.terms]
    wanted = [*missing, LENGTHS] if with_lengths and known.lengths is None else missing
    values = {"namespace": namespace, "terms": json.dumps(wanted, ensure_ascii=False)}
    rows = db.run("term_postings", values) if wanted else []  # in the order of the terms
    if wanted != missing:
        known.lengths = [(block, entries) for term, block, entries in rows if term == LENGTHS]
    if missing:
        known.terms |= _unpack([row for row in rows if row[0] != LENGTHS], missing)
    return {term: known.terms[term] for term in terms}, known.lengths or []


def _unpack(rows: Sequence[tuple[str, int, bytes]], terms: Sequence[str]) -> dict[str, Postings]:
    """Return the chunk numbers in the blocks of each term, and its frequencies there; `rows` are in their order."""
    entries = read_entries([blob for _, _, blob in rows], _ENTRY_TYPE)
    sizes = [len(blob) // 2 for _, _, blob in rows]
    firsts = np.array([CHUNKS_PER_BLOCK * block for _, block, _ in rows], np.int64)
    numbers, frequencies = firsts.repeat(sizes) + (entries >> 4), entries & 15
    totals = dict.fromkeys(terms, 0)
    for (term, *_), size in zip(rows, sizes, strict=True):
        totals[term] += size
    ends = np.fromiter(accumulate(totals.values()), np.int64, len(totals))
    is_again = np.zeros(len(numbers), dtype=bool)
    is_again[1:] = numbers[1:] == numbers[:-1]
    is_again[ends[ends < len(numbers)]] = False  # the first chunk of a term may be the last one of the term before
    counts = frequencies.astype(np.float64)
    further = np.flatnonzero(is_again)  # few: only frequencies above 15 have further entries
    if len(further):
        added = counts[further]
        numbers, counts = np.delete(numbers, further), np.delete(counts, further)
        np.add.at(counts, further - np.arange(1, len(further) + 1), added)
        ends = ends - np.searchsorted(further, ends)
    bounds = [0, *ends.tolist()]
    return {term: (numbers[at:end], counts[at:end]) for term, (at, end) in zip(totals, pairwise(bounds), strict=True)}


def _unpack_lengths(rows: Sequence[tuple[int, bytes]], *, highest: int) -> NDArray[np.float64]:
    """Return the lengths of the chunks of a namespace up to a number, indexed by number."""
    entries = read_entries([blob for _, blob in rows], _LENGTH_TYPE)
    firsts = [CHUNKS_PER_BLOCK * block for block, _ in rows]
    numbers = np.repeat(firsts, [len(blob) // 8 for _, blob in rows]).astype(np.int64)
    numbers += (entries >> np.uint64(4) & np.uint64(0xFFF)).astype(np.int64)
    lengths = np.zeros(max(highest, *numbers[-1:].tolist(), 0) + 1)
    # the product has the lowest four bits of each entry in its highest 16 bits, in order
    lengths[numbers] = (entries & np.uint64(0x000F000F000F000F)) * _NIBBLES >> np.uint64(48)
    return lengths
