"""
Relevance gate: the confidence of an answer, and the chunks that are relevant enough to return.

The evidence of a chunk is the sum of two log-odds: one from its cosine, one from its keyword share. The keyword share
is the BM25 score divided by its upper bound. Confidence is the probability from the best cosine and the best keyword
share:

| confidence | status | chunks returned |
| --- | --- | --- |
| below 0.10 | `no_match` | none, unless the graph is trusted with 0.6 or more |
| 0.10 to 0.50 | `low_confidence` | those of probability 0.02 or more, and those that the graph supports |
| 0.50 or more | `ok` | the same |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile

from weft.choices import GRAPH, KEYWORD, VECTOR
from weft.rank.boost import GRAPH_EXPONENT
from weft.records import Calibration, Curve, Hit, ModelCard, Ranking, Status

KEYWORD_WITH_COSINE = Curve(middle=0.15, slope=17.5)
"""Log-odds of the keyword share, added to those of a cosine. Fitted in `benchmarks/quality/confidence.py`."""

KEYWORD_ALONE = Curve(middle=0.25, slope=24.0)
"""
Log-odds of the keyword share of six content terms without a cosine.

Shorter questions need more: `search/confidence.py`. Decision 0007 has the fit.
"""

KEYWORD_BIGRAMS = Curve(middle=0.17, slope=35.0)
"""The same for twelve character bigrams, in which no stop word matches everywhere."""

MIN_CONFIDENCE = 0.10
"""Lower confidence is `no_match`: 1 in 100 answerable questions, 97 in 100 foreign ones."""

MIN_OK_CONFIDENCE = 0.50
"""Lower confidence is `low_confidence`."""

MIN_CHUNK_PROBABILITY = 0.02
"""A chunk of lower probability is rejected if better chunks exist."""

_MIN_CHUNK_ODDS = math.log(MIN_CHUNK_PROBABILITY / (1 - MIN_CHUNK_PROBABILITY))

USUAL_CHUNKS = 100
"""
Chunks from which the shipped curves hold. Among half as many, the odds of an answer are twice as high.

The best cosine of a foreign question grows with the number of compared chunks, that of an own question hardly does.
Decision 0007 has the figures.
"""

MIN_GRAPH_SUPPORT = 0.2
"""Smallest `trust · (graph score / best graph score)^0.4` of a chunk that the graph supports."""

MIN_COVERAGE = 0.8
"""
Share of the question's content words that an answering chunk contains.

No chunk reached it for a foreign question.
"""

FULL_COVERAGE_CONFIDENCE = 0.6
"""Minimum confidence if one chunk contains all content words. Cosine and BM25 are unreliable in a small corpus."""

MIN_RESCUE_TRUST = 0.6
"""Trust from which the graph overrides `no_match`. It did so for none of 2,330 foreign questions."""

RESCUE_CONFIDENCE = 0.4
"""Confidence at full trust if the graph overrides `no_match`."""

GRAPH_ONLY_CONFIDENCE = 0.95
"""Confidence at full trust if no text channel was searched."""

NO_CHUNK = "no channel found a chunk"
GRAPH_ONLY = "found by the graph only"
NO_EVIDENCE = "confidence is unknown: the cosines are unreliable here, or the question has no content words"
LITTLE_COVERED = "the recognised entities cover little of the question"
"""Reasons of a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Outcome of the gate."""

    status: Status
    confidence: float
    kept: tuple[Hit, ...]
    rejected: tuple[Hit, ...]
    reason: str
    text: tuple[Hit, ...] = ()
    """Relevant chunks of the text channels alone."""


UNJUDGED = Verdict(status="no_match", confidence=0.0, kept=(), rejected=(), reason=NO_CHUNK)
"""Verdict without a hit."""


def shipped_calibration(card: ModelCard | None) -> Calibration:
    """Return the calibration shipped with an embedder; None stands for keyword search only."""
    cosine = Curve(middle=card.floor, slope=card.slope) if card else Curve(middle=0.0, slope=0.0)
    return Calibration(cosine=cosine, beside=KEYWORD_WITH_COSINE, words=KEYWORD_ALONE, pairs=KEYWORD_BIGRAMS)


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
    Return the relevant chunks with a status and a confidence.

    The caller leaves a vector ranking with unreliable cosines out of `rankings`. Without a vector and a keyword ranking
    everything is kept with `low_confidence`. A verdict other than `no_match` keeps at least one chunk. `trust` is the
    weight of the graph for this question. A chunk that the graph supports is kept even with low text scores. `text` are
    the hits of the text channels; they are also judged without the graph. `cover` returns the share of the question's
    content words in each chunk; it is called below `MIN_OK_CONFIDENCE`, or if the best keyword hit seems irrelevant.
    """
    if not hits:
        return UNJUDGED
    vector, keyword = rankings.get(VECTOR), rankings.get(KEYWORD)
    if not vector and not keyword:
        verdict = _by_graph(hits, trust=trust) if GRAPH in rankings and not text else _unjudged(hits)
        return replace(verdict, text=tuple(text))
    best_cosine, best_share = best_scores(rankings)
    compared = vector.count if vector and calibration.origin == "shipped" else 0
    confidence = probability(best_cosine, best_share, calibration=calibration, compared=compared)
    covering = _covering(cover()) if confidence < MIN_OK_CONFIDENCE else {}
    confidence = max(confidence, FULL_COVERAGE_CONFIDENCE * max(covering.values(), default=0.0))
    reason = _reason(best_cosine, best_share)
    if confidence < MIN_CONFIDENCE:
        verdict = Verdict(status="no_match", confidence=confidence, kept=(), rejected=tuple(hits), reason=reason)
        return _rescued(verdict, rankings.get(GRAPH), trust=trust)
    strong = _strong(hits, vector, keyword, calibration=calibration)
    if not covering and not _best_by_words(keyword) <= strong:
        covering = _covering(cover())  # far in meaning, but it may contain all words
    strong |= covering.keys()
    likely = strong | graph_supported(rankings.get(GRAPH), trust=trust)
    kept, rejected = _split(hits, likely)
    status = judge(confidence)
    return Verdict(
        status=status,
        confidence=confidence,
        kept=kept,
        rejected=rejected,
        reason="" if status == "ok" else reason,
        text=tuple([hit for hit in text if hit.chunk_id in strong] or text[:1]),
    )


