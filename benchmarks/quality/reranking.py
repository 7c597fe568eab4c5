"""
Effect of a poor and of a perfect reranker, compared with no reranker.

    python benchmarks/quality/reranking.py
    python benchmarks/quality/reranking.py --sets musique-train --methods mix --weights 0.4 --share 1

No package index has weights of a cross-encoder, so none is measured here. `words` counts words of the question in a
passage. It represents a reranker that ignores relations and must not discard the results of the graph. `gold` knows
the answers and gives the upper bound for this pool. A cell has recall@5, with 30 chunks in the pool. `hybrid` has no
graph; its difference from `mix` is the gain of the graph that remains. `--share` sets `graph.share`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

from sets import NAMES, open_set

from weft.config import GraphOptions, Method, RerankOptions, SearchOptions
from weft.evaluate.dataset import Case
from weft.evaluate.measures import measure
from weft.evaluate.scoring import answer_cases
from weft.models.base import Reranker
from weft.testing import FakeReranker

METHODS: tuple[Method, ...] = ("hybrid", "mix")


class Gold:
    """Scores a passage 1 if its document answers the question, else 0."""

    name = "test/gold"

    def __init__(self, engine: Any, cases: Sequence[Case]) -> None:
        self._gold = {" ".join(case.text.split()): case.gold for case in cases}
        self._ids: dict[str, str] = {}
        for document in engine.documents():
            for chunk in engine.get(document.id)[1]:
                self._ids[chunk.text[:1000]] = str(document.metadata.get("_id", document.source))

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        gold = self._gold[query]
        return [float(self._ids.get(text.partition("\n")[2][:1000], "") in gold) for text in texts]


def ask(
    engine: Any, cases: Sequence[Case], reranker: Reranker | None, *, method: Method, share: float, weight: float = 0.0
) -> str:
    """Return recall@5."""
    answered = answer_cases(
        cases,
        store=engine.store,
        embedder=engine.embedder,
        options=SearchOptions(method=method),
        graph=GraphOptions(share=share),
        reranker=reranker,
        rerank=RerankOptions(weight=weight),
    )
    return f"{measure([([id for id, _ in a.ranked], a.case.gold) for a in answered])['recall@5']:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=["musique-train", "2wiki-dev", "scifact-train"])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--weights", nargs="+", type=float, default=[0.0, 0.3, 0.4, 0.5])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--share", type=float, default=GraphOptions().share)
    parser.add_argument("--embedder", default="local/granite-30m")
    arguments = parser.parse_args()
    print("| set | method | reranker | none | " + " | ".join(f"weight {weight}" for weight in arguments.weights) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(arguments.weights))
    for name in arguments.sets:
        with open_set(name, embedder=arguments.embedder) as (engine, every):
            cases = every[: arguments.limit]
            rerankers: dict[str, Reranker] = {"words": FakeReranker(), "gold": Gold(engine, cases)}
            for method in arguments.methods:
                asked = partial(ask, engine, cases, method=method, share=arguments.share)
                none = asked(None)
                for label, reranker in rerankers.items():
                    cells = [asked(reranker, weight=weight) for weight in arguments.weights]
                    print(f"| {name} | {method} | {label} | " + " | ".join([none, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
