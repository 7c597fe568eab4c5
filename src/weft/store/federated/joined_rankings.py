"""Rankings of members joined into one, with the statistics of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from weft.rank.fuse import order
from weft.records import KeywordStatistics, Ranking, Vector, Vectors
from weft.store.federated.members import Member


def search_member(member: Member, search: Callable[[int], Ranking], *, limit: int) -> tuple[Ranking, dict[str, float]]:
    """
    Return a ranking of a member, and the scores of its best `limit` chunks that it shows, by id.

    `search` takes the number of hits. More are requested as long as hidden chunks take their places.
    """
    hidden, count = member.hidden.chunks, limit
    while True:
        ranking = search(count)
        shown = {hit.chunk_id: hit.score for hit in ranking.hits if hit.chunk_id not in hidden}
        if len(shown) >= limit or len(ranking.hits) < count:
            return ranking, {member.outer(id): shown[id] for id in list(shown)[:limit]}
        count = min(2 * count, limit + len(hidden))


def join_vectors(
    vector: Vector, members: Sequence[Member], search: Callable[[Member, int], Ranking], *, limit: int
) -> Ranking:
    """Return the joined ranking of a vector search, with mean and deviation of the cosines of all shown chunks."""
    scores: dict[str, float] = {}
    count, total, squares = 0, 0.0, 0.0
    for member in members:
        ranking, shown = search_member(member, partial(search, member), limit=limit)
        scores |= shown
        cosines = _cosines(member.hidden.vectors, vector)
        count += ranking.count - len(cosines)
        total += ranking.count * ranking.mean - float(np.sum(cosines))
        squares += ranking.count * (ranking.deviation**2 + ranking.mean**2) - float(np.sum(cosines**2))
    if count < 1:
        return Ranking(hits=tuple(order(scores, limit=limit)))
    mean = total / count
    deviation = math.sqrt(max(0.0, squares / count - mean**2))
    return Ranking(hits=tuple(order(scores, limit=limit)), mean=mean, deviation=deviation, count=count)


def join_statistics(terms: Sequence[str], members: Sequence[Member]) -> KeywordStatistics:
    """Return the statistics of all shown chunks that BM25 needs for these terms."""
    found = [(member.hidden, member.store.keyword_statistics(terms)) for member in members]
    return KeywordStatistics(
        chunks=sum(known.chunks - len(hidden.chunks) for hidden, known in found),
        length=sum(known.length - hidden.length for hidden, known in found),
        counts={
            term: sum(known.counts.get(term, 0) - hidden.terms.get(term, 0) for hidden, known in found)
            for term in terms
        },
    )


def _cosines(vectors: Vectors, vector: Vector) -> Vectors:
    if vectors.shape[1:] != vector.shape:
        return np.zeros(0, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1)
    # rounding to float16 changes the length
    return np.asarray((vectors @ vector) / np.where(lengths, lengths, 1.0), dtype=np.float32)
