"""Enough evidence? How likely the question is answered here, and which chunks are too weak to show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

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

FAINT = 0.2
"""A chunk whose graph score, curved and times the trust in the graph, is less is not vouched for."""

COVERED = 0.8
"""Share of a question's telling words that one chunk holds from which it answers: that of no foreign question."""

WORD_BY_WORD = 0.6
"""The confidence where all of them do, whatever cosine and BM25 say: in a small corpus these say little."""

VOUCHED = 0.6
"""Trust from which the graph answers where words and meaning find nothing: of 2,330 foreign questions, for none."""

UNHEARD = 0.4
"""The confidence of the graph trusted in full where words and meaning find nothing."""

SURE = 0.95
"""The confidence of the graph alone where it is trusted in full."""

NOTHING = "no channel found a chunk"
BY_GRAPH = "only the graph leads here"
UNJUDGED = "there is little to judge by: cosines that are not to be trusted here, or small words alone"
"""Reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What may be shown, and how sure we are of it."""

    status: Status
    confidence: float
    kept: tuple[Hit, ...]
    rejected: tuple[Hit, ...]
    reason: str
    text: tuple[Hit, ...] = ()
    """What may be shown without the graph."""


def shipped(card: ModelCard | None) -> Calibration:
    """Return the calibration that comes with an embedder, or with none."""
    cosine = Curve(middle=card.floor, slope=card.slope) if card else Curve(middle=0.0, slope=0.0)
    return Calibration(cosine=cosine, beside=BESIDE, words=WORDS, pairs=PAIRS)


def gate(
    hits: Sequence[Hit],
    rankings: Mapping[str, Ranking],
    *,
    calibration: Calibration,
    trust: float = 1.0,
    text: Sequence[Hit] = (),
    cover: Callable[[], Mapping[str, float]] = dict,
) -> Verdict:
    """
    Keep the chunks that are likely relevant, or none.

    Whoever asks leaves a vector ranking whose cosines are not to be trusted out of `rankings`; where there is nothing
    else to judge by, everything is kept and marked as uncertain. What is not `no_match` has a chunk.
    `trust` is how far the graph counts for this question; a chunk it vouches for is kept, whatever its words.
    `text` are those of the chunks that words and meaning found, which are judged without it too. `cover` tells which
    share of the question's telling words chunks hold; it is called where there is doubt.
    """
    if not hits:
        return Verdict(status="no_match", confidence=0.0, kept=(), rejected=(), reason=NOTHING)
    vector, keyword = rankings.get("vector"), rankings.get("keyword")
    if not vector and not keyword:
        verdict = _by_graph(hits, trust=trust) if "graph" in rankings and not text else _unjudged(hits)
        return replace(verdict, text=tuple(text))
    best_cosine, best_share = measure(rankings)
    confidence = probability(best_cosine, best_share, calibration=calibration)
    covering = _covering(cover()) if confidence < LOW else {}
    confidence = max(confidence, WORD_BY_WORD * max(covering.values(), default=0.0))
    reason = _reason(best_cosine, best_share)
    if confidence < NO_MATCH:
        verdict = Verdict(status="no_match", confidence=confidence, kept=(), rejected=tuple(hits), reason=reason)
        return _rescued(verdict, rankings.get("graph"), trust=trust)
    strong = _strong(hits, vector, keyword, calibration=calibration) | covering.keys()
    likely = strong | _walked(rankings.get("graph"), trust=trust)
    kept = [hit for hit in hits if hit[0] in likely]
    rejected = [hit for hit in hits if hit[0] not in likely]
    if not kept:  # the best cosine and the best words are in different chunks, each weak alone
        kept, rejected = rejected[:1], rejected[1:]
    status = judge(confidence)
    return Verdict(
        status=status,
        confidence=confidence,
        kept=tuple(kept),
        rejected=tuple(rejected),
        reason="" if status == "ok" else reason,
        text=tuple([hit for hit in text if hit[0] in strong] or text[:1]),
    )


def let_through(verdict: Verdict, hits: Sequence[Hit], *, text: Sequence[Hit]) -> Verdict:
    """Return a verdict that shows everything, however weak, as sure as it was."""
    status = "low_confidence" if hits and verdict.status == "no_match" else verdict.status
    return replace(verdict, status=status, kept=tuple(hits), rejected=(), text=tuple(text))


def measure(rankings: Mapping[str, Ranking]) -> tuple[float | None, float | None]:
    """
    Return the best cosine and the best keyword share; None for a channel that was not asked.

    Where none of the chunks that were compared counts, the best cosine is their mean.
    """
    vector, keyword = rankings.get("vector"), rankings.get("keyword")
    cosine = vector.hits[0].score if vector and vector.hits else None
    if vector and not vector.hits and vector.count:
        cosine = vector.mean
    share = (keyword.hits[0].score / keyword.ceiling if keyword.hits else 0.0) if keyword else None
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


def _covering(shares: Mapping[str, float]) -> dict[str, float]:
    return {id: share for id, share in shares.items() if share >= COVERED}


def _strong(
    hits: Sequence[Hit], vector: Ranking | None, keyword: Ranking | None, *, calibration: Calibration
) -> set[str]:
    """Return the chunks that are likely enough by `_evidence` of their own; one not found has the mean cosine."""
    words = calibration.beside if vector else calibration.words
    by_words, without = _by_curve(keyword, words, ceiling=keyword.ceiling if keyword else 1.0, missing=0.0)
    if not vector:
        return {hit[0] for hit in hits if by_words.get(hit[0], without) >= _WEAK_ODDS}
    by_cosine, far = _by_curve(vector, calibration.cosine, missing=vector.mean)
    return {hit[0] for hit in hits if by_cosine.get(hit[0], far) + by_words.get(hit[0], without) >= _WEAK_ODDS}


def _by_curve(
    ranking: Ranking | None, curve: Curve, *, missing: float, ceiling: float = 1.0
) -> tuple[dict[str, float], float]:
    """Return what a channel adds to the odds: by chunk, and for one it did not find."""
    if ranking is None:
        return {}, 0.0
    slope, middle = curve.slope, curve.middle
    return {id: slope * (score / ceiling - middle) for id, _, score in ranking.hits}, slope * (missing - middle)


def _walked(ranking: Ranking | None, *, trust: float) -> set[str]:
    """Return the chunks the graph vouches for: the hidden hop shares neither words nor meaning with the question."""
    if not ranking or not ranking.hits or ranking.hits[0].score <= 0:
        return set()
    best = ranking.hits[0].score
    vouched = takewhile(lambda hit: trust * (max(0.0, hit.score) / best) ** CURVE >= FAINT, ranking.hits)
    return {hit.chunk_id for hit in vouched}


def _rescued(verdict: Verdict, graph: Ranking | None, *, trust: float) -> Verdict:
    """Return what the graph alone vouches for: the question names it as no text does, and little else."""
    vouched = _walked(graph, trust=trust) if trust >= VOUCHED else ()
    kept = tuple(hit for hit in verdict.rejected if hit[0] in vouched)
    if not kept:
        return verdict
    rejected = tuple(hit for hit in verdict.rejected if hit[0] not in vouched)
    confidence, reason = max(verdict.confidence, UNHEARD * trust), f"{verdict.reason}: {BY_GRAPH}"
    return Verdict(status=judge(confidence), confidence=confidence, kept=kept, rejected=rejected, reason=reason)


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
        parts.append(f"the best keyword match scores {share:.0%} of what it could")
    return " and ".join(parts)
