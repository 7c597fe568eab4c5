"""txtai: faiss and its own BM25 over texts in SQLite, fused by its own weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from txtai import Embeddings

from peers.given import Found, Question, Record, Vector

PACKAGES = ("txtai",)
NOTE = (
    "txtai: `hybrid` with stored texts, faiss and scoring with their defaults. "
    "It queries both indexes regardless of their weights, so vector and keyword are hybrid with the other weight 0. "
    "Its memory includes torch, which it imports"
)

KNOWN: dict[str, Vector] = {}
"""Vectors of the texts under way."""


def known(texts: Sequence[str]) -> list[Vector]:
    return [KNOWN[text] for text in texts]


class Peer:
    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "index")
        options: Any = {"method": "external", "transform": known, "content": True, "hybrid": True}
        self._index = Embeddings(options)
        if any(folder.iterdir()):
            self._index.load(self._path, config={"transform": known})

    def add(self, batches: Iterable[list[Record]]) -> None:
        self._index.index(_rows(batches))
        self._index.save(self._path)

    def vector(self, question: Question, k: int) -> Found:
        return self._ask(question, k, weights=1.0)

    def keyword(self, question: Question, k: int) -> Found:
        return self._ask(question, k, weights=0.0)

    def hybrid(self, question: Question, k: int) -> Found:
        return self._ask(question, k, weights=0.5)

    def close(self) -> None:
        self._index.close()

    def _ask(self, question: Question, k: int, *, weights: float) -> Found:
        KNOWN[question.text] = question.vector
        return [(row["id"], row["text"]) for row in self._index.search(question.text, k, weights=weights)]


def _rows(batches: Iterable[list[Record]]) -> Iterator[tuple[str, str, None]]:
    for batch in batches:
        for record in batch:
            text = f"{record.title}\n{record.text}"
            KNOWN[text] = record.vector
            yield record.id, text, None
