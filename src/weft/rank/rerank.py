"""Blending of reranker scores with the scores of the text channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.rank.fuse import order
from weft.records import Hit


def blend_rerank(text: Sequence[Hit], *, scores: Mapping[str, float], weight: float) -> list[Hit]:
    """
    Return all chunks of `text` and of `scores` by `(1 − weight) · reranker + weight · text`.

    Both scores are scaled to 0 to 1, so logits and probabilities both work. A missing score is 0. The graph is fused
    later, because a reranker cannot see relations and would rank a hidden hop low. Ties go to the smaller id.
    """
    found = _scaled({hit.chunk_id: hit.score for hit in text})
    judged = _scaled(scores)
    return order(
        {id: (1 - weight) * judged.get(id, 0.0) + weight * found.get(id, 0.0) for id in found.keys() | judged.keys()}
    )


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the scores scaled linearly to 0 to 1; all 1 if they are equal."""
    least, most = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    # halved first: the difference of two finite numbers can overflow
    reach = most / 2 - least / 2
    return {id: (score / 2 - least / 2) / reach if reach else 1.0 for id, score in scores.items()}
