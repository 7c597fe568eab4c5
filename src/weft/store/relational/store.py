"""Documents, chunks, vectors and keywords of one namespace in a relational database."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from weft.errors import SchemaMismatch
from weft.records import (
    Batch,
    Calibration,
    Chunk,
    DocumentInfo,
    Done,
    Filter,
    KeywordStatistics,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.base import MIN_COMMON_TERM_CHUNKS
from weft.store.relational.annotations import RelationalAnnotations
from weft.store.relational.calibration import read_calibration, write_calibration
from weft.store.relational.chunk_rows import read_chunk, read_document
from weft.store.relational.document_read import read_batches
from weft.store.relational.document_write import DocumentWriter
from weft.store.relational.fact_store import RelationalFacts
from weft.store.relational.filters import bind
from weft.store.relational.graph.document_graph import DocumentGraph
from weft.store.relational.graph.graph_read import RelationalGraph
from weft.store.relational.jobs import RelationalJobs, discard_jobs, finish_jobs
from weft.store.relational.passages import RelationalPassages
from weft.store.relational.retry import retry_once
from weft.store.relational.session import (
    Connections,
    Session,
    find_active_model,
    make_namespace,
    model_number,
    read_rows,
    touch_namespace,
)
from weft.store.relational.spending import RelationalSpending


@retry_once
class RelationalStore:
    """One namespace of a relational database. The first write creates its row."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._namespace = namespace
        self._rows = partial(read_rows, connections, namespace)

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def graph(self) -> RelationalGraph:
        return RelationalGraph(self._connections, namespace=self._namespace)

    @property
    def facts(self) -> RelationalFacts:
        return RelationalFacts(self._connections, namespace=self._namespace)

    @property
    def passages(self) -> RelationalPassages:
        return RelationalPassages(self._connections, namespace=self._namespace)

    @property
    def annotations(self) -> RelationalAnnotations:
        return RelationalAnnotations(self._connections, namespace=self._namespace)

    @property
    def jobs(self) -> RelationalJobs:
        return RelationalJobs(self._connections, namespace=self._namespace)

    @property
    def spending(self) -> RelationalSpending:
        return RelationalSpending(self._connections, namespace=self._namespace)

    # ── write ───────────────────────────────────────────────────────────────────────────────────

    def write(self, *batches: Batch, done: Done | None = None, defer_indexes: bool = False) -> None:
        with (
            _paused_collector(),
            self._connections.write(self._namespace, turn=None, defer_indexes=defer_indexes) as db,
        ):
            _write(db, self._namespace, batches, done=done)

    def finish_load(self) -> None:
        self._connections.pack()
        self._connections.create_indexes(self._namespace)

    def delete(self, document_ids: Sequence[str]) -> int:
        with self._connections.write(self._namespace) as db:
            found = db.namespace(self._namespace)
            if found is None:
                return 0
            statements = DocumentGraph(db, namespace=found.key, name=self._namespace, models={})
            writer = DocumentWriter(db, namespace=found.key, name=self._namespace, statements=statements)
            deleted = writer.delete(document_ids)
            db.run("delete_jobs", {"namespace": found.key, "ids": json.dumps(list(document_ids))})
            if deleted:
                writer.finish()
        return deleted

    def write_model(self, model: StoredModel) -> None:
        self._connections.prepare_vectors(model.dimension)
        with self._connections.write(self._namespace, turn="alone") as db:
            namespace = make_namespace(db, self._namespace)
            row = {"name": model.name, "fingerprint": model.fingerprint, "dimension": model.dimension}
            number = db.one("write_model", {"namespace": namespace, **row})
            if model.active:
                missing = {"namespace": namespace, "fingerprint": model.fingerprint, "limit": 1}
                if db.run("find_unembedded", missing) or db.run("unembedded_entities", missing):
                    raise SchemaMismatch(
                        f"namespace {self._namespace!r} has chunks without vectors of {model.name!r}",
                        hint="run weft reembed, or pass --embedder none to search without vectors",
                    )
                key = {"namespace": namespace, "model": number}
                db.run("delete_other_models", key)
                db.run("delete_other_calibration", key)
                db.run("activate_model", key)
            touch_namespace(db, namespace)

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self._connections.write(self._namespace) as db:
            namespace = make_namespace(db, self._namespace)
            number = model_number(db, self._namespace, model)
            for id, vector in vectors.items():
                row = {"model": number, "id": id, "vector": db.vectors.pack_half(vector)}
                db.run("write_vector_by_id", {"namespace": namespace, **row})

    def write_calibration(self, calibration: Calibration | None) -> None:
        with self._connections.write(self._namespace) as db:
            namespace = make_namespace(db, self._namespace)
            write_calibration(db, namespace, calibration)
            touch_namespace(db, namespace)

    # ── read ────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._connections.read(self._namespace, may_lag=True):
            yield

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        rows = self._rows("documents_by_id", {"ids": json.dumps(list(ids))})
        found = {document.id: document for document in map(read_document, rows)}
        return [found[id] for id in ids if id in found]

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        rows = self._rows("find_documents", {**bind(where), "after": after, "limit": limit})
        return [read_document(row) for row in rows]

    def source_range(self, *, absolute: bool = False) -> tuple[str, str] | None:
        with self._connections.read(self._namespace) as db:
            found = db.namespace(self._namespace)
            if absolute or found is None:
                return found.absolute_sources if found else None
            ((first, last),) = db.run("source_range", {"namespace": found.key})
            return (first, last) if first is not None else None

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        rows = self._rows("chunks_by_id", {"ids": json.dumps(list(ids))})
        found = {chunk.id: chunk for chunk in map(read_chunk, rows)}
        return [found[id] for id in ids if id in found]

    def find_chunks(self, document_id: str) -> list[Chunk]:
        return [read_chunk(row) for row in self._rows("chunks_by_document", {"id": document_id})]

    def batches(self, document_ids: Sequence[str]) -> list[Batch]:
        with self._connections.read(self._namespace) as db:
            namespace = db.namespace_key(self._namespace)
            documents = self.documents(list(dict.fromkeys(document_ids)))
            return read_batches(db, namespace, documents, active=find_active_model(db, self._namespace))

    def content_hashes(self) -> list[tuple[str, str, str]]:
        return [(id, source, hash) for id, source, hash in self._rows("content_hashes")]

    def models(self) -> list[StoredModel]:
        with self._connections.read(self._namespace) as db:
            found = db.namespace(self._namespace)
            return [row.model for row in found.models] if found else []

    def calibration(self) -> Calibration | None:
        with self._connections.read(self._namespace) as db:
            return read_calibration(db, self._namespace)

    def sample(self, *, limit: int) -> list[Chunk]:
        return [read_chunk(row) for row in self._rows("sample_chunks", {"limit": limit})]

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        return [id for (id,) in self._rows("find_unembedded", {"fingerprint": model, "limit": limit})]

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        with self._connections.read(self._namespace) as db:
            found = db.namespace(self._namespace)
            active = found.active if found else None
            if found is None or active is None or limit < 1:
                return Ranking()
            model = active.model
            if len(vector) != model.dimension:
                raise SchemaMismatch(
                    f"the question vector has dimension {len(vector)}, but the index has dimension {model.dimension}",
                    hint=f"pass --embedder {model.name}, or run weft reembed",
                )
            return db.vectors.nearest(found, vector, model=active.number, limit=limit, where=where)

    def keyword_statistics(self, terms: Sequence[str]) -> KeywordStatistics:
        with self._connections.read(self._namespace) as db:
            found = db.namespace(self._namespace)
            if found is None:
                return KeywordStatistics(chunks=0, length=0, counts={})
            db.keywords.read_ahead(found, terms)
            counts = db.keywords.counts(found.key, terms) if terms else {}
            return KeywordStatistics(chunks=found.chunks, length=found.length, counts=counts)

    def search_keyword(
        self, terms: Sequence[str], *, limit: int, where: Filter, statistics: KeywordStatistics | None = None
    ) -> Ranking:
        with self._connections.read(self._namespace) as db:
            found = db.namespace(self._namespace)
            if found is None or not terms or limit < 1 or not found.chunks:
                return Ranking()
            return db.keywords.best(found, terms, limit=limit, where=where, statistics=statistics)

    def find_chunks_with_terms(self, wanted: Sequence[Sequence[str]], *, limit: int) -> list[list[str] | None]:
        with self._connections.read(self._namespace) as db:
            namespace = db.namespace_key(self._namespace)
            counts = db.keywords.counts(namespace, {term for terms in wanted for term in terms})
            searched = {
                str(place): [{term} for term in terms]
                for place, terms in enumerate(wanted)
                if terms and counts.keys() >= set(terms) and not _are_common([counts[t] for t in terms], limit=limit)
            }
            found = db.keywords.conjunction(namespace, searched) if searched else {}
            few = {place: numbers for place, numbers in found.items() if len(numbers) <= limit}
            ids = db.chunk_ids.find(namespace, sorted(set[int]().union(*few.values()))) if any(few.values()) else {}
            return [
                sorted(ids[number] for number in few[str(place)] if number in ids)
                if str(place) in few
                else None
                if counts.keys() >= set(terms) and terms
                else []
                for place, terms in enumerate(wanted)
            ]

    def stats(self) -> StoreStats:
        with self._connections.read(self._namespace) as db:
            found = db.namespace(self._namespace)
            if found is None:
                return StoreStats(documents=0, chunks=0, terms=0, vectors=0, generation=0, models=())
            key = {"namespace": found.key}
            active = found.active
            return StoreStats(
                documents=db.one("count_documents", key),
                chunks=found.chunks,
                terms=db.one("count_terms", key),
                vectors=db.one("count_vectors", {**key, "model": active.number}) if active else 0,
                generation=found.generation,
                models=tuple(row.model for row in found.models),
                vector_search=db.vectors.describe(found, active) if active else "",
                keyword_search=db.keywords.describe(found),
                entity_search=db.vectors.describe_entities(found, active) if active else "",
            )


