"""Builds and extends read indexes in the background, from committed vectors, without holding up writers."""

from __future__ import annotations

import logging
import threading
import uuid
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from weft.errors import WeftError
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite import derived
from weft.store.sqlite.derived import VectorIndexes, belongs, index_name, tail
from weft.store.sqlite.segments import ENDS, Manifest, Segment, checksum

logger = logging.getLogger(__name__)

BLOCK = 1_024
"""Vectors read in one transaction and added at once."""

PAUSE = 1.0
"""Seconds between what calls for an extension and its beginning: commits come in groups, commands end soon."""


class _Source(Protocol):
    def read(self, namespace: str = "") -> AbstractContextManager[Session]: ...


class Extender:
    """A thread that sleeps until a commit or a question shows that an index is behind."""

    def __init__(self, indexes: VectorIndexes, source: _Source) -> None:
        self._indexes = indexes
        self._source = source
        self._due = threading.Event()
        self._closing = threading.Event()
        self._abandoned = threading.Event()
        self._wrote = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def call(self, *, wrote: bool = False) -> None:
        """Ask for a look at all indexes soon."""
        self._wrote = self._wrote or wrote
        self._due.set()
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="weft-indexes", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End; where this process has written, what is due is done first."""
        with self._starting:
            self._closing.set()
        if self._thread is not None:
            if not self._wrote:
                self._abandoned.set()
            self._due.set()
            self._thread.join()

    def _run(self) -> None:
        while self._due.wait():
            self._closing.wait(PAUSE)
            self._due.clear()
            try:
                self.catch_up()
            except (WeftError, OSError, RuntimeError) as error:
                logger.warning("read indexes were not extended: %s", error)
            if self._closing.is_set():
                return

    def catch_up(self) -> int:
        """Bring all indexes of the file up to date where nobody else does; return how many were changed."""
        with self._source.read() as db:
            models = db.run("indexed_models", {"least": derived.FROM})
        if not models or not self._indexes.usable or self._abandoned.is_set():
            return 0
        with self._indexes.folder.alone() as alone:
            if not alone:
                return 0
            self._indexes.folder.keep([index_name(namespace, model) for namespace, model, _ in models])
            return sum(self._extend(*model) for model in models)

    def _extend(self, namespace: Namespace, model: int, dimension: int) -> bool:
        folder, name = self._indexes.folder, index_name(namespace, model)
        with self._source.read() as db:
            manifest = folder.read(name)
            if manifest and (manifest.dimension != dimension or not belongs(db, manifest, model=model)):
                manifest = None
            pending, last = tail(db, model=model, manifest=manifest), db.one("last_vector", {"model": model})
            kept = _live(db, manifest, model=model) if manifest else ()
        if manifest and pending < derived.TAIL and len(kept) == len(manifest.segments):
            return False
        while kept and kept[-1].count <= 2 * pending:
            pending += kept[-1].count
            kept = kept[:-1]
        segment = self._build(name, model, dimension, low=kept[-1].high if kept else 0, high=last)
        if self._abandoned.is_set():
            return False
        with self._source.read() as db:
            (generation, _), *_ = db.run("namespace_state", {"namespace": namespace}) or [(0, 0)]
        folder.write(name, Manifest(dimension=dimension, generation=generation, segments=(*kept, *segment)))
        return True

    def _build(self, name: str, model: int, dimension: int, *, low: int, high: int) -> list[Segment]:
        """Return a new segment over a range of numbers; nothing where there is nothing, or no time."""
        from usearch.index import Index

        index = Index(ndim=dimension, metric="ip", dtype="i8", connectivity=16, expansion_add=64)
        at = low
        ends: list[tuple[Any, ...]] = []
        while not self._abandoned.is_set():
            with self._source.read() as db:
                values = {"model": model, "low": at, "high": high, "limit": BLOCK}
                rows: list[tuple[Any, ...]] = db.run("vectors_between", values)
                vectors = [db.unpack(row[1]) for row in rows]
            if not rows:
                break
            # By one thread: where two add at once, now and then a vector is linked to by no other and never found.
            index.add(np.array([row[0] for row in rows], dtype=np.uint64), np.stack(vectors), threads=1)
            at, ends = rows[-1][0], [*ends, *rows][-ENDS:]
        if self._abandoned.is_set() or not len(index):
            return []
        file = f"{name}.{uuid.uuid4().hex[:12]}.usearch"
        size = self._indexes.folder.save(index, file)
        known = {str(number): checksum(bytes(vector)) for number, vector in ends}
        return [Segment(file=file, size=size, low=low, high=high, count=len(index), ends=known)]


def _live(db: Session, manifest: Manifest, *, model: int) -> tuple[Segment, ...]:
    """Return the segments before the first of which less than half is still there."""
    for place, segment in enumerate(manifest.segments):
        values = {"model": model, "low": segment.low, "high": segment.high}
        if 2 * db.one("count_vectors_between", values) < segment.count:
            return manifest.segments[:place]
    return manifest.segments
