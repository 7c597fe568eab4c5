"""
Background thread that builds and extends read indexes from committed rows, without blocking writers.

Many rows are indexed in a process of their own (`builder_process.py`), because usearch keeps the interpreter lock.

A new segment covers the unindexed rows and absorbs the small segments before it, so that few segments remain. Keyword
segments of up to eight times the number of new rows are merged:

    before   segment of 200,000      segment of 10,000       2,500 unindexed rows
    check    200,000 > 8 x 12,500    10,000 <= 8 x 2,500
    after    segment of 200,000      segment of 12,500

Keyword segments are merged from their files. HNSW graphs cannot be merged. They are built again from the vectors, up to
`MAX_SEGMENT_VECTORS`; a graph of at least half that size is never built again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.store.index_files.chunk_ids import pack_ids, write_chunk_ids
from weft.store.index_files.hnsw import add_vectors, make_graph
from weft.store.index_files.postings_file import PostingArrays, read_postings
from weft.store.index_files.postings_merge import invert_chunks, merge_postings
from weft.store.index_files.segments import Manifest, Segment
from weft.store.relational.session import Row, Session
from weft.store.sqlite.index import builder_process, reader
from weft.store.sqlite.index.builder_process import CannotStart, extend_indexes
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.index.targets import (
    Target,
    can_index,
    count_rows,
    find_targets,
    last_number,
    live_segments,
    matches_file,
    read_row_checksums,
    read_rows,
)

logger = logging.getLogger(__name__)

MAX_TRANSACTION_ROWS = 1_024
"""Maximum number of rows read in one transaction."""

MAX_BUFFERED_CHUNKS = 32_768
"""Maximum number of chunks whose postings are built in memory before they are written to a temporary file."""

MAX_SEGMENT_VECTORS = 131_072
"""
Maximum number of vectors in an HNSW segment.

One graph of a million vectors has recall@10 0.76, and 0.95 with six times the candidates. Eight graphs take as long as
the latter and have recall@10 0.98.
"""

MERGE_FACTORS = {"keywords": 8, "vectors": 2, "entities": 2}
"""
A segment is merged with new rows if it is at most this many times larger.

Postings merge at 100,000 chunks per second, and each segment costs a query one millisecond, so keywords have few
segments. A graph cannot be merged and is built again.
"""

MIN_EXTENSION_ROWS_AT_EXIT = 256
"""
Minimum number of unindexed rows for an extension of the index when a writing process exits.

