"""Qdrant in local mode: the client alone, without a server."""

from __future__ import annotations

import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient
from qdrant_client import models as m

from peers import DIMENSION
from peers.given import Found, Question, Record

PACKAGES = ("qdrant-client",)
NOTE = (
    "Qdrant: the local mode is meant for trials: it commits each point separately and compares everything in Python. "
    "The server has indexes. Keywords are sparse vectors of BM25 weights made by the benchmark, with the `idf` modifier"
)

K1, B, LENGTH = 1.2, 0.75, 100
"""Of BM25; the length of a text is taken to be this on average, as Qdrant's own models do."""


class Peer:
    def __init__(self, folder: Path) -> None:
        warnings.simplefilter("ignore")  # local mode warns above 20,000 points
        self._client = QdrantClient(path=str(folder))

    def add(self, batches: Iterable[list[Record]]) -> None:
        self._client.create_collection(
            "chunks",
            vectors_config={"dense": m.VectorParams(size=DIMENSION, distance=m.Distance.COSINE)},
            sparse_vectors_config={"words": m.SparseVectorParams(modifier=m.Modifier.IDF)},
        )
        number = 0
        for batch in batches:
            points = []
            for record in batch:
                text = f"{record.title}\n{record.text}"
                vectors: Any = {"dense": record.vector.tolist(), "words": _weights(text)}
                points.append(m.PointStruct(id=number, vector=vectors, payload={"id": record.id, "text": text}))
                number += 1
            self._client.upsert("chunks", points)

    def vector(self, question: Question, k: int) -> Found:
        return self._ask(query=question.vector.tolist(), using="dense", limit=k)

    def keyword(self, question: Question, k: int) -> Found:
        return self._ask(query=_asked(question.text), using="words", limit=k)

    def hybrid(self, question: Question, k: int) -> Found:
        both = [
            m.Prefetch(query=question.vector.tolist(), using="dense", limit=k),
            m.Prefetch(query=_asked(question.text), using="words", limit=k),
        ]
        return self._ask(prefetch=both, query=m.FusionQuery(fusion=m.Fusion.RRF), limit=k)

    def close(self) -> None:
        self._client.close()

    def _ask(self, **options: Any) -> Found:
        points = self._client.query_points("chunks", with_payload=True, **options).points
        return [(point.payload["id"], point.payload["text"]) for point in points if point.payload]


def _numbers(text: str) -> Counter[int]:
    return Counter(zlib.crc32(word.encode()) for word in re.findall(r"\w+", text.lower()))


def _weights(text: str) -> m.SparseVector:
    counts = _numbers(text)
    length = K1 * (1 - B + B * counts.total() / LENGTH)
    values = [count * (K1 + 1) / (count + length) for count in counts.values()]
    return m.SparseVector(indices=list(counts), values=values)


def _asked(text: str) -> m.SparseVector:
    counts = _numbers(text)
    return m.SparseVector(indices=list(counts), values=[1.0] * len(counts))
