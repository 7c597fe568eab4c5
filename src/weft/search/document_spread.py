"""Bound on the text hits of one document in an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.records import Hit
from weft.search.chunks import Chunks

MAX_PER_DOCUMENT = 3
"""Text hits of one document in an answer, as long as other documents have relevant ones."""


def spread(hits: Sequence[Hit], *, chunks: Chunks, top_k: int) -> list[Hit]:
    """
    Return `top_k` hits in their order, at most `MAX_PER_DOCUMENT` of each document if others can take their places.

    Without this bound a long document can take every place, and the answer may be in the next one.
    """
    taken, chosen, surplus = Counter[str](), list[Hit](), list[Hit]()
    for start in range(0, len(hits), top_k):
        batch = hits[start : start + top_k]
        known = chunks.read([hit.chunk_id for hit in batch])
        for hit in batch:
            owner = known[hit.chunk_id].document_id if hit.chunk_id in known else hit.chunk_id
            taken[owner] += 1
            (chosen if taken[owner] <= MAX_PER_DOCUMENT else surplus).append(hit)
        if len(chosen) >= top_k:
            break
    ids = {hit.chunk_id for hit in (chosen[:top_k] + surplus)[:top_k]}
    return [hit for hit in hits if hit.chunk_id in ids]
