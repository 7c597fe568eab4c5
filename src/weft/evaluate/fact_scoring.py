"""Scores of fact recall and of a vector baseline on the questions of a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from weft.config import MemoryOptions
from weft.errors import InputError
from weft.evaluate.measures import percentile, recall
from weft.evaluate.scenario import FactCase
from weft.facts.lifecycle import fact_text, holds
from weft.models.base import Embedder, TextKind
from weft.records import Fact, ModelCard, Vectors
from weft.search.facts import recall as read_path
from weft.store.base import Store
from weft.text.normalise import squeeze

MEASURED_FACTS = 10
"""Number of facts of an answer that are scored."""

ALL_KINDS = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredFacts:
    """The facts found for one case, best first."""

    case: FactCase
    expected: frozenset[str]
    """Ids of facts."""
    ranked: tuple[Fact, ...]
    is_match: bool
    """False if the answer is `no_match`."""
    milliseconds: float
    """Time without embedding the question."""


class KnownQuestions:
    """An embedder with precomputed vectors of questions. Timings then exclude embedding."""

    def __init__(self, embedder: Embedder, questions: Sequence[str]) -> None:
        self._embedder = embedder
        texts = list(dict.fromkeys(squeeze(text) for text in questions))
        self._known = dict(zip(texts, embedder.embed(texts, kind="query"), strict=True))

    @property
    def card(self) -> ModelCard:
        return self._embedder.card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        if kind == "query" and all(text in self._known for text in texts):
            return np.stack([self._known[text] for text in texts])
        return self._embedder.embed(texts, kind=kind)


def expected_facts(case: FactCase, facts: Mapping[str, Fact]) -> frozenset[str]:
    """
    Return the ids of the facts that answer a case.

    Raises `InputError` if a fact is not valid at the time of the case.
    """
    for id in case.expected:
        if id not in facts or not holds(facts[id], at=case.at):
            day = case.at.date().isoformat()
            hint = "correct as_of or expected of the question"
            raise InputError(f"{case.text!r} expects fact {id!r}, which is not valid on {day}", hint=hint)
    return frozenset(facts[id].id for id in case.expected)


def answer_by_recall(
    cases: Sequence[FactCase],
    *,
    facts: Mapping[str, Fact],
    store: Store,
    embedder: Embedder | None,
    options: MemoryOptions,
    on_step: Callable[[], None] = lambda: None,
) -> list[AnsweredFacts]:
    """
    Return the facts that `weft recall --as-of` finds for each question.

    Accesses are not counted, so answers are independent.
    """
    answered = []
    for case in cases:
        start = time.perf_counter()
        found = read_path.recall(case.text, store=store, embedder=embedder, options=options, at=case.at)
        seconds = time.perf_counter() - start
        answered.append(
            AnsweredFacts(
                case=case,
                expected=expected_facts(case, facts),
                ranked=tuple(piece.fact for piece in found.facts),
                is_match=found.status != "no_match",
                milliseconds=1000 * seconds,
            )
        )
        on_step()
    return answered


def answer_by_vector(
    cases: Sequence[FactCase],
    *,
    facts: Mapping[str, Fact],
    embedder: Embedder,
    live_only: bool,
    on_step: Callable[[], None] = lambda: None,
) -> list[AnsweredFacts]:
    """
    Return the facts whose sentences have the highest cosine with each question.

    With `live_only`, only facts valid at the time of the question are used. If the best cosine is below the floor of
    the embedder, the answer is `no_match`, but its facts are still scored.
    """
    known = list({fact.id: fact for fact in facts.values()}.values())
    vectors = embedder.embed([fact_text(fact) for fact in known])
    answered = []
    for case in cases:
        question = embedder.embed([squeeze(case.text)], kind="query")[0]
        start = time.perf_counter()
        rows = [row for row, fact in enumerate(known) if not live_only or holds(fact, at=case.at)]
        scores = vectors[rows] @ question
        best = sorted(range(len(rows)), key=lambda at: (-float(scores[at]), known[rows[at]].id))[:MEASURED_FACTS]
        seconds = time.perf_counter() - start
        answered.append(
            AnsweredFacts(
                case=case,
                expected=expected_facts(case, facts),
                ranked=tuple(known[rows[at]] for at in best),
                is_match=bool(best) and float(scores[best[0]]) >= embedder.card.floor,
                milliseconds=1000 * seconds,
            )
        )
        on_step()
    return answered


def summarise(answered: Sequence[AnsweredFacts]) -> list[dict[str, Any]]:
    """Return the figures of all questions, then of each kind in the order of the scenario."""
    kinds = dict.fromkeys(item.case.kind for item in answered)
    groups = {ALL_KINDS: list(answered)}
    groups |= {kind: [item for item in answered if item.case.kind == kind] for kind in kinds}
    return [{"kind": kind, "questions": len(group), **_figures(group)} for kind, group in groups.items()]


def _figures(answered: Sequence[AnsweredFacts]) -> dict[str, float | None]:
    """Return the measures of answers; None for a measure that applies to none of them."""
    known = [item for item in answered if item.expected]
    unknown = [item for item in answered if not item.expected]
    shown = [(fact, item.case.at) for item in known for fact in item.ranked[:MEASURED_FACTS]]
    return {
        "recall@5": _mean([recall([f.id for f in item.ranked], item.expected, k=5) for item in known]),
        "recall@10": _mean([recall([f.id for f in item.ranked], item.expected, k=10) for item in known]),
        "no_match": _mean([float(not item.is_match) for item in unknown]),
        "turned_away": _mean([float(not item.is_match) for item in known]),
        "stale@10": _mean([float(not holds(fact, at=at)) for fact, at in shown]),
        "p50_ms": round(percentile([item.milliseconds for item in answered], 0.5), 2),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None
