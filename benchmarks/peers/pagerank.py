"""Retrieval as in HippoRAG: an exact scan of all passages, then PageRank over the whole graph from the names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import igraph
import numpy as np

from peers.given import Found, Question, Record

PACKAGES = ("igraph",)
NOTE = (
    "igraph PageRank: the algorithm of HippoRAG without HippoRAG, which calls a language model per question. "
    "Entities and passages are nodes, damping 0.5. "
    "It restarts at the names of the question and, with a weight of 0.05, at all passages by their cosine"
)

DAMPING, PASSAGES = 0.5, 0.05


class Peer:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if any(folder.iterdir()):
            self._matrix = np.load(folder / "vectors.npy")
            self._texts = json.loads((folder / "texts.json").read_text("utf-8"))
            self._graph = igraph.Graph.Read_Pickle(str(folder / "graph.pickle"))
            names = self._graph.vs["name"][len(self._texts) :]
            self._numbers = {name: number for number, name in enumerate(names, start=len(self._texts))}

    def add(self, batches: Iterable[list[Record]]) -> None:
        texts: list[tuple[str, str]] = []
        vectors: list[Any] = []
        mentions: list[tuple[int, str]] = []
        links: Counter[tuple[str, str]] = Counter()
        for batch in batches:
            for record in batch:
                mentions += [(len(texts), name) for name in record.entities]
                links.update((min(edge), max(edge)) for edge in record.edges)
                texts.append((record.id, f"{record.title}\n{record.text}"))
                vectors.append(record.vector)
        names = dict.fromkeys([name for _, name in mentions] + [name for link in links for name in link])
        numbers = {name: number for number, name in enumerate(names, start=len(texts))}
        edges = [(passage, numbers[name]) for passage, name in mentions]
        edges += [(numbers[source], numbers[target]) for source, target in links]
        graph = igraph.Graph(n=len(texts) + len(names), edges=edges)
        graph.vs["name"] = [id for id, _ in texts] + list(names)
        graph.es["weight"] = [1.0] * len(mentions) + [float(count) for count in links.values()]
        graph.write_pickle(str(self._folder / "graph.pickle"))
        np.save(self._folder / "vectors.npy", np.stack(vectors))
        (self._folder / "texts.json").write_text(json.dumps(texts, ensure_ascii=False), "utf-8")

    def vector(self, question: Question, k: int) -> Found:
        return self._best(self._matrix @ question.vector, k)

    def graph(self, question: Question, k: int) -> Found:
        cosines = self._matrix @ question.vector
        low, high = float(cosines.min()), float(cosines.max())
        reset = np.zeros(self._graph.vcount())
        reset[: len(cosines)] = PASSAGES * (cosines - low) / (high - low)
        for name in question.entities:
            if name in self._numbers:
                reset[self._numbers[name]] = 1.0
        ranks = self._graph.personalized_pagerank(
            damping=DAMPING, directed=False, weights="weight", reset=reset.tolist(), implementation="prpack"
        )
        return self._best(np.array(ranks[: len(self._texts)]), k)

    def _best(self, scores: Any, k: int) -> Found:
        return [(self._texts[number][0], self._texts[number][1]) for number in np.argsort(-scores)[:k]]

    def close(self) -> None:
        pass
