"""Chroma: its persistent client."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from peers.given import Found, Question, Record

PACKAGES = ("chromadb",)
NOTE = (
    "Chroma: vectors only. "
    "`where_document` filters by substring and does not rank, so there is no keyword search to fuse"
)


class Peer:
    def __init__(self, folder: Path) -> None:
        self._client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        self._chunks: Any = self._client.get_or_create_collection(
            "chunks", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, batches: Iterable[list[Record]]) -> None:
        for batch in batches:
            self._chunks.add(
                ids=[record.id for record in batch],
                embeddings=[record.vector for record in batch],
                documents=[f"{record.title}\n{record.text}" for record in batch],
            )

    def vector(self, question: Question, k: int) -> Found:
        found = self._chunks.query(query_embeddings=[question.vector], n_results=k, include=["documents"])
        return list(zip(found["ids"][0], found["documents"][0], strict=True))

    def close(self) -> None:
        self._client.close()