def _split(hits: Sequence[Hit], likely: Set[str]) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """
    Return the likely hits and the others.

    The first one counts as likely if none is: the best cosine and the best keyword share may belong to different
    chunks, each of which is weak alone.
    """
    kept = tuple(hit for hit in hits if hit.chunk_id in likely) or tuple(hits[:1])
    shown = {hit.chunk_id for hit in kept}
    return kept, tuple(hit for hit in hits if hit.chunk_id not in shown)


def keep_all(verdict: Verdict, hits: Sequence[Hit], *, text: Sequence[Hit]) -> Verdict:
    """Return the verdict with every hit kept, at the same confidence; `no_match` with hits becomes `low_confidence`."""
    status = "low_confidence" if hits and verdict.status == "no_match" else verdict.status
    return replace(verdict, status=status, kept=tuple(hits), rejected=(), text=tuple(text))


def doubt(verdict: Verdict, reason: str) -> Verdict:
    """Return the verdict with low confidence, for a reason."""
    confidence = min(verdict.confidence, MIN_OK_CONFIDENCE - 0.01)
    return replace(verdict, status="low_confidence", confidence=confidence, reason=reason)


def best_scores(rankings: Mapping[str, Ranking]) -> tuple[float | None, float | None]:
    """
    Return the best cosine and the best keyword share; None for a channel that was not searched.

    If all compared chunks were filtered out, the best cosine is their mean.
    """
    vector, keyword = rankings.get(VECTOR), rankings.get(KEYWORD)
    cosine = vector.hits[0].score if vector and vector.hits else None
    if vector and not vector.hits and vector.count:
        cosine = vector.mean
    share = (keyword.hits[0].score / keyword.ceiling if keyword.hits else 0.0) if keyword else None
    return cosine, share


def probability(cosine: float | None, share: float | None, *, calibration: Calibration, compared: int = 0) -> float:
    """
    Return the probability that the namespace answers a question with this best cosine and best keyword share.

    `share` is a BM25 score divided by its upper bound. None stands for a channel that was not searched. `compared` is
    the number of chunks among which the cosine is the best; 0 stands for many. Own and foreign questions are assumed to
    be equally frequent.
    """
    few = math.log(USUAL_CHUNKS / compared) if 0 < compared < USUAL_CHUNKS else 0.0
    return _logistic(_evidence(cosine, share, calibration) + few)


def judge(confidence: float) -> Status:
    """Return the status for a confidence."""
    if confidence < MIN_CONFIDENCE:
        return "no_match"
    return "ok" if confidence >= MIN_OK_CONFIDENCE else "low_confidence"


