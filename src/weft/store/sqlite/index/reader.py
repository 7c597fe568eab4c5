"""
Search in large namespaces with read indexes.

An index only names candidate rows. The file decides which of them exist, and the memtable covers unindexed rows. A
result therefore never depends on the state of the index. `weft.store.sqlite.index` explains the parts.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.rank.bm25 import ceiling, idf
from weft.rank.fuse import number_hits
from weft.records import Filter, Ranking, Vector
from weft.store.index_files.contents import DamagedFile, SegmentContents
from weft.store.index_files.hnsw import HnswSegments
from weft.store.index_files.postings_file import PostingArrays, read_postings
from weft.store.index_files.segments import IndexFolder, Manifest
from weft.store.relational.session import NamespaceRow, Session
from weft.store.shared.blobs import compare_vectors, read_matrix
from weft.store.sqlite.candidates import allowed_chunks
from weft.store.sqlite.index.cosine_statistics import CosineStatistics
from weft.store.sqlite.index.keyword_search import KeywordSearch
from weft.store.sqlite.index.memtable import Memtable, TermRows, VectorRows
from weft.store.sqlite.index.resident_vectors import MAX_RESIDENT_CHUNKS, ComparedVectors, ResidentVectors
from weft.store.sqlite.index.targets import Target, can_index, count_rows, find_targets, last_number, matches_file
from weft.store.sqlite.vectors import search_chunks
from weft.text.plurals import counted

logger = logging.getLogger(__name__)

MIN_INDEXED_ROWS = 20_000
"""Minimum number of rows of a target for an index; below, a scan is faster (`benchmarks/scale.py`)."""

MIN_EXTENSION_ROWS = 2_048
"""Minimum number of unindexed rows at which a query requests an extension of the index."""

SPARE_VECTORS = 8
"""Candidates requested beyond the limit, because some may be deleted; a second attempt requests four times as many."""

MIN_SPARE_CHUNKS = 8
"""Minimum number of candidates beyond the limit in keyword search."""

SPARE_CHUNKS_DIVISOR = 8
"""Keyword search requests an eighth more candidates than the limit."""


@dataclass(frozen=True, slots=True)
class _OpenIndex:
    stamp: tuple[int, int]
    """Stamp of the manifest that was read. If the other fields are empty, that manifest cannot be used."""
    manifest: Manifest | None = None
    segments: Any = None
    memtable: Any = None


_NOT_LOADED = (-1, -1)
"""Stamp of an index whose files are still being loaded. It differs from the stamp of every manifest."""

MAX_PREFETCHED_INDEXES = 8
"""A folder with more indexes is not verified in advance; each is verified when a query needs it."""


class ReadIndexes:
    """
    Read indexes of one file.

    The searches return None if only a scan of the file can answer. `on_stale` is called when a query finds an index
    missing or in need of an extension.
    """

    def __init__(self, db: str, *, on_stale: Callable[[], None]) -> None:
        self._on_stale = on_stale
        self.folder = IndexFolder(Path(db + ".index"))
        self.contents = SegmentContents(self.folder.path)
        self.is_usable = db != ":memory:"
        self._is_prefetched = False
        self._open_indexes: dict[str, _OpenIndex] = {}
        self._cosine_statistics = CosineStatistics()
        self._resident = ResidentVectors()

    # ── searching ───────────────────────────────────────────────────────────────────────────────

    def search_vectors(
        self,
        db: Session,
        state: NamespaceRow,
        vector: Vector,
        *,
        model: int,
        limit: int,
        where: Filter,
        kept: dict[int, ComparedVectors] | None = None,
    ) -> Ranking | None:
        """Rank the chunks that pass a filter by cosine. `kept` are the vectors that the transaction has seen."""
        namespace = state.key
        target = Target("vectors", namespace, model, len(vector))
        if state.chunks < min(MIN_INDEXED_ROWS, MAX_RESIDENT_CHUNKS):
            options: dict[str, Any] = {"model": model, "limit": limit, "where": where}
            return self._resident.search(db, namespace, vector, **options, generation=state.generation, kept=kept)
        index = self._find_index(db, target, state)
        if index is None:
            return None
        allowed = allowed_chunks(db, namespace, where)
        rows: Sequence[tuple[str, float]] | None
        if allowed is None:
            rows = self._nearest(db, target, index, vector, limit=limit)
        elif len(allowed) <= MIN_INDEXED_ROWS:
            rows = search_chunks(db, namespace, vector, model=model, limit=limit, chunks=allowed)
        else:
            rows = None
        if rows is None:
            return None
        mean, deviation = self._cosine_statistics.estimate(db, vector, model=model, total=state.chunks)
        hits = tuple(number_hits(*zip(*rows, strict=True))) if rows else ()
        return Ranking(hits=hits, mean=mean, deviation=deviation, count=state.chunks)

    def search_entities(
        self, db: Session, state: NamespaceRow, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]] | None:
        """Return the keys of the nearest fact entities with their cosines; ties by key."""
        target = Target("entities", state.key, model, len(vector))
        index = self._find_index(db, target, state)
        return None if index is None else self._nearest(db, target, index, vector, limit=limit)

    def search_keywords(
        self,
        db: Session,
        state: NamespaceRow,
        terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        total: int,
        mean_length: float,
        frequencies: Mapping[str, int] | None = None,
    ) -> Ranking | None:
        """Rank the chunks that pass a filter by BM25; the arguments are those of `search_postings`."""
        namespace = state.key
        target = Target("keywords", namespace, namespace)
        index = self._find_index(db, target, state)
        memtable: TermRows | None = index.memtable.read(db) if index else None
        if index is None or index.manifest is None or memtable is None:
            return None
        counts = db.keywords.counts(namespace, terms) if frequencies is None else frequencies
        weights = {term: idf(counts.get(term, 0), total=total) for term in terms}
        search = KeywordSearch(
            index.segments,
            memtable,
            weights=weights,
            mean_length=mean_length,
            unindexed=state.chunks - index.manifest.count,
        )
        spare = max(MIN_SPARE_CHUNKS, limit // SPARE_CHUNKS_DIVISOR)
        found = search.best(db, namespace, limit=limit, spare=spare, allowed=allowed_chunks(db, namespace, where))
        if found is None:
            self._on_stale()
            return None
        hits, shared = found
        return Ranking(hits=hits, ceiling=ceiling(list(weights.values())), shared=shared)

    # ── indexes ─────────────────────────────────────────────────────────────────────────────────

    def describe(self, db: Session, target: Target, state: NamespaceRow) -> str:
        """Return the search method of a target: `exact`, or an index with its size."""
        if target.name not in {large.name for large in find_targets(db, min_rows=MIN_INDEXED_ROWS)}:
            return "exact"
        index = self._find_index(db, target, state)
        if index is None or index.manifest is None:
            if can_index(target.kind):
                return "exact; index not built yet"
            return "exact; pip install 'weft-search[scale]' for an index"
        unindexed = count_rows(db, target, low=index.manifest.high, high=last_number(db, target))
        indexed = counted(index.manifest.count, "chunk" if target.kind == "keywords" else "vector")
        segments = counted(len(index.manifest.segments), "segment")
        return f"index of {indexed} in {segments}, {unindexed:,} not yet indexed"

    def clear(self) -> None:
        """Close and delete all indexes."""
        self._resident.clear()
        self._open_indexes.clear()
        self.folder.clear()

    def prefetch(self, *, resident: bool = False) -> None:
        """
        Start to verify the files in background threads, before the first query needs them.

        With `resident`, for servers, they are copied into memory; queries scan the store until the copies are ready.
        """
        if self._is_prefetched and (not resident or self.contents.is_resident):
            return
        self._is_prefetched = True
        if resident:
            self.contents.make_resident()
        names = [path.stem for path in self.folder.path.glob("*.json")] if self.is_usable else []
        if len(names) <= MAX_PREFETCHED_INDEXES:
            for manifest in filter(None, map(self.folder.read_manifest, names)):
                self.contents.are_ready(manifest.files)
        if self.is_usable and any(self.folder.path.glob("*.partial")):
            self._on_stale()  # a build that runs, or one that has ended early

    def close(self) -> None:
        """Stop background threads."""
        self.contents.close()

    def retain(self, targets: Sequence[Target]) -> None:
        """Delete the indexes of all targets but these."""
        self.folder.retain([target.name for target in targets])

    def _find_index(self, db: Session, target: Target, state: NamespaceRow) -> _OpenIndex | None:
        """Return the index of a target; None if there is none that this transaction may use."""
        is_small = target.kind != "entities" and state.chunks < MIN_INDEXED_ROWS
        if not self.is_usable or is_small or not can_index(target.kind):
            return None
        stamp = self.folder.stamp(target.name)
        index = self._open_indexes.get(target.name)
        if index is None or index.stamp != stamp or not self._is_unchanged(index):
            previous = index.manifest.files if index and index.manifest else []
            index = self._open_indexes[target.name] = self._open(db, target, stamp)
            self.contents.drop(set(previous).difference(index.manifest.files if index.manifest else ()))
        if index.manifest is None or not _covers(db, target, index.manifest, generation=state.generation):
            if any(large.name == target.name for large in find_targets(db, min_rows=MIN_INDEXED_ROWS)):
                self._on_stale()
            return None
        return index

    def _open(self, db: Session, target: Target, stamp: tuple[int, int]) -> _OpenIndex:
        manifest = self.folder.read_manifest(target.name) if any(stamp) else None
        if manifest is None or not matches_file(db, target, manifest):
            return _OpenIndex(stamp)
        if not self.contents.are_ready(manifest.files) and self.contents.is_resident:
            return _OpenIndex(_NOT_LOADED)
        try:
            files = [[self.contents.get(file) for file in segment.files] for segment in manifest.segments]
            rows: VectorRows | TermRows
            segments: HnswSegments | list[PostingArrays]
            if target.kind == "keywords":
                rows, segments = TermRows(), [read_postings(content) for (content,) in files]
            else:
                rows, segments = VectorRows(target), HnswSegments(files)
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            logger.warning("cannot open the read index %s: %s", target.name, error)
            if isinstance(error, DamagedFile) and self.folder.stamp(target.name) == stamp:
                self.folder.discard(target.name)
            return _OpenIndex(stamp)
        return _OpenIndex(stamp, manifest, segments, Memtable(target, rows, low=manifest.high))

    def _is_unchanged(self, index: _OpenIndex) -> bool:
        return index.manifest is None or self.contents.are_unchanged(index.manifest.files)

    def _nearest(
        self, db: Session, target: Target, index: _OpenIndex, vector: Vector, *, limit: int
    ) -> list[tuple[str, float]] | None:
        """Return the nearest rows; None if too many candidates are deleted or too many rows are not indexed."""
        memtable: VectorRows | None = index.memtable.read(db)
        if memtable is None or index.manifest is None:
            self._on_stale()
            return None
        for count in (limit + SPARE_VECTORS, 4 * (limit + SPARE_VECTORS)):
            unindexed = memtable.nearest(vector, count=count)
            try:
                indexed = index.segments.nearest(vector, count=count)
            except ValueError:  # a damaged file of chunk ids
                return None
            rows = _score(db, target, vector, [*indexed, *unindexed])
            if len(memtable) >= MIN_EXTENSION_ROWS:
                self._on_stale()
            existing = {row[0] for row in rows}  # hot loop
            sources = ((indexed, index.manifest.count), (unindexed, len(memtable)))
            if all(count >= size or len(existing.intersection(found)) >= limit for found, size in sources):
                ids = indexed | unindexed
                ordered = sorted([(-score, id or ids[number]) for number, score, id in rows])
                return [(id, -score) for score, id in ordered[:limit]]
        return None


def _score(db: Session, target: Target, vector: Vector, numbers: Sequence[int]) -> list[tuple[int, float, str]]:
    """Return the rows that still exist: number, cosine, and key of an entity; the index has the ids of chunks."""
    values = {"model": target.scope, "numbers": json.dumps(numbers)}
    if target.kind == "entities":
        return [(*row,) for row in db.run("score_entities", {**values, "vector": db.vectors.pack(vector)})]
    rows = db.run("vectors_to_score", values)
    cosines = compare_vectors(read_matrix([row[1] for row in rows], dimension=target.dimension), vector)  # hot loop
    return [(number, cosine, "") for (number, _), cosine in zip(rows, cosines.tolist(), strict=True)]


def _covers(db: Session, target: Target, manifest: Manifest, *, generation: int) -> bool:
    """Return True if a transaction sees the state that an index was built from, or a later one."""
    last_assigned = db.one("last_given_entity") if target.kind == "entities" else manifest.high
    return generation >= manifest.generation and last_assigned >= manifest.high