Before that, and without queries, only full segments of `MAX_SEGMENT_VECTORS` are built, because smaller ones would be
built again.
"""

DEBOUNCE_SECONDS = 1.0
"""Delay between a request and the build. Commits come in groups, and a short command exits before the build."""


class _Source(Protocol):
    @property
    def file(self) -> Path: ...

    def scan(self) -> AbstractContextManager[Session]: ...


class _Cancelled(Exception):
    """The build was cancelled."""


@dataclass(frozen=True, slots=True)
class _Progress:
    """State of the index of one target."""

    manifest: Manifest | None
    """Manifest, if it belongs to the file."""
    last: int
    """Highest number of a row."""
    pending: int
    """Unindexed rows."""


class IndexBuilder:
    """Thread that sleeps until a commit or a query requests an extension of the indexes."""

    def __init__(self, indexes: ReadIndexes, source: _Source) -> None:
        self._indexes = indexes
        self._source = source
        self._due = threading.Event()
        self._closing = threading.Event()
        self.cancelled = threading.Event()
        """Ends the running build. The manifests stay as they are."""
        self._wrote = False
        self._queried = False
        self._last_warning = ""
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def request(self, *, wrote: bool = False) -> None:
        """Request a check of all indexes, after a commit (`wrote`) or after a query that found one stale."""
        if wrote:
            self._wrote = True
        else:
            self._queried = True
        self._due.set()
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="weft-indexes", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop the thread. If this process has written, due extensions are finished first; Ctrl-C cancels them."""
        with self._starting:
            self._closing.set()
        if self._thread is not None:
            if not self._wrote:
                self.cancelled.set()
            self._due.set()
            try:
                self._thread.join()
            except KeyboardInterrupt:
                self.cancelled.set()
                self._thread.join()
                raise

    def _run(self) -> None:
        while self._due.wait():
            self._closing.wait(DEBOUNCE_SECONDS)
            self._due.clear()
            is_last = self._closing.is_set()  # `close` during a check causes another check
            try:
                self._catch_up_anywhere(min_rows=self._min_rows())
            except (WeftError, OSError, RuntimeError, ValueError) as error:
                if str(error) != self._last_warning:  # the next request retries
                    logger.warning("cannot extend the read indexes: %s", error)
                self._last_warning = str(error)
            if is_last:
                return

    def _min_rows(self) -> int:
        """Return the current minimum number of unindexed rows for an extension."""
        if self._closing.is_set():
            return min(MIN_EXTENSION_ROWS_AT_EXIT, reader.MIN_EXTENSION_ROWS)
        queried, self._queried = self._queried, False
        return reader.MIN_EXTENSION_ROWS if queried else MAX_SEGMENT_VECTORS

    def _catch_up_anywhere(self, *, min_rows: int) -> None:
        """Extend all indexes, in another process if there are many unindexed rows."""
        if self._has_many_rows(min_rows):
            try:
                extend_indexes(self._source.file, min_rows=min_rows, cancelled=self.cancelled)
            except CannotStart:
                logger.debug("cannot start a process that builds read indexes")
            else:
                return
        self.catch_up(min_rows=min_rows)

    def _has_many_rows(self, min_rows: int) -> bool:
        """Return True if this process may extend an index by `MIN_PROCESS_ROWS` rows or more."""
        least = max(min_rows, builder_process.MIN_PROCESS_ROWS)
        with self._source.scan() as db:
            targets = find_targets(db, min_rows=reader.MIN_INDEXED_ROWS) if self._indexes.is_usable else []
            is_due = any(
                can_index(target.kind)
                and self._may_have_rows(db, target, least)
                and self._read_progress(db, target).pending >= least
                for target in targets
            )
        if not is_due or self.cancelled.is_set():
            return False
        with self._indexes.folder.build_lock() as is_locked:  # another process may be building
            return is_locked

    def catch_up(self, *, min_rows: int | None = None) -> int:
        """
        Extend all indexes of the file unless another process does; return how many were changed.

        An existing index is extended if it has at least `min_rows` unindexed rows. A missing index is built, unless
        `min_rows` is above `MIN_EXTENSION_ROWS` and the target has fewer rows.
        """
        threshold = reader.MIN_EXTENSION_ROWS if min_rows is None else min_rows
        with self._source.scan() as db:
            targets = find_targets(db, min_rows=reader.MIN_INDEXED_ROWS)
            can_wait = threshold > reader.MIN_EXTENSION_ROWS and not any(
                self._may_have_rows(db, target, threshold) for target in targets
            )
        folder = self._indexes.folder
        can_wait = not targets or can_wait or self.cancelled.is_set()
        if not self._indexes.is_usable or (can_wait and not folder.has_leftovers()):
            return 0
        with folder.build_lock() as is_locked:
            if not is_locked:
                return 0
            folder.delete_leftovers()
            if can_wait:
                return 0
            self._indexes.retain(targets)
            try:
                return sum(self._extend(target, min_rows=threshold) for target in targets if can_index(target.kind))
            except (_Cancelled, FileNotFoundError):  # the folder may be deleted, with the lock, at any time
                return 0
            finally:
                folder.delete_leftovers()

    def _may_have_rows(self, db: Session, target: Target, count: int) -> bool:
        """Return True if there may be this many unindexed rows. The check is cheap: it also counts deleted rows."""
        manifest = self._indexes.folder.read_manifest(target.name)
        return last_number(db, target) - (manifest.high if manifest else 0) >= count

    def _extend(self, target: Target, *, min_rows: int) -> bool:
        folder = self._indexes.folder
        with self._source.scan() as db:
            progress = self._read_progress(db, target)
            segments = progress.manifest.segments if progress.manifest else ()
            kept = live_segments(db, target, segments)
        can_wait = progress.manifest is not None or min_rows > reader.MIN_EXTENSION_ROWS
        if can_wait and progress.pending < min_rows and len(kept) == len(segments):
            return False
        kept = _unmerged_segments(target, kept, pending=progress.pending)
        build = self._build_postings if target.kind == "keywords" else self._build_graphs
        new_segments = build(target, segments[len(kept) :], low=kept[-1].high if kept else 0, high=progress.last)
        with self._source.scan() as db:
            (generation, *_), *_ = db.run("namespace_state", {"namespace": target.namespace}) or [(0,)]
        manifest = Manifest(dimension=target.dimension, generation=generation, segments=(*kept, *new_segments))
        folder.write_manifest(target.name, manifest)
        return True

    def _read_progress(self, db: Session, target: Target) -> _Progress:
        manifest = self._indexes.folder.read_manifest(target.name)
        if manifest and not matches_file(db, target, manifest):
            manifest = None
        last = last_number(db, target)
        pending = count_rows(db, target, low=manifest.high if manifest else 0, high=last)
        return _Progress(manifest=manifest, last=last, pending=pending)

    def _check_wanted(self) -> None:
        if self.cancelled.is_set():
            raise _Cancelled

    def _batches(self, target: Target, *, low: int, high: int) -> Iterator[list[Row]]:
        """Yield the rows with `low < number <= high`, one transaction per batch."""
        while True:
            self._check_wanted()
            with self._source.scan() as db:
                rows = read_rows(db, target, low=low, high=high, limit=MAX_TRANSACTION_ROWS)
            if not rows:
                return
            yield rows
            low, *_ = rows[-1]

    def _build_graphs(self, target: Target, merged: tuple[Segment, ...], *, low: int, high: int) -> list[Segment]:
        """Return new segments over a range of numbers, built from the file alone; none if it has no rows."""
        made: list[Segment] = []
        numbers, ids, vectors = list[int](), list[str](), _vector_buffer(target)
        for rows in self._batches(target, low=low, high=high):
            # hot loop
            vectors[len(numbers) : len(numbers) + len(rows)] = [np.frombuffer(row[1], target.dtype) for row in rows]
            numbers += (row[0] for row in rows)
            ids += (row[2] for row in rows)
            if len(numbers) >= MAX_SEGMENT_VECTORS:
                made += self._write_graph(target, numbers, ids, vectors, low=low, high=numbers[-1])
                low, numbers, ids = numbers[-1], [], []
        made += self._write_graph(target, numbers, ids, vectors, low=low, high=high)
        return [*made[:-1], replace(made[-1], high=high)] if made else []

    def _write_graph(
        self, target: Target, numbers: list[int], ids: list[str], vectors: NDArray[np.float16], *, low: int, high: int
    ) -> list[Segment]:
        def write(path: Path) -> None:
            graph = make_graph(target.dimension)
            for _ in add_vectors(graph, numbers, vectors[: len(numbers)]):
                self._check_wanted()
            graph.save(str(path))

        files: dict[str, Callable[[Path], object]] = {"segment": write}
        if target.kind == "vectors":
            packed = pack_ids(ids)
            files["ids"] = lambda path: write_chunk_ids(path, numbers, packed)
        return self._write_segment(target, np.array(numbers, dtype=np.int64), files, low=low, high=high)

    def _build_postings(self, target: Target, merged: tuple[Segment, ...], *, low: int, high: int) -> list[Segment]:
        """Return a new segment from the existing rows of older segments and from unindexed rows."""
        with self._source.scan() as db:
            ((_, chunks, length),) = db.run("namespace_state", {"namespace": target.namespace})
            scope = {"scope": target.scope, "low": low, "high": high}
            numbered = db.stream("keyword_numbers_between", scope)
            existing = np.fromiter((number for (number,) in numbered), dtype=np.int64)
        mean = length / max(1, chunks)
        contents = self._indexes.contents
        parts = [read_postings(contents.get(file)) for segment in merged for file in segment.files]
        covered = merged[-1].high if merged else low
        buffer: list[Row] = []
        for rows in self._batches(target, low=covered, high=high):
            buffer += rows
            if len(buffer) >= MAX_BUFFERED_CHUNKS:
                parts.append(self._spill(target, buffer, mean=mean))
                buffer = []
        if buffer:
            parts.append(invert_chunks(buffer, mean=mean))
        kept = [
            np.isin(part.numbers, existing) if place < len(merged) else np.ones(len(part.numbers), bool)
            for place, part in enumerate(parts)
        ]
        numbers = [part.numbers[keep] for part, keep in zip(parts, kept, strict=True)]
        files = {"segment": lambda path: merge_postings(parts, kept, mean=mean, path=path)}
        return self._write_segment(target, np.concatenate([existing[:0], *numbers]), files, low=low, high=high)

    def _spill(self, target: Target, rows: list[Row], *, mean: float) -> PostingArrays:
        """Write the postings of chunks to a temporary file, which the next manifest deletes; return its arrays."""
        part = invert_chunks(rows, mean=mean)
        path = self._indexes.folder.new_file(target.name)
        return merge_postings([part], [np.ones(len(rows), bool)], mean=mean, path=path)

    def _write_segment(
        self,
        target: Target,
        numbers: NDArray[np.int64],
        files: Mapping[str, Callable[[Path], object]],
        *,
        low: int,
        high: int,
    ) -> list[Segment]:
        """Write the files of a segment, which are by suffix; return the segment, or nothing if it has no rows."""
        if not len(numbers):
            return []
        write_file = self._indexes.folder.write_file
        written = tuple(write_file(target.name, write, suffix=suffix) for suffix, write in files.items())
        with self._source.scan() as db:
            ends = read_row_checksums(db, target, numbers)
        return [Segment(files=written, low=low, high=high, count=len(numbers), ends=ends)]


def _unmerged_segments(target: Target, segments: tuple[Segment, ...], *, pending: int) -> tuple[Segment, ...]:
    """Return the first segments, which stay unchanged. The others are merged with `pending` rows."""
    is_bounded, factor = target.kind != "keywords", MERGE_FACTORS[target.kind]
    while segments:
        is_full = is_bounded and 2 * segments[-1].count >= MAX_SEGMENT_VECTORS
        if is_full or segments[-1].count > factor * pending:
            break
        pending += segments[-1].count
        segments = segments[:-1]
    return segments


def _vector_buffer(target: Target) -> NDArray[np.float16]:
    """Return a buffer for the vectors of a segment; unused pages take no memory."""
    return np.empty((MAX_SEGMENT_VECTORS + MAX_TRANSACTION_ROWS, target.dimension), np.float16)
