"""Enough evidence? How likely the question is answered here, and which chunks are too weak to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.rank.boost import CURVE
from weft.records import Hit, ModelCard, Ranking, Status

SHARE_SLOPE = 17.5
SHARE_MIDDLE = 0.15
"""Beside a cosine: what the keyword share adds to the log-odds. Fitted in `benchmarks/quality/confidence.py`."""

KEYWORD_SLOPE = 30.0
KEYWORD_MIDDLE = 0.20
"""The keyword share alone, where there is no cosine. Fitted in the same place."""

NO_MATCH = 0.10
"""Below this probability nothing is returned: 1 in 500 answerable questions, 9 in 10 foreign ones."""

LOW = 0.50
"""Below this the answer is marked `low_confidence`."""

WEAK = 0.02
"""A chunk whose own probability is lower is not shown beside better ones."""

FAINT = 0.25
"""A chunk whose graph score, curved and times the trust in the graph, is less is not vouched for."""

SURE = 0.95
"""The confidence of the graph alone where it is trusted in full."""

NOTHING = "no channel found a chunk"
UNJUDGED = "there are only cosines, and they are not to be trusted here"
"""Reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What may be shown, and how sure we are of it."""

    status: Status
    confidence: float
    kept: tuple[Hit, ...]
    rejected: tuple[Hit, ...]
    reason: str


def gate(
    hits: Sequence[Hit], rankings: Mapping[str, Ranking], *, card: ModelCard | None, trust: float = 1.0
) -> Verdict:
    """
    Keep the chunks that are likely relevant, or none.

    `card` is the embedder whose cosines stand in `rankings`, None where they are not to be trusted. Where there
    is nothing else to judge by, everything is kept and marked as uncertain. What is not `no_match` has a chunk.
    `trust` is how far the graph counts for this question; a chunk it vouches for is kept, whatever its words.
    """
    cosines = _by_chunk(rankings.get("vector")) if card else {}
    keyword = rankings.get("keyword")
    walked = _walked(rankings.get("graph"), trust=trust)
    if hits and "graph" in rankings and "vector" not in rankings and not keyword:
        return _by_graph(hits, trust=trust)
    if hits and not card and not keyword:
        return Verdict(status="low_confidence", confidence=NO_MATCH, kept=tuple(hits), rejected=(), reason=UNJUDGED)
    shares = {id: score / keyword.ceiling for id, score in _by_chunk(keyword).items()} if keyword else {}
    best_cosine, best_share = max(cosines.values(), default=None), max(shares.values(), default=0.0)
    confidence = probability(best_cosine, best_share if keyword else None, card=card)
    reason = _reason(best_cosine, best_share if keyword else None) if hits else NOTHING
    if not hits or confidence < NO_MATCH:
        return Verdict(status="no_match", confidence=confidence, kept=(), rejected=tuple(hits), reason=reason)
    mean = rankings["vector"].mean if card and "vector" in rankings else None
    kept: list[Hit] = []
    rejected: list[Hit] = []
    for hit in hits:
        own = probability(
            cosines.get(hit.chunk_id, mean), shares.get(hit.chunk_id, 0.0) if keyword else None, card=card
        )
        (kept if own >= WEAK or hit.chunk_id in walked else rejected).append(hit)
    if not kept:  # the best cosine and the best words are in different chunks, each weak alone
        kept, rejected = rejected[:1], rejected[1:]
    status: Status = "ok" if confidence >= LOW else "low_confidence"
    reason = "" if status == "ok" else reason
    return Verdict(status=status, confidence=confidence, kept=tuple(kept), rejected=tuple(rejected), reason=reason)


def probability(cosine: float | None, share: float | None, *, card: ModelCard | None) -> float:
    """
    Return how likely a question with this best cosine and keyword share is answered by the namespace.

    `share` is a BM25 score as a share of what a chunk full of every term would get; None where the channel
    was not asked.
    """
    if cosine is None or card is None:
        return _logistic(KEYWORD_SLOPE * ((share or 0.0) - KEYWORD_MIDDLE))
    words = SHARE_SLOPE * (share - SHARE_MIDDLE) if share is not None else 0.0
    return _logistic(card.slope * (cosine - card.floor) + words)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))


def _by_chunk(ranking: Ranking | None) -> dict[str, float]:
    return {hit.chunk_id: hit.score for hit in ranking.hits} if ranking else {}


def _walked(ranking: Ranking | None, *, trust: float) -> set[str]:
    """Return the chunks the graph vouches for: the hidden hop shares neither words nor meaning with the question."""
    hits = ranking.hits if ranking else ()
    best = max((hit.score for hit in hits), default=0.0)
    return {hit.chunk_id for hit in hits if best and trust * (max(0.0, hit.score) / best) ** CURVE >= FAINT}


def _by_graph(hits: Sequence[Hit], *, trust: float) -> Verdict:
    """The graph alone was asked: it is as sure as the question's entities explain the question."""
    confidence = max(NO_MATCH, trust * SURE)
    status: Status = "ok" if confidence >= LOW else "low_confidence"
    reason = "" if status == "ok" else "the entities explain little of the question"
    return Verdict(status=status, confidence=confidence, kept=tuple(hits), rejected=(), reason=reason)


def _reason(cosine: float | None, share: float | None) -> str:
    parts = []
    if cosine is not None:
        parts.append(f"the closest chunk has cosine {cosine:.2f}")
    if share is not None:
        parts.append(f"the best keyword match covers {share:.0%} of the question")
    return " and ".join(parts)
