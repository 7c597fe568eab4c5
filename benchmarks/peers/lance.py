"""LanceDB: one table with a vector index and its own full-text index, fused by its own RRF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import HnswSq
from lancedb.rerankers import RRFReranker

from peers import DIMENSION
from peers.given import Found, Question, Record

PACKAGES = ("lancedb",)
NOTE = (
    "LanceDB: `HnswSq` in one partition, as it recommends, with `ef` 100, because the default has a lower recall. "
    "Full-text index with its defaults, `RRFReranker`"
)

EF = 100
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), DIMENSION))])


class Peer:
    def __init__(self, folder: Path) -> None:
        self._db = lancedb.connect(folder)
        self._table: Any = self._db.open_table("chunks") if any(folder.iterdir()) else None
        self._fuse = RRFReranker()

    def add(self, batches: Iterable[list[Record]]) -> None:
        self._table = self._db.create_table("chunks", data=_rows(batches), schema=SCHEMA)
        self._table.create_index("vector", config=HnswSq(distance_type="cosine", num_partitions=1))
        self._table.create_fts_index("text")
        self._table.optimize()

    def vector(self, question: Question, k: int) -> Found:
        return _found(self._table.search(question.vector, query_type="vector").distance_type("cosine").ef(EF).limit(k))

    def keyword(self, question: Question, k: int) -> Found:
        return _found(self._table.search(question.text, query_type="fts").limit(k))

    def hybrid(self, question: Question, k: int) -> Found:
        search = self._table.search(query_type="hybrid").vector(question.vector).text(question.text)
        return _found(search.distance_type("cosine").ef(EF).rerank(self._fuse).limit(k))

    def close(self) -> None:
        self._table = None


def _rows(batches: Iterable[list[Record]]) -> Iterator[Any]:
    for batch in batches:
        columns = {
            "id": [record.id for record in batch],
            "text": [f"{record.title}\n{record.text}" for record in batch],
            "vector": [record.vector for record in batch],
        }
        yield pa.RecordBatch.from_pydict(columns, schema=SCHEMA)


def _found(search: Any) -> Found:
    rows = search.select(["id", "text"]).to_list()
    return [(row["id"], row["text"]) for row in rows]
