"""Merge what the graph found with the fused text channels. Nothing that either found is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weft.rank.fuse import order
from weft.records import Hit

CURVE = 0.4
"""Exponent of graph scores: the second hop has a tenth of the activation of the first, and answers as much."""

YIELD = 0.7
"""Share of its weight that the text gives up where the graph is trusted in full."""


def fuse_boost(text: Sequence[Hit], *, graph: Sequence[Hit], share: float = 0.4, trust: float = 1.0) -> list[Hit]:
    """
    Return the union of both rankings by `trust · graph^0.4 + share · (1 − 0.7·trust) · text`, relative to their best.

    Where the graph is trusted it leads, so that a chunk only it can find, the hidden hop, is not buried, and text
    decides among what it leaves open. `trust` is how far the graph counts for this question, 0 to 1. Scores are
    scaled to end at 1 where the graph is trusted, and at 0 to be those of the text. Ties go to the smaller id. The
    constants are measured: benchmarks/quality.
    """
    scores = _scores(text)
    best = max(map(abs, scores.values()), default=0.0)
    kept = share * (1 - YIELD * trust)
    scale = (trust + (1 - trust) * best) / (trust + kept or 1.0)
    curved = {id: score**CURVE if score > 0 else -((-score) ** CURVE) for id, score in _scores(graph).items()}
    return _fuse(scores, curved, text_weight=scale * kept, graph_weight=scale * trust)


def fuse_graph_weighted(
    text: Sequence[Hit], *, graph: Sequence[Hit], alpha: float = 0.7, beta: float = 0.3, trust: float = 1.0
) -> list[Hit]:
    """
    Return the union of both rankings by `alpha · text + beta · trust · graph`, each as a share of its best score.

    `trust` is how far the graph counts for this question, 0 to 1. Ties go to the smaller id.
    """
    return _fuse(_scores(text), _scores(graph), text_weight=alpha, graph_weight=beta * trust)


def put_first(hits: Sequence[Hit], chunk_id: str) -> list[Hit]:
    """Return the hits with one of them before all others, and as good as the best of them."""
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
    Return the scores divided by the best of all, times a weight.

    Fused text scores may be negative: below average. The divisor is then the largest of either sign, so that
    none leaves -1 to 1 and the order stays.
    """
    largest = max(map(abs, scores.values()), default=0.0) or math.inf
    return {id: weight * (score / largest) for id, score in scores.items()}


def _absent(scores: dict[str, float]) -> float:
    """Return what a chunk counts that was not found: 0, or no more than the worst that was."""
    return min(0.0, *scores.values()) if scores else 0.0
