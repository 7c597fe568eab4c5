"""Weft: one file with its read indexes, queried through the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from peers import DIMENSION
from peers.given import Found, Question, Record, Vector
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.extract.names import name_key
from weft.records import (
    Batch,
    Candidate,
    Chunk,
    DocumentInfo,
    Extraction,
    IndexedChunk,
    ModelCard,
    StatedRelation,
    StoredModel,
)
from weft.text.analyzer import count_terms
from weft.text.ids import chunk_id, document_id
from weft.text.split import indexed_text

PACKAGES = ("weft-search",)
NOTE = (
    "Weft: complete queries of the engine with the default settings, but with a gate that rejects nothing. "
    "`with graph` is `mix`. It fuses the 70 best chunks of each channel (txtai 100, the others 10). "
    "It extracts names and relations from the texts itself, which is most of its index time. "
    "Nearly all of its memory is the mapped file (50 MiB are private at 100,000 chunks)"
)

GROUP = 2048
"""Documents in a transaction, as in a first load by `weft index`."""
CARD = ModelCard(name="given/384", fingerprint="given-384", dimension=DIMENSION, floor=0.0)
LINK = 8.0
"""Weight of a given pair, that of a link in a document."""


class Given:
    """Embedder that returns the given vector of the current question."""

    def __init__(self) -> None:
        self.vector: Vector = np.zeros(DIMENSION, np.float32)

    @property
    def card(self) -> ModelCard:
        return CARD

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> Any:
        return np.stack([self.vector] * len(texts))


class Peer:
    def __init__(self, folder: Path) -> None:
        self._embedder = Given()
        self._engine = Engine(read_settings({"store.db": str(folder / "weft.db")}), embedder=self._embedder)

    def add(self, batches: Iterable[list[Record]]) -> None:
        store = self._engine.store
        store.write_model(
            StoredModel(name=CARD.name, fingerprint=CARD.fingerprint, dimension=CARD.dimension, active=True)
        )
        for batch in batches:
            for start in range(0, len(batch), GROUP):
                store.write(*(_batch(record) for record in batch[start : start + GROUP]), defer_indexes=True)
        store.finish_load()  # as a first load does

    def vector(self, question: Question, k: int) -> Found:
        return self._ask(question, k, method="vector")

    def keyword(self, question: Question, k: int) -> Found:
        return self._ask(question, k, method="keyword")

    def hybrid(self, question: Question, k: int) -> Found:
        return self._ask(question, k, method="hybrid")

    def graph(self, question: Question, k: int) -> Found:
        return self._ask(question, k, method="mix")

    def close(self) -> None:
        self._engine.close()  # finishes the read indexes where something was written

    def _ask(self, question: Question, k: int, *, method: str) -> Found:
        self._embedder.vector = question.vector
        found = self._engine.query(question.text, method=method, top_k=k).evidence
        return [(piece.document.source, piece.chunk.text) for piece in found]


def _batch(record: Record) -> Batch:
    id = document_id("default", record.id)
    indexed = indexed_text(record.title, (), record.text)
    chunk = Chunk(
        id=chunk_id(id, indexed, 0), document_id=id, ordinal=0, heading=(), start_line=1, end_line=1, text=record.text
    )
    own = name_key(record.title)
    names = {name_key(name): name for name in record.entities} | {own: record.title}
    extraction = Extraction(
        candidates=tuple(
            Candidate(key=key, name=name, kind="title" if key == own else "phrase", about=key == own)
            for key, name in names.items()
        ),
        stated_relations=tuple(
            StatedRelation(source=name_key(source), target=name_key(target), type="links_to", weight=LINK)
            for source, target in record.edges
        ),
    )
    item = IndexedChunk(chunk=chunk, terms=count_terms(indexed), vector=record.vector, extraction=extraction)
    info = DocumentInfo(
        id=id, source=record.id, title=record.title, metadata={}, content_hash=record.id, unit="line"
    )  # fmt: skip
    return Batch(document=info, chunks=(item,), model=CARD.fingerprint)
