"""Judgement of the joined ranking: the chunks to return, with status and confidence."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from weft.rank.gate import Verdict, gate, keep_all
from weft.records import Query
from weft.search.confidence import find_calibration, keep_meaningful, measure_coverage
from weft.search.graph.join import Joined
from weft.search.question.absent_ids import doubt_absent_ids
from weft.search.search_context import SearchContext


def judge(query: Query, joined: Joined, search: SearchContext) -> Verdict:
    """Return the chunks that may be returned, with status, confidence and reason."""
    with search.stopwatch.stage("judge"):
        gated = _gate(query, joined, search)
        shown = gated if search.options.gate else keep_all(gated, joined.hits, text=joined.text)
        is_cited = joined.walked.cited is not None
        doubted = shown if is_cited else doubt_absent_ids(shown, query.question, store=search.store)
        if search.graph.confidence == "heuristic":  # the gate's status is kept
            return replace(doubted, confidence=joined.walked.rated)
        return doubted


def _gate(query: Query, joined: Joined, search: SearchContext) -> Verdict:
    rankings = keep_meaningful(query, joined.complete, store=search.store, embedder=search.embedder)
    return gate(
        joined.hits,
        rankings,
        text=joined.text,
        calibration=find_calibration(query.question, store=search.store, embedder=search.embedder),
        trust=joined.walked.trust,
        cover=partial(measure_coverage, query.question, rankings.get("keyword"), store=search.store),
    )
