"""Annotations of chunks by imports, in a relational database."""

from __future__ import annotations

import json
from collections.abc import Mapping

from weft.records import Extraction, Vector
from weft.store.relational.document_read import to_extractions
from weft.store.relational.graph.graph_write import GraphChanges
from weft.store.relational.retry import retry_once
from weft.store.relational.session import Connections, Namespace, Session, read_rows, touch_namespace
from weft.store.shared.merging import deduplicated, same_statements


@retry_once
class RelationalAnnotations:
    """Annotations of the chunks of one namespace."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace

    def origins(self) -> list[str]:
        return [name for (name,) in read_rows(self._connections, self._name, "import_names")]

    def read(self, origin: str) -> dict[str, Extraction]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            by_number = _read(db, namespace, origin)
            rows = db.run("chunk_ids", {"namespace": namespace, "numbers": json.dumps(sorted(by_number))})
            return {id: by_number[number] for number, id in rows}

    def write(
        self,
        origin: str,
        extractions: Mapping[str, Extraction],
        *,
        vectors: Mapping[tuple[str, str], Vector] | None = None,
    ) -> int:
        with self._connections.write(self._name) as db:
            found = db.namespace(self._name)
            if found is None:
                return 0
            changed = _replace(db, found.key, self._name, origin, extractions)
            if vectors and found.active:
                write_name_vectors(db, found.key, found.active.number, vectors)
        return changed


def write_name_vectors(
    db: Session, namespace: Namespace, model: int, vectors: Mapping[tuple[str, str], Vector]
) -> None:
    """Write vectors of described names, by chunk id and key; unknown chunks are skipped."""
    packed = db.vectors.pack_names(list(vectors.values()))
    rows = [
        {"namespace": namespace, "id": chunk, "key": key, "model": model, "vector": vector}
        for (chunk, key), vector in zip(vectors, packed, strict=True)
    ]
    db.run_many("write_entity_vector_by_id", rows)


def _read(db: Session, namespace: Namespace, origin: str) -> dict[int, Extraction]:
    """Return the annotations of an import, by chunk number."""
    values = {"namespace": namespace, "origin": origin}
    return to_extractions(db.run("origin_candidates", values), db.run("origin_stated_relations", values))


def _replace(db: Session, namespace: Namespace, name: str, origin: str, extractions: Mapping[str, Extraction]) -> int:
    """Replace the annotations of an import and update the graph; return how many chunks changed."""
    graph = GraphChanges(db, namespace=namespace, name=name)
    before = _read(db, namespace, origin)
    values = {"namespace": namespace, "ids": json.dumps(sorted(extractions))}
    rows = db.run("chunk_numbers", values)
    after = {number: (id, document, deduplicated(extractions[id])) for id, number, document in rows}
    changed = 0
    for number in sorted(before.keys() | after.keys()):
        id, document, extraction = after.get(number, ("", 0, Extraction()))
        if same_statements(extraction, before.get(number, Extraction())):
            continue
        graph.retract(number, origin=origin)
        graph.propose(number, id=id, document=document, extraction=extraction, mentions=None, origin=origin)
        db.run("delete_annotated_vectors", {"namespace": namespace, "chunk": number})
        changed += 1
    if changed:
        graph.settle()
        touch_namespace(db, namespace)
    return changed
