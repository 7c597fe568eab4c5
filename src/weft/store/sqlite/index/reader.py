"""
Answers questions about large namespaces by read indexes beside the file.

The file stays the truth: an index only says which rows to look at; what is newer than the index is searched as well.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.rank.bm25 import ceiling, idf
from weft.rank.fuse import number_hits
from weft.records import Filter, Ranking, Vector
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.candidates import allowed_chunks
from weft.store.sqlite.index.cosine_statistics import Spreads
from weft.store.sqlite.index.hnsw import Neighbours
from weft.store.sqlite.index.keyword_search import TermSearch
from weft.store.sqlite.index.memtable import Tail, TermTail, VectorTail
from weft.store.sqlite.index.postings_file import TermArrays, read
from weft.store.sqlite.index.resident_vectors import LARGEST, HeldVectors
from weft.store.sqlite.index.segments import Folder, Manifest
from weft.store.sqlite.index.targets import Target, belongs, can_index, count_rows, find_targets, last_number

logger = logging.getLogger(__name__)

FROM = 20_000
"""Rows from which an index pays (`benchmarks/scale.py`)."""

TAIL = 2_048
"""Rows that are newer than the index from which it is extended."""

SPARE = 8
"""Vectors asked for beyond those wanted: some are gone. With fewer than wanted, four times as many are asked for."""

GONE = 8
"""One part in so many is asked for beyond the chunks wanted by words, and as many at least: some are gone."""


@dataclass(frozen=True, slots=True)
class _State:
    generation: int
    chunks: int
    length: int


@dataclass(frozen=True, slots=True)
class _Opened:
    stamp: tuple[int, int]
    manifest: Manifest | None = None
    segments: Any = None
    tail: Any = None


class ReadIndexes:
    """The read indexes of one file."""

    def __init__(self, db: str, *, on_behind: Callable[[], None]) -> None:
        self._on_behind = on_behind
        self.folder = Folder(db)
        self.usable = db != ":memory:"
        self._opened: dict[str, _Opened] = {}
        self._spreads = Spreads()
        self._held = HeldVectors()

    # ── searching; None where only the file itself can answer ───────────────────────────────────

    def search_vectors(
        self, db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter
    ) -> Ranking | None:
        """Rank the chunks that pass a filter by cosine."""
        target = Target("vectors", namespace, model, len(vector))
        state = _state(db, namespace)
        if state.chunks < min(FROM, LARGEST):
            asked: dict[str, Any] = {"model": model, "limit": limit, "where": where}
            return self._held.search(db, namespace, vector, **asked, generation=state.generation)
        opened = self._find(db, target, state)
        if opened is None:
            return None
        allowed = allowed_chunks(db, namespace, where)
        rows: Sequence[tuple[str, float]] | None
        if allowed is None:
            rows = self._nearest(db, target, opened, vector, limit=limit)
        elif len(allowed) <= FROM:
            values = {"namespace": namespace, "model": model, "vector": db.pack(vector), "limit": limit}
            rows = db.run("search_vectors_of_chunks", {**values, "numbers": json.dumps(sorted(allowed))})
        else:
            rows = None
        if rows is None:
            return None
        mean, deviation = self._spreads.estimate(db, vector, model=model, total=state.chunks)
        hits = tuple(number_hits(*zip(*rows, strict=True))) if rows else ()
        return Ranking(hits=hits, mean=mean, deviation=deviation, count=state.chunks)

    def search_entities(
        self, db: Session, namespace: Namespace, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]] | None:
        """Rank entities of facts by cosine; ties by key."""
        target = Target("entities", namespace, model, len(vector))
        opened = self._find(db, target, _state(db, namespace))
        return None if opened is None else self._nearest(db, target, opened, vector, limit=limit)

    def search_keywords(
        self, db: Session, namespace: Namespace, terms: Sequence[str], *, limit: int, where: Filter
    ) -> Ranking | None:
        """Rank the chunks that pass a filter by BM25."""
        target = Target("keywords", namespace, namespace)
        state = _state(db, namespace)
        opened = self._find(db, target, state)
        tail: TermTail | None = opened.tail.read(db) if opened else None
        if opened is None or opened.manifest is None or tail is None:
            return None
        counts = db.count_terms(namespace, terms)
        weights = {term: idf(counts.get(term, 0), total=state.chunks) for term in terms}
        search = TermSearch(
            opened.segments,
            tail,
            weights=weights,
            mean_length=state.length / state.chunks,
            newer=state.chunks - opened.manifest.count,
        )
        spare = max(GONE, limit // GONE)
        found = search.best(db, namespace, limit=limit, spare=spare, allowed=allowed_chunks(db, namespace, where))
        if found is None:
            self._on_behind()
            return None
        return Ranking(hits=found, ceiling=ceiling(list(weights.values())))

    # ── the indexes themselves ──────────────────────────────────────────────────────────────────

    def describe(self, db: Session, target: Target) -> str:
        """Return what answers questions."""
        if target.name not in {one.name for one in find_targets(db, least=FROM)}:
            return "exact"
        opened = self._find(db, target, _state(db, target.namespace))
        if opened is None or opened.manifest is None:
            known = can_index(target.kind)
            return (
                "exact; an index is not built yet" if known else "exact; pip install 'weft-search[scale]' for an index"
            )
        newer = count_rows(db, target, low=opened.manifest.high, high=last_number(db, target))
        what = "chunks" if target.kind == "keywords" else "vectors"
        files = len(opened.manifest.segments)
        return f"index of {opened.manifest.count:,} {what} in {files} files, {newer:,} newer ones beside it"

    def forget(self) -> None:
        """Close and remove all indexes."""
        self._held.forget()
        self._opened.clear()
        self.folder.clear()

    def keep(self, targets: Sequence[Target]) -> None:
        """Remove the indexes of all others."""
        self.folder.keep([target.name for target in targets])

    def _find(self, db: Session, target: Target, state: _State) -> _Opened | None:
        """Return the index that may answer in this transaction."""
        if not self.usable or (target.kind != "entities" and state.chunks < FROM) or not can_index(target.kind):
            return None
        stamp = self.folder.stamp(target.name)
        opened = self._opened.get(target.name)
        if opened is None or opened.stamp != stamp:
            opened = self._opened[target.name] = self._open(db, target, stamp)
        if opened.manifest is None or not _is_seen(db, target, opened.manifest, generation=state.generation):
            if any(one.name == target.name for one in find_targets(db, least=FROM)):
                self._on_behind()
            return None
        return opened

    def _open(self, db: Session, target: Target, stamp: tuple[int, int]) -> _Opened:
        manifest = self.folder.read(target.name) if any(stamp) else None
        if manifest is None or not belongs(db, target, manifest):
            return _Opened(stamp)
        try:
            files = [self.folder.open(segment) for segment in manifest.segments]
            held: VectorTail | TermTail
            segments: Neighbours | list[TermArrays]
            if target.kind == "keywords":
                held, segments = TermTail(), [read(path) for (path,) in files]
            else:
                held, segments = VectorTail(target.dimension), Neighbours(files)
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            logger.warning("the read index %s cannot be used: %s", target.name, error)
            return _Opened(stamp)
        return _Opened(stamp, manifest, segments, Tail(target, held, low=manifest.high))

    def _nearest(
        self, db: Session, target: Target, opened: _Opened, vector: Vector, *, limit: int
    ) -> list[tuple[str, float]] | None:
        """Return the nearest rows; None where too many of those found are gone, or too many are not in the index."""
        tail: VectorTail | None = opened.tail.read(db)
        if tail is None or opened.manifest is None:
            self._on_behind()
            return None
        packed = db.pack(vector)
        for looks in (limit + SPARE, 4 * (limit + SPARE)):
            newer = tail.look(vector, looks=looks)
            try:
                indexed = opened.segments.look(vector, looks=looks)
            except ValueError:  # only a damaged file has ids that are none
                return None
            values = {"model": target.scope, "vector": packed, "numbers": json.dumps([*indexed, *newer])}
            rows = db.run(f"score_{target.kind}", values)
            if len(tail) >= TAIL:
                self._on_behind()
            there = {row[0] for row in rows}
            sources = ((indexed, opened.manifest.count), (newer, len(tail)))
            if all(looks >= size or len(there.intersection(found)) >= limit for found, size in sources):
                ids = indexed | newer
                ordered = sorted([(-score, id or ids[number]) for number, score, id in rows])
                return [(id, -score) for score, id in ordered[:limit]]
        return None


def _state(db: Session, namespace: Namespace) -> _State:
    return _State(*db.run("namespace_state", {"namespace": namespace})[0])


def _is_seen(db: Session, target: Target, manifest: Manifest, *, generation: int) -> bool:
    """Return whether a transaction sees the state an index was built from, or a later one."""
    given = db.one("last_given_entity") if target.kind == "entities" else manifest.high
    return generation >= manifest.generation and given >= manifest.high
