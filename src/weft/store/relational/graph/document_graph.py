"""Statements of documents for the graph and the facts: candidates, stated relations, vectors of names, stated facts."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from weft.extract.mentions import proposed_mentions
from weft.records import Batch, Fact, Vector
from weft.store.relational.fact_origins import write_stated
from weft.store.relational.graph.graph_write import GraphChanges
from weft.store.relational.session import Namespace, Session


class NameVectors:
    """Collects the vectors of the names that documents describe, and writes them together."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._rows: list[dict[str, Any]] = []

    def write(self, batch: Batch, *, model: int, chunks: Mapping[str, int], old: Collection[str]) -> None:
        """
        Replace the vectors of a document; those of names that an import describes stay.

        `chunks` and `old` are as in `DocumentGraph.write`.
        """
        items = {item.chunk.id: item for item in batch.chunks}
        described = {
            chunks[id]: sorted({n.key for n in item.extraction.candidates if n.description})
            for id, item in items.items()
            if id in old
        }
        for chunk, keys in described.items():
            at = {"namespace": self._namespace, "chunk": chunk}
            self._db.run("delete_entity_vectors", {**at, "keys": json.dumps(keys, ensure_ascii=False)})
        for id, item in items.items():
            at = {"namespace": self._namespace, "chunk": chunks[id], "model": model}
            self._rows += [{**at, "key": key, "vector": vector} for key, vector in item.entity_vectors.items()]

    def flush(self) -> None:
        """Write the collected rows."""
        packed = self._db.vectors.pack_names([row["vector"] for row in self._rows])
        rows = [{**row, "vector": vector} for row, vector in zip(self._rows, packed, strict=True)]
        self._db.run_many("write_entity_vector", rows)
        self._rows = []


class DocumentGraph:
    """Writes statements of documents in the transaction of their text."""

    def __init__(self, db: Session, *, namespace: Namespace, name: str, models: Mapping[str, int | None]) -> None:
        """`models` are the numbers of embedders by fingerprint."""
        self._db = db
        self._namespace = namespace
        self._models = models
        self.changes = GraphChanges(db, namespace=namespace, name=name)
        self._names = NameVectors(db, namespace=namespace)
        self._stated: list[tuple[str, Sequence[Fact]]] = []
        """Documents with the facts they state."""
        self._fact_vectors: list[tuple[int, Mapping[str, Vector]]] = []
        """Embedders with vectors of fact entities."""

    def withdraw(self, document: int, *, chunks: Collection[int]) -> None:
        """Prepare the replacement or deletion of a stored document, by number, with these chunks."""
        self.changes.withdraw(document, chunks=chunks)

    def remove(self, chunk: int) -> None:
        """Prepare the deletion of a chunk."""
        self.changes.remove(chunk)

    def write(
        self, batch: Batch, *, number: int, is_new: bool, chunks: Mapping[str, int], old: Collection[str]
    ) -> None:
        """
        Replace the statements of a document, which is `is_new` if it was not stored before.

        `chunks` are the numbers of its chunks by id; `old` are the ids of those that were stored before.
        """
        model = self._models.get(batch.model)
        for id, item in {item.chunk.id: item for item in batch.chunks}.items():
            chunk, extraction = chunks[id], item.extraction
            mentions = item.mentions
            if mentions is None or id in old:  # an import may propose more names of a stored chunk
                mentions = None if id in old else proposed_mentions(item.chunk.text, extraction.candidates)
            self.changes.propose(chunk, id=id, document=number, extraction=extraction, mentions=mentions)
        if model is not None:
            self._names.write(batch, model=model, chunks=chunks, old=old)
        if batch.facts or not is_new:
            self._stated.append((batch.document.id, batch.facts))
        if model is not None and batch.fact_vectors:
            self._fact_vectors.append((model, batch.fact_vectors))

    def delete(self, document: str) -> None:
        """Delete the facts that a deleted document stated, by its id."""
        write_stated(self._db, self._namespace, document, ())

    def flush(self) -> None:
        """Write the collected rows of documents."""
        self._names.flush()
        self.changes.write_statements()

    def finish(self) -> None:
        """Update facts and graph."""
        self.flush()
        for document, facts in self._stated:
            write_stated(self._db, self._namespace, document, facts)
        for model, vectors in self._fact_vectors:
            self._write_fact_vectors(vectors, model=model)
        self.changes.settle()

    def _write_fact_vectors(self, vectors: Mapping[str, Vector], *, model: int) -> None:
        """Write the missing vectors of fact entities."""
        at = {"namespace": self._namespace, "model": model}
        known = {key for key, _ in self._db.run("fact_entity_vectors", {**at, "keys": json.dumps(list(vectors))})}
        rows = [
            {**at, "key": key, "sketch": self._db.vectors.sketch(vector), "vector": self._db.vectors.pack(vector)}
            for key, vector in vectors.items()
            if key not in known
        ]
        self._db.run_many("write_fact_vector", rows)
