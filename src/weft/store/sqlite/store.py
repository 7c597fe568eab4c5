"""One namespace of a SQLite file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import numpy as np

from weft.errors import SchemaMismatch
from weft.rank.bm25 import ceiling, idf, term_scores
from weft.records import (
    Batch,
    Calibration,
    Chunk,
    DocumentInfo,
    Extraction,
    Filter,
    Hit,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.labels import wanted_labels
from weft.store.sqlite.calibrated import read_calibration, write_calibration
from weft.store.sqlite.connect import Connections
from weft.store.sqlite.document_write import DocumentWriter
from weft.store.sqlite.facts import SqliteFacts
from weft.store.sqlite.graph_read import SqliteGraph
from weft.store.sqlite.postings import read_term
from weft.store.sqlite.statements import one, run


class SqliteStore:
    """One namespace of a SQLite file. Its row is made by the first write."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._namespace = namespace

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def graph(self) -> SqliteGraph:
        return SqliteGraph(self._connections, namespace=self._namespace)

    @property
    def facts(self) -> SqliteFacts:
        return SqliteFacts(self._connections, namespace=self._namespace)

    # ── write ───────────────────────────────────────────────────────────────────────────────────

    def write(self, *batches: Batch) -> None:
        with self._connections.write() as db:
            namespace = self._ensure(db)
            writer = DocumentWriter(db, namespace=namespace, name=self._namespace)
            for batch in batches:
                writer.write(batch, model=self._checked_model(db, namespace, batch))
            writer.finish()

    def delete(self, document_ids: Sequence[str]) -> int:
        with self._connections.write() as db:
            found = _find_namespace(db, self._namespace)
            if found is None:
                return 0
            writer = DocumentWriter(db, namespace=found[0], name=self._namespace)
            deleted = writer.delete(document_ids)
            if deleted:
                writer.finish()
            return deleted

    def annotate(self, origin: str, extractions: Mapping[str, Extraction]) -> int:
        with self._connections.write() as db:
            found = _find_namespace(db, self._namespace)
            if found is None:
                return 0
            writer = DocumentWriter(db, namespace=found[0], name=self._namespace)
            changed = writer.annotate(origin, extractions)
            if changed:
                writer.finish()
            return changed

    def write_model(self, model: StoredModel) -> None:
        with self._connections.write() as db:
            namespace = self._ensure(db)
            row = {"name": model.name, "fingerprint": model.fingerprint, "dimension": model.dimension}
            number = one(db, "write_model", {"namespace": namespace, **row})
            if model.active:
                missing = {"namespace": namespace, "fingerprint": model.fingerprint, "limit": 1}
                if run(db, "find_unembedded", missing) or run(db, "unembedded_entities", missing):
                    raise SchemaMismatch(
                        f"namespace {self._namespace!r} holds chunks without vectors of {model.name!r}",
                        hint="weft reembed",
                    )
                key = {"namespace": namespace, "model": number}
                run(db, "delete_other_models", key)
                run(db, "delete_other_calibration", key)
                run(db, "activate_model", key)
            run(db, "touch_namespace", {"namespace": namespace, "chunks": 0, "length": 0})

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self._connections.write() as db:
            namespace = self._ensure(db)
            known = {row.fingerprint: number for number, row in _models(db, namespace)}
            if model not in known:
                raise SchemaMismatch(f"namespace {self._namespace!r} does not know the embedder {model!r}")
            for id, vector in vectors.items():
                row = {"model": known[model], "id": id, "vector": vector.astype("<f4").tobytes()}
                run(db, "write_vector_by_id", {"namespace": namespace, **row})

    def write_calibration(self, calibration: Calibration | None) -> None:
        with self._connections.write() as db:
            namespace = self._ensure(db)
            write_calibration(db, namespace, calibration)
            run(db, "touch_namespace", {"namespace": namespace, "chunks": 0, "length": 0})

    # ── read ────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._connections.read():
            yield

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        rows = self._rows("documents_by_id", {"ids": json.dumps(list(ids))})
        found = {row[0]: _document(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        rows = self._rows("find_documents", {**_bind(where), "after": after, "limit": limit})
        return [_document(row) for row in rows]

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        rows = self._rows("chunks_by_id", {"ids": json.dumps(list(ids))})
        found = {row[0]: _chunk(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def find_chunks(self, document_id: str) -> list[Chunk]:
        return [_chunk(row) for row in self._rows("chunks_by_document", {"id": document_id})]

    def models(self) -> list[StoredModel]:
        with self._connections.read() as db:
            found = _find_namespace(db, self._namespace)
            return [model for _, model in _models(db, found[0])] if found else []

    def calibration(self) -> Calibration | None:
        with self._connections.read() as db:
            return read_calibration(db, self._namespace)

    def sample(self, *, limit: int) -> list[Chunk]:
        return [_chunk(row) for row in self._rows("sample_chunks", {"limit": limit})]

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        return [row[0] for row in self._rows("find_unembedded", {"fingerprint": model, "limit": limit})]

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        with self._connections.read() as db:
            found = _find_namespace(db, self._namespace)
            active = _active_model(db, found[0]) if found else None
            if found is None or active is None or limit < 1:
                return Ranking()
            number, model = active
            if len(vector) != model.dimension:
                raise SchemaMismatch(
                    f"the index has dimension {model.dimension}, the question {len(vector)}",
                    hint=f"use the embedder {model.name!r}, or weft reembed",
                )
            allowed = _allowed(db, found[0], where)
            if self._connections.vector_problem:
                return _scan_with_numpy(db, found[0], number, vector, limit=limit, allowed=allowed)
            rows = run(
                db,
                "search_vector",
                {
                    "namespace": found[0],
                    "model": number,
                    "vector": vector.astype("<f4").tobytes(),
                    "limit": limit,
                    "everything": allowed is None,
                    "numbers": json.dumps(sorted(allowed or ())),
                },
            )
        if not rows:
            return Ranking()
        _, _, mean, squares, count = rows[0]
        deviation = math.sqrt(max(0.0, squares - mean * mean))
        hits = tuple(Hit(row[0], rank, row[1]) for rank, row in enumerate(rows, start=1))
        return Ranking(hits=hits, mean=mean, deviation=deviation, count=count)

    def search_keyword(self, terms: Sequence[str], *, limit: int, where: Filter) -> Ranking:
        with self._connections.read() as db:
            found = _find_namespace(db, self._namespace)
            if found is None or not terms or limit < 1 or not found[2]:
                return Ranking()
            namespace, _, total, length = found
            held = [read_term(db, namespace=namespace, term=term) for term in dict.fromkeys(terms)]
            weights = [idf(len(numbers), total=total) for numbers, _, _ in held]
            highest = max((int(numbers[-1]) for numbers, _, _ in held if len(numbers)), default=-1)
            scores = np.zeros(highest + 1)
            for weight, (numbers, frequency, lengths) in zip(weights, held, strict=True):
                scores[numbers] += term_scores(frequency, lengths, weight=weight, mean_length=length / total)
            allowed = _allowed(db, namespace, where)
            if allowed is not None:
                keep = np.zeros(highest + 1, dtype=bool)
                keep[[number for number in allowed if number <= highest]] = True
                scores = np.where(keep, scores, 0.0)
            hits = _best(db, namespace, scores, limit=limit, least=0.0)
        return Ranking(hits=hits, ceiling=ceiling(weights))

    def stats(self) -> StoreStats:
        with self._connections.read() as db:
            found = _find_namespace(db, self._namespace)
            if found is None:
                return StoreStats(documents=0, chunks=0, terms=0, vectors=0, generation=0, models=())
            namespace, generation, chunks, _ = found
            active = _active_model(db, namespace)
            return StoreStats(
                documents=one(db, "count_documents", {"namespace": namespace}),
                chunks=chunks,
                terms=one(db, "count_terms", {"namespace": namespace}),
                vectors=one(db, "count_vectors", {"model": active[0]}) if active else 0,
                generation=generation,
                models=tuple(model for _, model in _models(db, namespace)),
            )

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    def _rows(self, name: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self._connections.read() as db:
            found = _find_namespace(db, self._namespace)
            return run(db, name, {"namespace": found[0], **values}) if found else []

    def _ensure(self, db: apsw.Connection) -> int:
        run(db, "write_namespace", {"name": self._namespace})
        found = _find_namespace(db, self._namespace)
        assert found is not None
        return found[0]

    def _checked_model(self, db: apsw.Connection, namespace: int, batch: Batch) -> int | None:
        """Return the number of the embedder a batch may be written under; refuse any but the active one."""
        active = _active_model(db, namespace)
        if (active[1].fingerprint if active else "") != batch.model:
            have = repr(active[1].name) if active else "no embedder"
            raise SchemaMismatch(f"namespace {self._namespace!r} is indexed with {have}", hint="weft reembed")
        return active[0] if active else None


def _find_namespace(db: apsw.Connection, name: str) -> tuple[int, int, int, int] | None:
    """Return number, generation, chunk count and total length of a namespace, or None."""
    rows = run(db, "find_namespace", {"name": name})
    return (rows[0][0], rows[0][1], rows[0][2], rows[0][3]) if rows else None


def _models(db: apsw.Connection, namespace: int) -> list[tuple[int, StoredModel]]:
    rows = run(db, "list_models", {"namespace": namespace})
    return [
        (number, StoredModel(name=name, fingerprint=fingerprint, dimension=dimension, active=bool(active)))
        for number, name, fingerprint, dimension, active in rows
    ]


def _active_model(db: apsw.Connection, namespace: int) -> tuple[int, StoredModel] | None:
    return next((entry for entry in _models(db, namespace) if entry[1].active), None)


def _bind(where: Filter) -> dict[str, Any]:
    return {
        "all_documents": not where.documents,
        "documents": json.dumps(where.documents),
        "prefix": where.source_prefix,
        "labels": json.dumps(wanted_labels(where)),
    }


def _allowed(db: apsw.Connection, namespace: int, where: Filter) -> set[int] | None:
    """Return the numbers of the chunks that pass the filter; None when everything does."""
    if not where:
        return None
    return {row[0] for row in run(db, "filter_chunks", {"namespace": namespace, **_bind(where)})}


def _best(
    db: apsw.Connection,
    namespace: int,
    scores: np.ndarray[Any, np.dtype[np.float64]],
    *,
    limit: int,
    least: float,
) -> tuple[Hit, ...]:
    """Return the best of `scores` (by chunk number) above `least`; ties go to the smaller id."""
    numbers = np.flatnonzero(scores > least)
    if len(numbers) > limit:
        kth = np.partition(scores[numbers], len(numbers) - limit)[len(numbers) - limit]
        numbers = numbers[scores[numbers] >= kth]
    key = {"namespace": namespace, "numbers": json.dumps(numbers.tolist())}
    ids = dict(run(db, "chunk_ids", key))
    ordered = sorted(((float(scores[n]), ids[n]) for n in numbers.tolist() if n in ids), key=lambda p: (-p[0], p[1]))
    return tuple(Hit(id, rank, score) for rank, (score, id) in enumerate(ordered[:limit], start=1))


def _scan_with_numpy(
    db: apsw.Connection, namespace: int, model: int, vector: Vector, *, limit: int, allowed: set[int] | None
) -> Ranking:
    """Do what the `search_vector` statement does, where sqlite-vec cannot be loaded."""
    rows = run(db, "all_vectors", {"model": model})
    if not rows:
        return Ranking()
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), -1)
    cosines = (matrix @ vector.astype(np.float32)).astype(np.float64)
    scores = np.full(max(row[0] for row in rows) + 1, -2.0)
    for (number, _), cosine in zip(rows, cosines.tolist(), strict=True):
        if allowed is None or number in allowed:
            scores[number] = cosine
    hits = _best(db, namespace, scores, limit=limit, least=-2.0)
    return Ranking(hits=hits, mean=float(cosines.mean()), deviation=float(cosines.std()), count=len(rows))


def _document(row: tuple[Any, ...]) -> DocumentInfo:
    id, source, title, metadata, content_hash, unit, count = row
    return DocumentInfo(
        id=id,
        source=source,
        title=title,
        metadata=json.loads(metadata),
        content_hash=content_hash,
        unit=unit,
        chunk_count=count,
    )


def _chunk(row: tuple[Any, ...]) -> Chunk:
    id, document_id, ordinal, heading, start_line, end_line, text = row
    return Chunk(
        id=id,
        document_id=document_id,
        ordinal=ordinal,
        heading=tuple(json.loads(heading)),
        start_line=start_line,
        end_line=end_line,
        text=text,
    )
