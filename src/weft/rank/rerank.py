"""Join what a reranker says of chunks with what the text channels said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.rank.fuse import order
from weft.records import Hit


def blend_rerank(text: Sequence[Hit], *, scores: Mapping[str, float], weight: float) -> list[Hit]:
    """
    Return all chunks of `text` and of `scores` by `(1 − weight) · reranker + weight · text`.

    Both are stretched from 0, the worst, to 1, the best, so logits and probabilities do alike; what one of them does
    not know is its worst. The graph is not in it: it is fused with the outcome as with any text, so that a chunk only
    the graph can find is not buried by a reader that sees no connection. Ties go to the smaller id.
    """
    found = _stretched({hit.chunk_id: hit.score for hit in text})
    judged = _stretched(scores)
    return order(
        {id: (1 - weight) * judged.get(id, 0.0) + weight * found.get(id, 0.0) for id in found.keys() | judged.keys()}
    )


def _stretched(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the scores moved and scaled to reach from 0 to 1; all of them 1 where they are equal."""
    least, most = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    # halved first: the difference of two finite numbers need not be one
    reach = most / 2 - least / 2
    return {id: (score / 2 - least / 2) / reach if reach else 1.0 for id, score in scores.items()}