def _evidence(cosine: float | None, share: float | None, calibration: Calibration) -> float:
    """Return the log-odds of `probability`."""
    if cosine is None:
        curve = calibration.words
        return curve.slope * ((share or 0.0) - curve.middle)
    curve, beside = calibration.cosine, calibration.beside
    words = beside.slope * (share - beside.middle) if share is not None else 0.0
    return curve.slope * (cosine - curve.middle) + words


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))


def _covering(shares: Mapping[str, float]) -> dict[str, float]:
    return {id: share for id, share in shares.items() if share >= MIN_COVERAGE}


def _strong(
    hits: Sequence[Hit], vector: Ranking | None, keyword: Ranking | None, *, calibration: Calibration
) -> set[str]:
    """
    Return the chunks whose log-odds reach the threshold, by the cosine alone or with the words.

    A chunk without a cosine gets the mean cosine. Missing words alone reject no chunk that vector search would return.
    """
    words = calibration.beside if vector else calibration.words
    by_words, without = _by_curve(keyword, words, ceiling=keyword.ceiling if keyword else 1.0, missing=0.0)
    if not vector:
        return {hit.chunk_id for hit in hits if by_words.get(hit.chunk_id, without) >= _MIN_CHUNK_ODDS}
    by_cosine, far = _by_curve(vector, calibration.cosine, missing=vector.mean)
    return {
        hit.chunk_id
        for hit in hits
        if by_cosine.get(hit.chunk_id, far) + max(0.0, by_words.get(hit.chunk_id, without)) >= _MIN_CHUNK_ODDS
    }


def _best_by_words(keyword: Ranking | None) -> set[str]:
    """Return the chunks with the best keyword score. Equal scores have no order."""
    if keyword is None or not keyword.hits:
        return set()
    best = keyword.hits[0].score
    return {hit.chunk_id for hit in takewhile(lambda hit: math.isclose(hit.score, best), keyword.hits)}


def _by_curve(
    ranking: Ranking | None, curve: Curve, *, missing: float, ceiling: float = 1.0
) -> tuple[dict[str, float], float]:
    """Return the log-odds that a channel adds: by chunk id, and for chunks that it did not find."""
    if ranking is None:
        return {}, 0.0
    slope, middle = curve.slope, curve.middle
    return {id: slope * (score / ceiling - middle) for id, _, score in ranking.hits}, slope * (missing - middle)


def graph_supported(ranking: Ranking | None, *, trust: float) -> set[str]:
    """Return the chunks that the graph supports. The text channels cannot find a hidden hop."""
    if not ranking or not ranking.hits or ranking.hits[0].score <= 0:
        return set()
    best = ranking.hits[0].score
    supported = takewhile(
        lambda hit: trust * (max(0.0, hit.score) / best) ** GRAPH_EXPONENT >= MIN_GRAPH_SUPPORT, ranking.hits
    )
    return {hit.chunk_id for hit in supported}


def _rescued(verdict: Verdict, graph: Ranking | None, *, trust: float) -> Verdict:
    """Return the chunks that the graph supports in place of `no_match`, if the trust suffices."""
    supported = graph_supported(graph, trust=trust) if trust >= MIN_RESCUE_TRUST else ()
    kept = tuple(hit for hit in verdict.rejected if hit.chunk_id in supported)
    if not kept:
        return verdict
    rejected = tuple(hit for hit in verdict.rejected if hit.chunk_id not in supported)
    confidence, reason = max(verdict.confidence, RESCUE_CONFIDENCE * trust), f"{verdict.reason}: {GRAPH_ONLY}"
    return Verdict(status=judge(confidence), confidence=confidence, kept=kept, rejected=rejected, reason=reason)


def _unjudged(hits: Sequence[Hit]) -> Verdict:
    return Verdict(
        status="low_confidence", confidence=MIN_CONFIDENCE, kept=tuple(hits), rejected=(), reason=NO_EVIDENCE
    )


def _by_graph(hits: Sequence[Hit], *, trust: float) -> Verdict:
    """Return the verdict if only the graph was searched. The confidence is proportional to the trust in the graph."""
    confidence = max(MIN_CONFIDENCE, trust * GRAPH_ONLY_CONFIDENCE)
    status = judge(confidence)
    reason = "" if status == "ok" else LITTLE_COVERED
    return Verdict(status=status, confidence=confidence, kept=tuple(hits), rejected=(), reason=reason)


def _reason(cosine: float | None, share: float | None) -> str:
    parts = []
    if cosine is not None:
        parts.append(f"best cosine {cosine:.2f}")
    if share is not None:
        parts.append(f"best keyword score is {share:.0%} of the maximum")
    return ", ".join(parts)
