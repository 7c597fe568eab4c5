"""Fusion of the graph channel with the fused text channels. The result is the union of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weft.rank.fuse import order
from weft.records import Hit

GRAPH_EXPONENT = 0.4
"""Exponent of graph scores. It raises the second hop, which has a tenth of the activation but answers as often."""

TEXT_DISCOUNT = 0.7
"""Share of the text weight that is removed at full trust in the graph."""


def fuse_boost(text: Sequence[Hit], *, graph: Sequence[Hit], share: float = 0.4, trust: float = 1.0) -> list[Hit]:
    """
    Return the union of both rankings by `trust · graph^0.4 + share · (1 − 0.7·trust) · text`.

    Graph and text scores are divided by the best of their ranking first. At high trust the graph decides: a chunk that
    only the graph finds (a hidden hop) ranks high, and text breaks near ties. `trust` is the weight of the graph for
    this question, 0 to 1. At trust 1 the best possible score is 1; at trust 0 scores are those of the text. Ties go to
    the smaller id. The constants are measured: benchmarks/quality.
    """
    scores = _scores(text)
    best = max(map(abs, scores.values()), default=0.0)
    kept = share * (1 - TEXT_DISCOUNT * trust)
    scale = (trust + (1 - trust) * best) / (trust + kept or 1.0)
    curved = {
        id: score**GRAPH_EXPONENT if score > 0 else -((-score) ** GRAPH_EXPONENT)
        for id, score in _scores(graph).items()
    }
    return _fuse(scores, curved, text_weight=scale * kept, graph_weight=scale * trust)


def fuse_graph_weighted(
    text: Sequence[Hit], *, graph: Sequence[Hit], alpha: float = 0.7, beta: float = 0.3, trust: float = 1.0
) -> list[Hit]:
    """
    Return the union of both rankings by `alpha · text + beta · trust · graph`. Scores are divided by the best one.

    `trust` is the weight of the graph for this question, 0 to 1. Ties go to the smaller id.

    """
    return _fuse(_scores(text), _scores(graph), text_weight=alpha, graph_weight=beta * trust)


def put_first(hits: Sequence[Hit], chunk_id: str) -> list[Hit]:
    """Return the hits with one chunk moved to rank 1 and to the best score. An unknown id changes nothing."""
    first = [Hit(id, 1, hits[0].score) for id, _, _ in hits if id == chunk_id]
    others = [hit for hit in hits if hit.chunk_id != chunk_id]
    return first + [Hit(id, rank, score) for rank, (id, _, score) in enumerate(others, start=1 + len(first))]


def _fuse(
    text: Mapping[str, float], graph: Mapping[str, float], *, text_weight: float, graph_weight: float
) -> list[Hit]:
    by_text, by_graph = _relative(text, weight=text_weight), _relative(graph, weight=graph_weight)
    no_text, no_graph = _absent(by_text), _absent(by_graph)
    scores = {id: score + by_graph.get(id, no_graph) for id, score in by_text.items()}
    return order({id: no_text + score for id, score in by_graph.items()} | scores)


def _scores(hits: Sequence[Hit]) -> dict[str, float]:
    """Return the best score of each chunk."""
    scores = {id: score for id, _, score in hits}
    if len(scores) < len(hits):
        for hit in hits:
            scores[hit.chunk_id] = max(hit.score, scores[hit.chunk_id])
    return scores


def _relative(scores: Mapping[str, float], *, weight: float) -> dict[str, float]:
    """
    Return the scores divided by the largest absolute score, times `weight`.

    Fused text scores below the average are negative. Division by the absolute value keeps the order and the range -1 to
    1.
    """
    largest = max(map(abs, scores.values()), default=0.0) or math.inf
    return {id: weight * (score / largest) for id, score in scores.items()}


def _absent(scores: dict[str, float]) -> float:
    """Return the score of a chunk that was not found: 0, or the lowest score if that is negative."""
    return min(0.0, *scores.values()) if scores else 0.0
