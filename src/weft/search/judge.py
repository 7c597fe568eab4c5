"""Judgement of the joined ranking: the chunks to return, with status and confidence."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from weft.choices import KEYWORD
from weft.rank.gate import Verdict, best_scores, gate, keep_all
from weft.records import Query
from weft.search.channels import search_channels
from weft.search.confidence import find_calibration, measure_coverage
from weft.search.corrections import correct
from weft.search.draft import Draft
from weft.search.question.choose_method import Plan
from weft.search.search_context import SearchContext


def judge(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with the chunks that may be returned, with status, confidence and reason."""
    with search.stopwatch.stage("judge"):
        gated = _gate(correct("confidence", draft, search), search)
        shown = gated if search.options.gate else keep_all(gated, draft.hits, text=draft.text)
        draft = correct("verdict", draft._replace(verdict=shown), search)
        if search.graph.confidence == "heuristic":  # the gate's status is kept
            return draft._replace(verdict=replace(draft.verdict, confidence=draft.walked.rated))
        return draft


def confidence_scores(query: Query, search: SearchContext) -> tuple[float | None, float | None]:
    """Return the best cosine and the best keyword share that decide the confidence; None if it is meaningless."""
    plan = Plan(method="hybrid")
    draft = Draft(query=query, plan=plan, complete=search_channels(query, plan.channels, search))
    return best_scores(correct("confidence", draft, search).complete)


def _gate(draft: Draft, search: SearchContext) -> Verdict:
    question, rankings = draft.query.question, draft.complete
    return gate(
        draft.hits,
        rankings,
        text=draft.text,
        calibration=find_calibration(question, store=search.store, embedder=search.embedder),
        trust=draft.walked.trust,
        cover=partial(measure_coverage, question, rankings.get(KEYWORD), chunks=search.chunks),
    )