def _write(db: Session, name: str, batches: Sequence[Batch], *, done: Done | None) -> None:
    documents = {batch.document.id for batch in batches}
    db.lock(name, "shared", documents=documents)
    found = db.namespace(name)
    namespace = found.key if found else make_namespace(db, name)
    if done:
        finish_jobs(db, namespace, done)
    if not batches:
        return
    discard_jobs(db, namespace, sorted(documents))
    models = _checked_models(db, name, batches)
    statements = DocumentGraph(db, namespace=namespace, name=name, models=models)
    writer = DocumentWriter(db, namespace=namespace, name=name, statements=statements)
    writer.write_all(batches, models=models)
    writer.finish()


def _checked_models(db: Session, name: str, batches: Sequence[Batch]) -> dict[str, int | None]:
    """Return the numbers of the batches' embedders. Raises `SchemaMismatch` if another embedder is active."""
    active = find_active_model(db, name)
    fingerprint = active.model.fingerprint if active else ""
    if any(batch.model != fingerprint for batch in batches):
        current = repr(active.model.name) if active else "no embedder"
        raise SchemaMismatch(f"namespace {name!r} is indexed with {current}", hint="run weft reembed")
    return {fingerprint: active.number if active else None}


@contextmanager
def _paused_collector() -> Iterator[None]:
    """
    Pause the garbage collector during a transaction; it took a fifth of the time.

    A transaction makes many records at once, which have no cycles and are freed by their counts.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _are_common(counts: Sequence[int], *, limit: int) -> bool:
    """Return True if chunks with all of these terms are not searched: even the rarest one is common."""
    rarest = min(counts)
    return rarest >= MIN_COMMON_TERM_CHUNKS or (len(counts) == 1 and rarest > limit)
