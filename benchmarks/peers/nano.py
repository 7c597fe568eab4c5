"""Default storage of LightRAG: nano-vectordb, networkx and JSON, queried as in its `mix` mode."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from nano_vectordb import NanoVectorDB

from peers import DIMENSION
from peers.given import Found, Question, Record, mean_vectors

PACKAGES = ("nano-vectordb", "networkx")
NOTE = (
    "nano-vectordb + networkx: the storage of LightRAG without LightRAG, which calls a language model per question. "
    "The graph part takes the 40 nearest entities and their relations. "
    "It returns the chunks that most of these share, and the 20 nearest chunks. All files are written once, at the end"
)

ENTITIES, CHUNKS = 40, 20
"""LightRAG's `top_k` and `chunk_top_k`."""


class Peer:
    def __init__(self, folder: Path) -> None:
        logging.disable(logging.INFO)
        self._folder = folder
        is_new = not any(folder.iterdir())
        self._chunks = self._table("chunks")
        self._entities = self._table("entities")
        self._texts: dict[str, str] = {} if is_new else json.loads((folder / "texts.json").read_text("utf-8"))
        self._graph = nx.Graph() if is_new else nx.read_graphml(folder / "graph.graphml")

    def _table(self, name: str) -> NanoVectorDB:
        return NanoVectorDB(DIMENSION, storage_file=str(self._folder / f"{name}.json"))

    def add(self, batches: Iterable[list[Record]]) -> None:
        sums: dict[str, Any] = {}
        sources: dict[str, list[str]] = {}
        for batch in batches:
            self._chunks.upsert([{"__id__": record.id, "__vector__": record.vector} for record in batch])
            for record in batch:
                self._texts[record.id] = f"{record.title}\n{record.text}"
                for name in record.entities:
                    sums[name] = sums.get(name, 0.0) + record.vector
                    sources.setdefault(name, []).append(record.id)
                for source, target in record.edges:
                    self._graph.add_edge(source, target, weight=1.0, source_id=record.id)
        for name, ids in sources.items():
            self._graph.add_node(name, source_id="<SEP>".join(ids))
        names, vectors = mean_vectors(sums)
        self._entities.upsert(
            [{"__id__": name, "__vector__": vector} for name, vector in zip(names, vectors, strict=True)]
        )
        self._chunks.save()
        self._entities.save()
        (self._folder / "texts.json").write_text(json.dumps(self._texts, ensure_ascii=False), "utf-8")
        nx.write_graphml(self._graph, self._folder / "graph.graphml")

    def vector(self, question: Question, k: int) -> Found:
        return [(row["__id__"], self._texts[row["__id__"]]) for row in self._chunks.query(np.array(question.vector), k)]

    def graph(self, question: Question, k: int) -> Found:
        names = [row["__id__"] for row in self._entities.query(np.array(question.vector), ENTITIES)]
        shared: Counter[str] = Counter()
        for name in names:
            shared.update(self._graph.nodes[name].get("source_id", "").split("<SEP>"))
            shared.update(link["source_id"] for _, _, link in self._graph.edges(name, data=True))
        linked = [id for id, _ in shared.most_common(CHUNKS) if id]
        near = [id for id, _ in self.vector(question, CHUNKS)]
        both = dict.fromkeys(id for pair in zip(near, [*linked, *near], strict=False) for id in pair)
        return [(id, self._texts[id]) for id in list(both)[:k]]

    def close(self) -> None:
        pass
