"""
Ranks the vectors of large namespaces by read indexes beside the file.

The file stays the truth: it says which of the neighbours are still there and how close they are, and what is newer than
the index is scanned in it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.records import Filter, Hit, Ranking, Vector
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.candidates import allowed_chunks
from weft.store.sqlite.segments import Folder, Manifest, can_index, checksum

logger = logging.getLogger(__name__)

FROM = 20_000
"""Chunks of a namespace from which an index pays (`benchmarks/scale.py`)."""

TAIL = 2_048
"""Vectors that are newer than the index from which it is extended."""

SPARE = 64
"""Neighbours asked for beyond those wanted: some are gone, and the order of quantised vectors is a little off."""

SAMPLED = 2_000
"""Vectors from which the mean and the deviation of cosines are taken."""


@dataclass(frozen=True, slots=True)
class _Opened:
    stamp: tuple[int, int]
    manifest: Manifest | None
    indexes: tuple[Any, ...] = ()
    turn: threading.Lock = field(default_factory=threading.Lock)


class VectorIndexes:
    """The read indexes of one file, by namespace and embedder."""

    def __init__(self, db: str, *, on_behind: Callable[[], None]) -> None:
        self._on_behind = on_behind
        self.folder = Folder(db)
        self.usable = db != ":memory:" and can_index()
        self._opened: dict[str, _Opened] = {}
        self._samples: dict[int, tuple[int, NDArray[np.float32]]] = {}

    def search(
        self, db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter
    ) -> Ranking | None:
        """Rank the chunks that pass a filter; None where only a scan can answer."""
        opened = self._find(db, namespace, model)
        if opened is None or opened.manifest is None or len(vector) != opened.manifest.dimension:
            return None
        values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
        allowed = allowed_chunks(db, namespace, where)
        if allowed is None:
            rows = self._nearest(db, opened, vector, values, limit=limit)
        elif len(allowed) <= FROM:
            rows = db.run("search_vectors_of_chunks", {**values, "numbers": json.dumps(sorted(allowed))})
        else:
            rows = None
        if rows is None:
            return None
        total = db.run("namespace_state", {"namespace": namespace})[0][1]
        # Not by `@`: its threads wait for each other longer than this takes.
        cosines = np.einsum("ij,j->i", self._sample(db, model=model, total=total), vector.astype(np.float32))
        hits = tuple(Hit(row[0], rank, row[1]) for rank, row in enumerate(rows, start=1))
        return Ranking(hits=hits, mean=float(cosines.mean()), deviation=float(cosines.std()), count=total)

    def describe(self, db: Session, namespace: Namespace, *, model: int) -> str:
        """Return what answers questions by vectors."""
        (_, total), *_ = db.run("namespace_state", {"namespace": namespace})
        if total < FROM:
            return "exact"
        opened = self._find(db, namespace, model)
        if opened is None or opened.manifest is None:
            return (
                "exact; an index is not built yet" if self.usable else "exact; pip install 'weft[scale]' for an index"
            )
        newer = tail(db, model=model, manifest=opened.manifest)
        return (
            f"index of {opened.manifest.count:,} vectors in {len(opened.indexes)} files, {newer:,} newer ones scanned"
        )

    def forget(self) -> None:
        """Close and remove all indexes."""
        self._opened.clear()
        self.folder.clear()

    def _find(self, db: Session, namespace: Namespace, model: int) -> _Opened | None:
        """Return the index that may answer in this transaction."""
        if not self.usable:
            return None
        name = index_name(namespace, model)
        stamp = self.folder.stamp(name)
        opened = self._opened.get(name)
        if opened is None or opened.stamp != stamp:
            opened = self._opened[name] = self._open(db, name, stamp, model=model)
        (generation, total), *_ = db.run("namespace_state", {"namespace": namespace})
        if total < FROM:
            return None
        if opened.manifest is None or generation < opened.manifest.generation:
            self._on_behind()
            return None
        return opened

    def _open(self, db: Session, name: str, stamp: tuple[int, int], *, model: int) -> _Opened:
        manifest = self.folder.read(name) if any(stamp) else None
        if manifest is None or not belongs(db, manifest, model=model):
            return _Opened(stamp, None)
        try:
            indexes = tuple(self.folder.open(segment) for segment in manifest.segments)
        except (OSError, RuntimeError, ValueError) as error:
            logger.warning("the read index %s cannot be used: %s", name, error)
            return _Opened(stamp, None)
        return _Opened(stamp, manifest, indexes)

    def _nearest(
        self, db: Session, opened: _Opened, vector: Vector, values: dict[str, Any], *, limit: int
    ) -> list[tuple[Any, ...]] | None:
        """Return rows for the nearest chunks; None where too many of those found are gone."""
        manifest = opened.manifest
        assert manifest is not None
        for looks in (limit + SPARE, 4 * (limit + SPARE)):
            numbers = _look(opened, vector, looks)
            found = {"numbers": json.dumps(numbers), "high": manifest.high}
            rows = db.run("search_numbered_vectors", {**values, **found})
            alive, seen = rows[0][2:] if rows else (0, 0)
            if seen - alive >= TAIL:
                self._on_behind()
            if alive >= limit or looks >= manifest.count:
                return rows
        return None

    def _sample(self, db: Session, *, model: int, total: int) -> NDArray[np.float32]:
        """Return vectors from all over a namespace, taken again when it has grown or shrunk by a tenth."""
        known = self._samples.get(model)
        if known is None or abs(known[0] - total) > known[0] / 10:
            values = {"model": model, "every": max(1, total // SAMPLED), "limit": 2 * SAMPLED}
            rows = db.run("sample_numbered_vectors", values) or db.run(
                "sample_numbered_vectors", {**values, "every": 1}
            )
            known = self._samples[model] = (total, np.stack([db.unpack(row[0]) for row in rows]))
        return known[1]


def index_name(namespace: Namespace, model: int) -> str:
    """Return what the files of an index are called."""
    return f"vectors-{namespace}-{model}"


def tail(db: Session, *, model: int, manifest: Manifest | None) -> int:
    """Return how many vectors an index does not cover."""
    low = manifest.high if manifest else 0
    last = db.one("last_vector", {"model": model})
    return int(db.one("count_vectors_between", {"model": model, "low": low, "high": last}))


def belongs(db: Session, manifest: Manifest, *, model: int) -> bool:
    """Return whether an index was built from this file, and not from one that a backup has replaced."""
    ends = {int(number): crc for segment in manifest.segments for number, crc in segment.ends.items()}
    rows = db.run("vectors_at", {"numbers": json.dumps(sorted(ends))})
    return all(other == model and checksum(vector) == ends[number] for number, other, vector in rows)


def _look(opened: _Opened, vector: Vector, looks: int) -> list[int]:
    """Return the numbers of the vectors that the segments find nearest, of all together."""
    numbers, distances = [], []
    with opened.turn:  # a segment is not made for two threads at once
        for index in opened.indexes:
            index.expansion_search = max(128, looks)
            matches = index.search(vector.astype(np.float32), looks, threads=1)
            numbers.append(matches.keys.astype(np.int64))
            distances.append(matches.distances)
    order = np.argsort(np.concatenate(distances), kind="stable")[:looks]
    return [int(number) for number in np.concatenate(numbers)[order]]
