"""Rankings and measures of the questions of a set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.config import GraphOptions, RerankOptions, SearchOptions
from weft.evaluate.dataset import Case
from weft.evaluate.measures import measure, percentile
from weft.models.base import Embedder, Reranker
from weft.records import Result
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.store.base import Store

RANKED_CHUNKS = 100
"""Chunks retrieved per question, enough for the 20 documents that are scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The ranking of one case: documents with scores, best first, each once."""

    case: Case
    ranked: tuple[tuple[str, float], ...]
    embed_ms: float
    search_ms: float
    method: str
    rule: str = ""
    """Rule that chose the method; empty if the caller chose the method."""
    unranked: str = ""
    """Reason why the reranker was not used; empty if it was used or does not exist."""


def answer_cases(
    cases: Sequence[Case],
    *,
    store: Store,
    embedder: Embedder | None,
    options: SearchOptions,
    graph: GraphOptions = GraphOptions(),  # noqa: B008 - frozen
    reranker: Reranker | None = None,
    rerank: RerankOptions = RerankOptions(),  # noqa: B008 - frozen
    without: frozenset[str] = frozenset(),
    on_step: Callable[[], None] = lambda: None,
) -> list[Answered]:
    """
    Return the ranking for every question, as `weft query` without floor and gate.

    `without` names corrections of the ranking to leave out, to measure their effect.
    """
    options = replace(options, top_k=RANKED_CHUNKS, pool=max(options.pool, RANKED_CHUNKS), gate=False, min_score=None)
    answered = []
    for case in cases:
        search = SearchContext(
            store=store,
            embedder=embedder,
            options=options,
            graph=graph,
            reranker=reranker,
            rerank=rerank,
            without=without,
        )
        result = find(case.text, search)
        embed = result.timings.get("embed", 0.0)
        answered.append(
            Answered(
                case=case,
                ranked=_documents(result),
                embed_ms=embed,
                search_ms=sum(result.timings.values()) - embed,
                method=result.method,
                rule=result.choice.rule if result.choice else "",
                unranked=result.rerank.skipped if result.rerank else "",
            )
        )
        on_step()
    return answered


def summarise(answered: Sequence[Answered]) -> dict[str, Any]:
    """Return measures and times over all questions."""
    figures: dict[str, Any] = dict(measure([([id for id, _ in a.ranked], a.case.gold) for a in answered]))
    figures["p50_ms"] = percentile([a.search_ms for a in answered], 0.5)
    figures["p95_ms"] = percentile([a.search_ms for a in answered], 0.95)
    figures["embed_p50_ms"] = percentile([a.embed_ms for a in answered], 0.5)
    return figures


def trec_lines(answered: Sequence[Answered], *, tag: str) -> list[str]:
    """Return the rankings in TREC run format: query, Q0, document, rank, score, tag."""
    return [
        f"{a.case.id} Q0 {id} {rank} {score:.6f} {tag}"
        for a in answered
        for rank, (id, score) in enumerate(a.ranked, start=1)
    ]


def _documents(result: Result) -> tuple[tuple[str, float], ...]:
    """Return the documents of a result, each at the rank of its best chunk."""
    best: dict[str, float] = {}
    for piece in result.evidence:
        best.setdefault(str(piece.document.metadata.get("_id", piece.document.source)), piece.score)
    return tuple(best.items())
