"""Judgement of the joined ranking: the chunks to return, with status and confidence."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from weft.rank.gate import Verdict, gate, keep_all
from weft.records import Query
from weft.search.confidence import (
    confirm_title,
    find_calibration,
    keep_meaningful,
    measure_coverage,
    without_stop_words,
)
from weft.search.graph.join import Joined
from weft.search.question.absent_names import doubt_absent_names
from weft.search.question.bare_words import doubt_bare_words
from weft.search.search_context import SearchContext


def judge(query: Query, joined: Joined, search: SearchContext) -> Verdict:
    """Return the chunks that may be returned, with status, confidence and reason."""
    with search.stopwatch.stage("judge"):
        gated = _gate(query, joined, search)
        shown = gated if search.options.gate else keep_all(gated, joined.hits, text=joined.text)
        is_cited = joined.walked.cited is not None
        titled = confirm_title(shown, query.question, search)
        doubted = titled
        if not is_cited:
            doubted = doubt_absent_names(doubt_bare_words(titled, query.question, search), query.question, search)
        if search.graph.confidence == "heuristic":  # the gate's status is kept
            return replace(doubted, confidence=joined.walked.rated)
        return doubted


def _gate(query: Query, joined: Joined, search: SearchContext) -> Verdict:
    meaningful = keep_meaningful(query, joined.complete, chunks=search.chunks, embedder=search.embedder)
    rankings = without_stop_words(query.question, meaningful, search)
    return gate(
        joined.hits,
        rankings,
        text=joined.text,
        calibration=find_calibration(query.question, store=search.store, embedder=search.embedder),
        trust=joined.walked.trust,
        cover=partial(measure_coverage, query.question, rankings.get("keyword"), chunks=search.chunks),
    )
