"""
Relevance of facts to a question, a factor of their score.

The factor is the product of two odds:

| part | odds |
| --- | --- |
| vectors | odds of relevance at the cosine of fact and question, by the calibration; 1 without an embedder |
| words | `WORD_ODDS` for each shared word, and its root if the subject is an anchor of the question |

A vector contains the subject, so an anchor counts half a word. Without vectors it counts a whole word.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import fmean

from weft.config import MemoryOptions
from weft.facts.score import by_score, score_fact, score_factors
from weft.records import Curve, Recalled, Vector
from weft.search.facts.match import INHERITED_MATCH, match
from weft.search.question.entities import USER
from weft.store.base import StoreReader

WORD_ODDS = 100.0
"""Factor of the odds for each shared word, chosen on `examples/memory/scenario.jsonl` without `held-out` questions."""

MAX_CHOICE_ODDS = 2.0
"""
Largest effect of the cosine between facts of one subject and predicate: that of a statement of the user over a guess of
equal confidence from a conversation (`memory.source_weights`). 60 weeks without access count 20.
"""

MAX_LOG_ODDS = 300.0
"""Limit that keeps the factor finite for questions with hundreds of shared words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantFacts:
    """Facts by score with the factor `relevance`, and the cosines of the facts closest to the question."""

    facts: list[Recalled]
    near: Mapping[str, float] = field(default_factory=dict)
    """Cosines of the closest facts, by fact id."""


def rank_by_relevance(
    facts: Sequence[Recalled],
    *,
    vector: Vector | None,
    curve: Curve,
    wanted: frozenset[str],
    anchors: Sequence[str],
    store: StoreReader,
    options: MemoryOptions,
    at: datetime,
) -> RelevantFacts:
    """
    Return candidate facts and those closest to the question, by score and relevance. Ties go to the newer fact.

    At most `memory.per_entity` facts of a subject are returned. `wanted` are the terms of the question, `anchors` the
    keys of its entities. A fact without a vector gets the mean
    cosine of the others.
    """
    near = [] if vector is None else store.facts.search_texts(vector, at=at, limit=options.per_entity)
    found = {piece.fact.id: piece for piece in facts}
    for fact, _ in near:
        scored = score_fact(fact, hop=1, at=at, options=options)
        found.setdefault(fact.id, replace(scored, match=match(fact, wanted)))
    cosines = _measure_cosines(list(found), vector, store=store)
    usual = fmean(cosines.values()) if cosines else curve.middle
    subject_match = 1.0 if vector is None else INHERITED_MATCH
    ranked = []
    for id, piece in found.items():
        is_anchor = piece.fact.subject in anchors and piece.fact.subject != USER
        words = math.log(WORD_ODDS) * (piece.match + subject_match * is_anchor)
        odds = math.exp(min(curve.slope * (cosines.get(id, usual) - curve.middle) + words, MAX_LOG_ODDS))
        factors = {**piece.factors, "relevance": odds}
        ranked.append(replace(piece, score=math.prod(factors.values()), factors=factors))
    ranked = _put_recent_first(sorted(ranked, key=by_score), at=at, options=options)
    kept = _limit_subjects(ranked, limit=options.per_entity)
    return RelevantFacts(facts=kept[: options.max_facts], near={fact.id: cosine for fact, cosine in near})


def _put_recent_first(ranked: Sequence[Recalled], *, at: datetime, options: MemoryOptions) -> list[Recalled]:
    """
    Return the facts with those of one subject, predicate and match in another order among their places.

    `uses diesel forklifts`, stated 60 weeks ago, comes after `uses electric forklifts`, stated today: there the decay
    counts from creation, as every recall accesses both, and the cosine counts `MAX_CHOICE_ODDS` at most. Each place
    keeps its score.
    """
    places: dict[tuple[str, str, float], list[int]] = defaultdict(list)
    for place, piece in enumerate(ranked):
        places[piece.fact.subject, piece.fact.predicate, piece.match].append(place)
    found = list(ranked)
    for group in places.values():
        members = [ranked[place] for place in group]
        least = max(piece.factors["relevance"] for piece in members) / MAX_CHOICE_ODDS
        members.sort(key=lambda piece: by_score(_rate(piece, least=least, at=at, options=options)))
        for place, piece in zip(group, members, strict=True):
            score = ranked[place].score
            odds = piece.factors["relevance"] * (score / piece.score if piece.score else 1.0)
            found[place] = replace(piece, score=score, factors={**piece.factors, "relevance": odds})
    return found


def _rate(piece: Recalled, *, least: float, at: datetime, options: MemoryOptions) -> Recalled:
    """Return the fact with a score whose decay counts from creation and whose relevance is at least `least`."""
    decay = score_factors(replace(piece.fact, last_accessed=None), at=at, options=options)["decay"]
    factors = {**piece.factors, "decay": decay, "relevance": max(piece.factors["relevance"], least)}
    return replace(piece, score=math.prod(factors.values()))


def _limit_subjects(ranked: Sequence[Recalled], *, limit: int) -> list[Recalled]:
    """Return the facts in the same order, at most `limit` of each subject."""
    counts: Counter[str] = Counter()
    kept = []
    for piece in ranked:
        counts[piece.fact.subject] += 1
        if counts[piece.fact.subject] <= limit:
            kept.append(piece)
    return kept


def _measure_cosines(ids: Sequence[str], vector: Vector | None, *, store: StoreReader) -> dict[str, float]:
    """Return the cosines of facts with a question, by fact id; facts without a vector are left out."""
    if vector is None:
        return {}
    return {id: float(other @ vector) for id, other in store.facts.text_vectors(ids).items()}
