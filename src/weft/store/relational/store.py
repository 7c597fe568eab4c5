"""One namespace: documents, chunks, vectors and keywords."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from weft.errors import SchemaMismatch
from weft.records import (
    Batch,
    Calibration,
    Chunk,
    DocumentInfo,
    Done,
    Extraction,
    Filter,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.base import MIN_COMMON_TERM_CHUNKS
from weft.store.relational.calibration import read_calibration, write_calibration
from weft.store.relational.document_read import read_batches
from weft.store.relational.document_write import DocumentWriter
from weft.store.relational.fact_store import RelationalFacts
from weft.store.relational.filters import bind
from weft.store.relational.graph_read import RelationalGraph
from weft.store.relational.graph_write import GraphChanges
from weft.store.relational.jobs import RelationalJobs, discard_jobs, finish_jobs
from weft.store.relational.json_columns import read_list, read_object
from weft.store.relational.retry import once_more
from weft.store.relational.session import Connections, Namespace, Session, make_namespace
from weft.store.relational.spending import RelationalSpending


@once_more
class RelationalStore:
    """One namespace of a relational database. Its row is made by the first write."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._namespace = namespace

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
    def jobs(self) -> RelationalJobs:
        return RelationalJobs(self._connections, namespace=self._namespace)

    @property
    def spending(self) -> RelationalSpending:
        return RelationalSpending(self._connections, namespace=self._namespace)

    # ── write ───────────────────────────────────────────────────────────────────────────────────

    def write(self, *batches: Batch, done: Done | None = None) -> None:
        with self._connections.write(self._namespace) as db:
            namespace = self._ensure(db)
            if done:
                finish_jobs(db, namespace, done)
            if not batches:
                return
            discard_jobs(db, namespace, [batch.document.id for batch in batches])
            writer = DocumentWriter(db, namespace=namespace, name=self._namespace)
            for batch in batches:
                writer.write(batch, model=self._checked_model(db, namespace, batch))
            writer.finish()

    def delete(self, document_ids: Sequence[str]) -> int:
        with self._connections.write(self._namespace) as db:
            found = _find_namespace(db, self._namespace)
            if found is None:
                return 0
            writer = DocumentWriter(db, namespace=found[0], name=self._namespace)
            deleted = writer.delete(document_ids)
            discard_jobs(db, found[0], document_ids)
            if deleted:
                writer.finish()
            return deleted

    def annotate(self, origin: str, extractions: Mapping[str, Extraction]) -> int:
        with self._connections.write(self._namespace) as db:
            found = _find_namespace(db, self._namespace)
            if found is None:
                return 0
            writer = DocumentWriter(db, namespace=found[0], name=self._namespace)
            changed = writer.annotate(origin, extractions)
            if changed:
                writer.finish()
            return changed

    def write_model(self, model: StoredModel) -> None:
        self._connections.prepare_vectors(model.dimension)
        with self._connections.write(self._namespace) as db:
            namespace = self._ensure(db)
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
            db.run("touch_namespace", {"namespace": namespace, "chunks": 0, "length": 0})

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self._connections.write(self._namespace) as db:
            namespace = self._ensure(db)
            known = {row.fingerprint: number for number, row in _models(db, namespace)}
            if model not in known:
                raise SchemaMismatch(f"namespace {self._namespace!r} has no embedder {model!r}")
            for id, vector in vectors.items():
                row = {"model": known[model], "id": id, "vector": db.pack(vector)}
                db.run("write_vector_by_id", {"namespace": namespace, **row})

    def write_calibration(self, calibration: Calibration | None) -> None:
        with self._connections.write(self._namespace) as db:
            namespace = self._ensure(db)
            write_calibration(db, namespace, calibration)
            db.run("touch_namespace", {"namespace": namespace, "chunks": 0, "length": 0})

    # ── read ────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._connections.glance(self._namespace):
            yield

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        rows = self._rows("documents_by_id", {"ids": json.dumps(list(ids))})
        found = {row[0]: _document(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        rows = self._rows("find_documents", {**bind(where), "after": after, "limit": limit})
        return [_document(row) for row in rows]

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        rows = self._rows("chunks_by_id", {"ids": json.dumps(list(ids))})
        found = {row[0]: _chunk(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def find_chunks(self, document_id: str) -> list[Chunk]:
        return [_chunk(row) for row in self._rows("chunks_by_document", {"id": document_id})]

    def batches(self, document_ids: Sequence[str]) -> list[Batch]:
        with self._connections.read(self._namespace) as db:
            namespace = db.namespace_key(self._namespace)
            documents = self.documents(list(dict.fromkeys(document_ids)))
            return read_batches(db, namespace, documents, active=_active_model(db, namespace))

    def imports(self) -> list[str]:
        return [row[0] for row in self._rows("import_names", {})]

    def annotations(self, origin: str) -> dict[str, Extraction]:
        with self._connections.read(self._namespace) as db:
            namespace = db.namespace_key(self._namespace)
            said = GraphChanges(db, namespace=namespace, name=self._namespace).said_by(origin)
            rows = db.run("chunk_ids", {"namespace": namespace, "numbers": json.dumps(sorted(said))})
            return {id: said[number] for number, id in rows}

    def models(self) -> list[StoredModel]:
        with self._connections.read(self._namespace) as db:
            return [model for _, model in _models(db, db.namespace_key(self._namespace))]

    def calibration(self) -> Calibration | None:
        with self._connections.read(self._namespace) as db:
            return read_calibration(db, self._namespace)

    def sample(self, *, limit: int) -> list[Chunk]:
        return [_chunk(row) for row in self._rows("sample_chunks", {"limit": limit})]

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        return [row[0] for row in self._rows("find_unembedded", {"fingerprint": model, "limit": limit})]

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        with self._connections.read(self._namespace) as db:
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
            return db.search_vector(found[0], vector, model=number, limit=limit, where=where)

    def search_keyword(self, terms: Sequence[str], *, limit: int, where: Filter) -> Ranking:
        with self._connections.read(self._namespace) as db:
            found = _find_namespace(db, self._namespace)
            if found is None or not terms or limit < 1 or not found[2]:
                return Ranking()
            namespace, _, total, length = found
            return db.search_keyword(namespace, terms, limit=limit, where=where, chunks=total, length=length)

    def find_holders(self, terms: Sequence[str], *, limit: int) -> list[str] | None:
        with self._connections.read(self._namespace) as db:
            key = {"namespace": db.namespace_key(self._namespace)}
            counts = db.count_terms(key["namespace"], terms)
            if not terms or len(counts) < len(set(terms)):
                return []
            rarest = min(counts.values())
            if rarest >= MIN_COMMON_TERM_CHUNKS or (len(counts) == 1 and rarest > limit):
                return None
            found = db.find_holders(key["namespace"], {"": [{term} for term in terms]})[""]
            if len(found) > limit:
                return None
            return sorted(id for _, id in db.run("chunk_ids", {**key, "numbers": json.dumps(sorted(found))}))

    def stats(self) -> StoreStats:
        with self._connections.read(self._namespace) as db:
            found = _find_namespace(db, self._namespace)
            if found is None:
                return StoreStats(documents=0, chunks=0, terms=0, vectors=0, generation=0, models=())
            namespace, generation, chunks, _ = found
            active = _active_model(db, namespace)
            by_vectors, by_words, by_entities = db.describe_search(namespace, model=active[0] if active else None)
            return StoreStats(
                documents=db.one("count_documents", {"namespace": namespace}),
                chunks=chunks,
                terms=db.one("count_terms", {"namespace": namespace}),
                vectors=db.one("count_vectors", {"namespace": namespace, "model": active[0]}) if active else 0,
                generation=generation,
                models=tuple(model for _, model in _models(db, namespace)),
                vector_search=by_vectors,
                keyword_search=by_words,
                entity_search=by_entities,
            )

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    def _rows(self, name: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self._connections.read(self._namespace) as db:
            return db.run(name, {"namespace": db.namespace_key(self._namespace), **values})

    def _ensure(self, db: Session) -> Namespace:
        make_namespace(db, self._namespace)
        found = _find_namespace(db, self._namespace)
        assert found is not None
        return found[0]

    def _checked_model(self, db: Session, namespace: Namespace, batch: Batch) -> int | None:
        """Return the number of the embedder a batch may be written under; refuse any but the active one."""
        active = _active_model(db, namespace)
        if (active[1].fingerprint if active else "") != batch.model:
            have = repr(active[1].name) if active else "no embedder"
            raise SchemaMismatch(f"namespace {self._namespace!r} is indexed with {have}", hint="weft reembed")
        return active[0] if active else None


def _find_namespace(db: Session, name: str) -> tuple[Namespace, int, int, int] | None:
    """Return number, generation, chunk count and total length of a namespace, or None."""
    rows = db.run("find_namespace", {"name": name})
    return (rows[0][0], rows[0][1], rows[0][2], rows[0][3]) if rows else None


def _models(db: Session, namespace: Namespace) -> list[tuple[int, StoredModel]]:
    rows = db.run("list_models", {"namespace": namespace})
    return [
        (number, StoredModel(name=name, fingerprint=fingerprint, dimension=dimension, active=bool(active)))
        for number, name, fingerprint, dimension, active in rows
    ]


def _active_model(db: Session, namespace: Namespace) -> tuple[int, StoredModel] | None:
    return next((entry for entry in _models(db, namespace) if entry[1].active), None)


def _document(row: tuple[Any, ...]) -> DocumentInfo:
    id, source, title, metadata, content_hash, unit, count = row
    return DocumentInfo(
        id=id,
        source=source,
        title=title,
        metadata=read_object(metadata, what=f"the metadata of {source!r}"),
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
        heading=tuple(read_list(heading, what=f"the headings of chunk {id!r}")) if heading != "[]" else (),
        start_line=start_line,
        end_line=end_line,
        text=text,
    )
