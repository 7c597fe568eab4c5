"""Enough evidence? How likely the question is answered here, and which chunks are too weak to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.rank.boost import CURVE
from weft.records import Calibration, Curve, Hit, ModelCard, Ranking, Status

BESIDE = Curve(middle=0.15, slope=17.5)
"""What the keyword share adds beside a cosine. Fitted in `benchmarks/quality/confidence.py`; alike for all models."""

WORDS = Curve(middle=0.20, slope=30.0)
"""The keyword share alone, where there is no cosine. Fitted in the same place."""

PAIRS = Curve(middle=0.19, slope=35.0)
"""The same for terms that are pairs of characters: in Chinese no small words match everywhere."""

NO_MATCH = 0.10
"""Below this probability nothing is returned: 1 in 100 answerable questions, 97 in 100 foreign ones."""

LOW = 0.50
"""Below this the answer is marked `low_confidence`."""

WEAK = 0.02
"""A chunk whose own probability is lower is not shown beside better ones."""

_WEAK_ODDS = math.log(WEAK / (1 - WEAK))

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


def shipped(card: ModelCard | None) -> Calibration:
    """Return the calibration that comes with an embedder, or with none."""
    cosine = Curve(middle=card.floor, slope=card.slope) if card else Curve(middle=0.0, slope=0.0)
    return Calibration(cosine=cosine, beside=BESIDE, words=WORDS, pairs=PAIRS)


def gate(
    hits: Sequence[Hit], rankings: Mapping[str, Ranking], *, calibration: Calibration, trust: float = 1.0
) -> Verdict:
    """
    Keep the chunks that are likely relevant, or none.

    Whoever asks leaves a vector ranking whose cosines are not to be trusted out of `rankings`; where there is nothing
    else to judge by, everything is kept and marked as uncertain. What is not `no_match` has a chunk.
    `trust` is how far the graph counts for this question; a chunk it vouches for is kept, whatever its words.
    """
    vector, keyword = rankings.get("vector"), rankings.get("keyword")
    if hits and not vector and not keyword:
        return _by_graph(hits, trust=trust) if "graph" in rankings else _unjudged(hits)
    cosines, shares = _by_chunk(vector), _shares(keyword)
    best_cosine, best_share = measure(rankings)
    confidence = probability(best_cosine, best_share, calibration=calibration)
    reason = _reason(best_cosine, best_share) if hits else NOTHING
    if not hits or confidence < NO_MATCH:
        return Verdict(status="no_match", confidence=confidence, kept=(), rejected=tuple(hits), reason=reason)
    walked = _walked(rankings.get("graph"), trust=trust)
    mean = vector.mean if vector else None
    kept: list[Hit] = []
    rejected: list[Hit] = []
    for hit in hits:
        id = hit[0]
        own = _evidence(cosines.get(id, mean), shares.get(id, 0.0) if keyword else None, calibration)
        (kept if own >= _WEAK_ODDS or id in walked else rejected).append(hit)
    if not kept:  # the best cosine and the best words are in different chunks, each weak alone
        kept, rejected = rejected[:1], rejected[1:]
    status = judge(confidence)
    reason = "" if status == "ok" else reason
    return Verdict(status=status, confidence=confidence, kept=tuple(kept), rejected=tuple(rejected), reason=reason)


def measure(rankings: Mapping[str, Ranking]) -> tuple[float | None, float | None]:
    """Return the best cosine and the best keyword share; None for a channel that was not asked."""
    vector, keyword = rankings.get("vector"), rankings.get("keyword")
    cosine = max((hit.score for hit in vector.hits), default=None) if vector else None
    share = max((hit.score / keyword.ceiling for hit in keyword.hits), default=0.0) if keyword else None
    return cosine, share


def probability(cosine: float | None, share: float | None, *, calibration: Calibration) -> float:
    """
    Return how likely a question with this best cosine and keyword share is answered by the namespace.

    `share` is a BM25 score as a share of what a chunk full of every term would get; None where the channel
    was not asked. Own and foreign questions are taken to be equally frequent.
    """
    return _logistic(_evidence(cosine, share, calibration))


def judge(confidence: float) -> Status:
    """Return what a probability makes of an answer."""
    if confidence < NO_MATCH:
        return "no_match"
    return "ok" if confidence >= LOW else "low_confidence"


def _evidence(cosine: float | None, share: float | None, calibration: Calibration) -> float:
    """Return the same as the logarithm of the odds."""
    if cosine is None:
        curve = calibration.words
        return curve.slope * ((share or 0.0) - curve.middle)
    curve, beside = calibration.cosine, calibration.beside
    words = beside.slope * (share - beside.middle) if share is not None else 0.0
    return curve.slope * (cosine - curve.middle) + words


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))


def _by_chunk(ranking: Ranking | None) -> dict[str, float]:
    return {id: score for id, _, score in ranking.hits} if ranking else {}


def _shares(keyword: Ranking | None) -> dict[str, float]:
    """Return BM25 scores by chunk as a share of the ceiling."""
    return {id: score / keyword.ceiling for id, score in _by_chunk(keyword).items()} if keyword else {}


def _walked(ranking: Ranking | None, *, trust: float) -> set[str]:
    """Return the chunks the graph vouches for: the hidden hop shares neither words nor meaning with the question."""
    hits = ranking.hits if ranking else ()
    best = max((hit.score for hit in hits), default=0.0)
    return {hit.chunk_id for hit in hits if best and trust * (max(0.0, hit.score) / best) ** CURVE >= FAINT}


def _unjudged(hits: Sequence[Hit]) -> Verdict:
    return Verdict(status="low_confidence", confidence=NO_MATCH, kept=tuple(hits), rejected=(), reason=UNJUDGED)


def _by_graph(hits: Sequence[Hit], *, trust: float) -> Verdict:
    """The graph alone was asked: it is as sure as the question's entities explain the question."""
    confidence = max(NO_MATCH, trust * SURE)
    status = judge(confidence)
    reason = "" if status == "ok" else "the entities explain little of the question"
    return Verdict(status=status, confidence=confidence, kept=tuple(hits), rejected=(), reason=reason)


def _reason(cosine: float | None, share: float | None) -> str:
    parts = []
    if cosine is not None:
        parts.append(f"the closest chunk has cosine {cosine:.2f}")
    if share is not None:
        parts.append(f"the best keyword match covers {share:.0%} of the question")
    return " and ".join(parts)
