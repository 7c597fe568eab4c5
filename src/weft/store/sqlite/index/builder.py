"""Builds and extends read indexes in the background, from committed rows, without holding up writers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.store.relational.session import Row, Session
from weft.store.sqlite.index import reader
from weft.store.sqlite.index.chunk_ids import pack_ids, write_names
from weft.store.sqlite.index.hnsw import add_vectors, make_graph
from weft.store.sqlite.index.postings_file import TermArrays, read
from weft.store.sqlite.index.postings_merge import gather, merge
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.index.segments import Manifest, Segment
from weft.store.sqlite.index.targets import (
    Target,
    belongs,
    can_index,
    count_rows,
    find_targets,
    last_number,
    live_segments,
    read_ends,
    read_rows,
)

logger = logging.getLogger(__name__)

BLOCK = 1_024
"""Rows read in one transaction."""

RUN = 32_768
"""Chunks whose postings are in memory at once."""

LARGEST = 131_072
"""
Vectors of a segment. In one graph of a million a search misses a quarter of the nearest ten, and one that keeps six
times as many in view still every twentieth; eight of an eighth take as long as that, and miss one in fifty.
"""

GROWTH = {"keywords": 8, "vectors": 2, "entities": 2}
"""
What is new joins a segment of up to so many times its size. Words are merged at 100,000 chunks a second, so that there
are few segments, each of which costs a question a millisecond; a graph is built anew.
"""

LAST = 256
"""
Newer rows from which an index is extended when a process that wrote ends; fewer are compared in full. Until then, and
as long as nobody asks, only whole segments of `LARGEST` are made: a smaller one would have to be built anew.
"""

PAUSE = 1.0
"""Seconds between what calls for an extension and its beginning: commits come in groups, commands end soon."""


class _Source(Protocol):
    def scan(self) -> AbstractContextManager[Session]: ...


class _Abandoned(Exception):
    """Nobody waits for the index any more."""


class Extender:
    """A thread that sleeps until a commit or a question shows that an index is behind."""

    def __init__(self, indexes: ReadIndexes, source: _Source) -> None:
        self._indexes = indexes
        self._source = source
        self._due = threading.Event()
        self._closing = threading.Event()
        self._abandoned = threading.Event()
        self._wrote = False
        self._asked = False
        self._told = ""
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def call(self, *, wrote: bool = False) -> None:
        """Ask for a look at all indexes soon, because something was written, or a question found one behind."""
        if wrote:
            self._wrote = True
        else:
            self._asked = True
        self._due.set()
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="weft-indexes", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End; where this process has written, what is due is done first, unless the user interrupts it."""
        with self._starting:
            self._closing.set()
        if self._thread is not None:
            if not self._wrote:
                self._abandoned.set()
            self._due.set()
            try:
                self._thread.join()
            except KeyboardInterrupt:
                self._abandoned.set()
                self._thread.join()
                raise

    def _run(self) -> None:
        while self._due.wait():
            self._closing.wait(PAUSE)
            self._due.clear()
            is_last = self._closing.is_set()  # where it begins during a look, another one follows
            try:
                self.catch_up(least=self._enough())
            except (WeftError, OSError, RuntimeError, ValueError) as error:
                if str(error) != self._told:  # it is tried again whenever somebody asks
                    logger.warning("read indexes were not extended: %s", error)
                self._told = str(error)
            if is_last:
                return

    def _enough(self) -> int:
        """Return from how many newer rows on an index is extended now."""
        if self._closing.is_set():
            return min(LAST, reader.TAIL)
        asked, self._asked = self._asked, False
        return reader.TAIL if asked else LARGEST

    def catch_up(self, *, least: int | None = None) -> int:
        """
        Bring all indexes of the file up to date where nobody else does; return how many were changed.

        One that exists is extended from so many newer rows on. One that does not is made, but not where so many are
        asked for that it can wait.
        """
        enough = reader.TAIL if least is None else least
        with self._source.scan() as db:
            targets = find_targets(db, least=reader.FROM)
            can_wait = enough > reader.TAIL and not any(self._may_have(db, target, enough) for target in targets)
        if not targets or can_wait or not self._indexes.usable or self._abandoned.is_set():
            return 0
        with self._indexes.folder.alone() as alone:
            if not alone:
                return 0
            self._indexes.keep(targets)
            try:
                return sum(self._extend(target, least=enough) for target in targets if can_index(target.kind))
            except (_Abandoned, FileNotFoundError):  # the folder may be deleted, with the lock, at any time
                return 0

    def _may_have(self, db: Session, target: Target, count: int) -> bool:
        """Return whether there may be so many newer rows, at the cost of a look."""
        manifest = self._indexes.folder.read(target.name)
        return last_number(db, target) - (manifest.high if manifest else 0) >= count

    def _extend(self, target: Target, *, least: int) -> bool:
        folder = self._indexes.folder
        with self._source.scan() as db:
            manifest = folder.read(target.name)
            if manifest and not belongs(db, target, manifest):
                manifest = None
            last, covered = last_number(db, target), manifest.high if manifest else 0
            pending = count_rows(db, target, low=covered, high=last)
            segments = manifest.segments if manifest else ()
            kept = live_segments(db, target, segments)
        can_wait = manifest is not None or least > reader.TAIL
        if can_wait and pending < least and len(kept) == len(segments):
            return False
        is_bounded, growth = target.kind != "keywords", GROWTH[target.kind]
        while kept and kept[-1].count <= growth * pending and not (is_bounded and 2 * kept[-1].count >= LARGEST):
            pending += kept[-1].count
            kept = kept[:-1]
        build = self._build_terms if target.kind == "keywords" else self._build_graph
        segment = build(target, segments[len(kept) :], low=kept[-1].high if kept else 0, high=last)
        with self._source.scan() as db:
            (generation, *_), *_ = db.run("namespace_state", {"namespace": target.namespace}) or [(0,)]
        folder.write(
            target.name, Manifest(dimension=target.dimension, generation=generation, segments=(*kept, *segment))
        )
        return True

    def _check_wanted(self) -> None:
        if self._abandoned.is_set():
            raise _Abandoned

    def _blocks(self, target: Target, *, low: int, high: int) -> Iterator[list[Row]]:
        """Yield the rows of a range of numbers, each block as it was when it was read."""
        while True:
            self._check_wanted()
            with self._source.scan() as db:
                rows = read_rows(db, target, low=low, high=high, limit=BLOCK)
            if not rows:
                return
            yield rows
            low = rows[-1][0]

    def _build_graph(self, target: Target, joined: tuple[Segment, ...], *, low: int, high: int) -> list[Segment]:
        """Return new segments over a range of numbers, made from the file alone; none where there is nothing."""
        made: list[Segment] = []
        numbers, ids, held = list[int](), list[str](), _room(target)
        for rows in self._blocks(target, low=low, high=high):
            held[len(numbers) : len(numbers) + len(rows)] = [np.frombuffer(row[1], "<f4") for row in rows]
            numbers += (row[0] for row in rows)
            ids += (row[2] for row in rows)
            if len(numbers) >= LARGEST:
                made += self._keep_graph(target, numbers, ids, held, low=low, high=numbers[-1])
                low, numbers, ids = numbers[-1], [], []
        made += self._keep_graph(target, numbers, ids, held, low=low, high=high)
        return [*made[:-1], replace(made[-1], high=high)] if made else []

    def _keep_graph(
        self, target: Target, numbers: list[int], ids: list[str], held: NDArray[np.float16], *, low: int, high: int
    ) -> list[Segment]:
        def write(path: Path) -> None:
            graph = make_graph(target.dimension)
            for _ in add_vectors(graph, numbers, held[: len(numbers)]):
                self._check_wanted()
            graph.save(str(path))

        files: dict[str, Callable[[Path], object]] = {"segment": write}
        if target.kind == "vectors":
            packed = pack_ids(ids)
            files["ids"] = lambda path: write_names(path, numbers, packed)
        return self._keep(target, numbers, files, low=low, high=high)

    def _build_terms(self, target: Target, joined: tuple[Segment, ...], *, low: int, high: int) -> list[Segment]:
        """Return a new segment made of older ones, as far as they are still there, and of what is newer."""
        folder = self._indexes.folder
        with self._source.scan() as db:
            _, chunks, length = db.run("namespace_state", {"namespace": target.namespace})[0]
            scope = {"scope": target.scope, "low": low, "high": high}
            live = np.array([row[0] for row in db.run("keyword_numbers_between", scope)], dtype=np.int64)
        mean = length / max(1, chunks)
        parts = [read(path) for segment in joined for path in folder.open(segment)]
        covered = joined[-1].high if joined else low
        run: list[Row] = []
        for rows in self._blocks(target, low=covered, high=high):
            run += rows
            if len(run) >= RUN:
                parts.append(self._spill(target, run, mean=mean))
                run = []
        if run:
            parts.append(gather(run, mean=mean))
        kept = [
            np.isin(part.numbers, live) if place < len(joined) else np.ones(len(part.numbers), bool)
            for place, part in enumerate(parts)
        ]
        numbers = [int(number) for part, keep in zip(parts, kept, strict=True) for number in part.numbers[keep]]
        files = {"segment": lambda path: merge(parts, kept, mean=mean, path=path)}
        return self._keep(target, numbers, files, low=low, high=high)

    def _spill(self, target: Target, rows: list[Row], *, mean: float) -> TermArrays:
        """Return postings of chunks, in a file of our own that the next manifest removes."""
        part = gather(rows, mean=mean)
        path = self._indexes.folder.new_file(target.name)
        return merge([part], [np.ones(len(rows), bool)], mean=mean, path=path)

    def _keep(
        self, target: Target, numbers: list[int], files: Mapping[str, Callable[[Path], object]], *, low: int, high: int
    ) -> list[Segment]:
        """Return the segment of these rows, each of its files written; none where there are no rows."""
        if not numbers:
            return []
        save = self._indexes.folder.save
        saved = tuple(save(target.name, write, suffix=suffix) for suffix, write in files.items())
        with self._source.scan() as db:
            ends = read_ends(db, target, numbers)
        return [Segment(files=saved, low=low, high=high, count=len(numbers), ends=ends)]


def _room(target: Target) -> NDArray[np.float16]:
    """Return a place for the vectors of a segment; what is not written to takes no memory."""
    return np.empty((LARGEST + BLOCK, target.dimension), np.float16)
