"""Re-ranking: a model scores the texts of the fused pool, and the answer is selected again."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.errors import ModelError
from weft.models.base import Reranker
from weft.rank.rerank import blend_rerank
from weft.records import Evidence, Question, RerankedHit, Reranking
from weft.search.draft import Draft
from weft.search.graph.join import add_graph
from weft.search.search_context import SearchContext
from weft.search.selection import choose_hits

logger = logging.getLogger(__name__)

MAX_TEXT_CHARACTERS = 4000
"""Maximum number of characters of a chunk, with title and headings, that are sent to a reranker."""

CITED = "citation questions are not re-ranked"
NOTHING = "fewer than two results"
OVERTAKEN = "ranked lower by the reranker"
"""Reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The scores of a reranker, or the reason why there are none."""

    about: Reranking
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning if the reranker failed."""
        note = f"not re-ranked, the order of the search is kept: {self.about.skipped}"
        return (note,) if self.about.is_failed else ()


def read_pool(draft: Draft, search: SearchContext) -> dict[str, str]:
    """Return the texts of the first `rerank.pool` chunks by chunk id, each with title and headings."""
    ids = [hit.chunk_id for hit in draft.pool()[: search.rerank.pool]] if draft.evidence else []
    chunks = search.chunks.read(ids)
    documents = search.chunks.documents(chunks.values())
    return {
        id: "\n".join((" › ".join((documents[chunk.document_id].title, *chunk.heading)), chunk.text))[
            :MAX_TEXT_CHARACTERS
        ]
        for id, chunk in chunks.items()
    }


def ask_reranker(
    question: Question, texts: Mapping[str, str], search: SearchContext, *, reranker: Reranker, is_cited: bool
) -> Opinion:
    """Return the scores of the reranker. If it fails, the result contains the reason; no error is raised."""
    with search.stopwatch.stage("rerank"):
        if is_cited or len(texts) < 2:
            return Opinion(about=Reranking(model=reranker.name, skipped=CITED if is_cited else NOTHING))
        try:
            scores = reranker.rerank(question.text, list(texts.values()))
        except ModelError as error:
            logger.warning("re-ranking failed: %s", error)
            why = f"{error} ({error.hint})" if error.hint else str(error)
            return Opinion(about=Reranking(model=reranker.name, skipped=why, is_failed=True))
    by_id = dict(zip(texts, scores, strict=True))
    return Opinion(about=Reranking(model=reranker.name, count=len(texts)), scores=by_id)


def reselect(draft: Draft, opinion: Opinion, search: SearchContext) -> Draft:
    """
    Return the draft with text hits in the order of the blended scores, fused with the graph as before.

    Hits that the graph added stay in the answer. Without scores the selection is unchanged.
    """
    if not opinion.scores:
        return draft
    verdict = draft.verdict
    blended = blend_rerank(verdict.text, scores=opinion.scores, weight=search.rerank.weight)
    fused = add_graph(blended, draft.walked, rrf_k=search.options.rrf_k, options=search.graph)
    kept, text = ({hit.chunk_id for hit in hits} for hits in (verdict.kept, verdict.text))
    verdict = replace(
        verdict,
        kept=tuple(hit for hit in fused if hit.chunk_id in kept),
        text=tuple(hit for hit in blended if hit.chunk_id in text),
    )
    ordered = draft._replace(hits=fused, verdict=verdict, leaders=(), is_reranked=True)
    chosen = choose_hits(ordered, search)
    overtaken = {hit.chunk_id for hit in draft.evidence} - {hit.chunk_id for hit in chosen.evidence}
    dropped = Counter(draft.dropped)
    if overtaken:
        dropped[OVERTAKEN] += len(overtaken)
    return draft._replace(evidence=chosen.evidence, connected=chosen.connected, dropped=dict(dropped))


def mark_reranked(evidence: Sequence[Evidence], draft: Draft, opinion: Opinion | None) -> list[Evidence]:
    """Return the evidence, each piece with its former rank and the reranker's score; stated neighbours have neither."""
    if opinion is None or not opinion.scores:
        return list(evidence)
    ranks = {hit.chunk_id: rank for rank, hit in enumerate(draft.pool(), start=1)}
    return [
        replace(piece, rerank=RerankedHit(former_rank=rank, score=opinion.scores.get(piece.chunk.id)))
        if (rank := ranks.get(piece.chunk.id))
        else piece
        for piece in evidence
    ]
