"""Re-ranking: the fused pool is read by a model, and the answer is chosen anew from what it says of it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.config import GraphOptions, RerankOptions
from weft.errors import ModelError
from weft.models.base import Reranker
from weft.rank.rerank import blend_rerank
from weft.records import Evidence, Hit, RerankedHit, Reranking
from weft.search.chunks import Chunks
from weft.search.graph.join import Walked, add_graph, choose_hits
from weft.store.base import Store

logger = logging.getLogger(__name__)

MAX_TEXT = 4000
"""Characters of a chunk, with its title and headings, that a reranker is given."""

CITED = "a citation question is answered by the citations themselves"
NOTHING = "there are no two results to put in order"
OVERTAKEN = "the reranker put others before it"
"""Reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is to be shown of a ranking, and what it is chosen from."""

    fused: Sequence[Hit]
    """The re-ranked union of text and graph."""
    kept: Sequence[Hit]
    """What the gate let through of it."""
    text: Sequence[Hit]
    """What text alone would show, in its order."""
    walked: Walked
    hits: Sequence[Hit]
    """The answer."""
    dropped: Mapping[str, int]
    top_k: int

    def pool(self) -> list[Hit]:
        """Return all that may be in the answer, in the order of the union."""
        ids = {hit.chunk_id for hit in (*self.text, *self.hits)}
        return [hit for hit in self.fused if hit.chunk_id in ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a reranker said of the pool, or why it said nothing."""

    about: Reranking
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Warn where a reranker should have been heard and was not."""
        note = f"not re-ranked, so the order is that of the search: {self.about.skipped}"
        return (note,) if self.about.is_failed else ()


def read_pool(chosen: Chosen, *, store: Store, size: int) -> dict[str, str]:
    """Return what a reranker is given: by id the texts of the first `size` chunks, each under title and headings."""
    chunks = store.chunks([hit.chunk_id for hit in chosen.pool()[:size]]) if chosen.hits else []
    ids = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    titles = {document.id: document.title for document in store.documents(ids)}
    return {
        chunk.id: "\n".join((" › ".join((titles.get(chunk.document_id, ""), *chunk.heading)), chunk.text))[:MAX_TEXT]
        for chunk in chunks
    }


def ask_reranker(query: str, texts: Mapping[str, str], *, reranker: Reranker, is_cited: bool) -> Opinion:
    """Return what the reranker says of the texts. That it fails is a reason in the result, not an error."""
    if is_cited or len(texts) < 2:
        return Opinion(about=Reranking(model=reranker.name, skipped=CITED if is_cited else NOTHING))
    try:
        scores = reranker.rerank(query, list(texts.values()))
    except ModelError as error:
        logger.warning("re-ranking failed: %s", error)
        why = f"{error} ({error.hint})" if error.hint else str(error)
        return Opinion(about=Reranking(model=reranker.name, skipped=why, is_failed=True))
    return Opinion(about=Reranking(model=reranker.name, count=len(texts)), scores=dict(zip(texts, scores, strict=True)))


def rechoose(
    chosen: Chosen, opinion: Opinion, *, chunks: Chunks, options: RerankOptions, graph: GraphOptions, rrf_k: int
) -> Chosen:
    """
    Return the answer chosen anew: text in the order of the blend, fused with the graph as before.

    What the graph adds to an answer is still in it. Without an opinion nothing changes.
    """
    if not opinion.scores:
        return chosen
    blended = blend_rerank(chosen.text, scores=opinion.scores, weight=options.weight)
    fused = add_graph(blended, chosen.walked, rrf_k=rrf_k, options=graph)
    kept, found = ({hit.chunk_id for hit in hits} for hits in (chosen.kept, chosen.text))
    hits = choose_hits(
        fused,
        [hit for hit in fused if hit.chunk_id in kept],
        text=[hit for hit in blended if hit.chunk_id in found],
        walked=chosen.walked,
        chunks=chunks,
        top_k=chosen.top_k,
    )
    overtaken = {hit.chunk_id for hit in chosen.hits} - {hit.chunk_id for hit in hits}
    dropped = Counter(chosen.dropped)
    if overtaken:
        dropped[OVERTAKEN] += len(overtaken)
    return replace(chosen, hits=hits, dropped=dict(dropped))


def mark_reranked(evidence: Sequence[Evidence], chosen: Chosen, opinion: Opinion | None) -> list[Evidence]:
    """Return the evidence, each piece with where it stood before and what the reranker said of it."""
    if opinion is None or not opinion.scores:
        return list(evidence)
    ranks = {hit.chunk_id: rank for rank, hit in enumerate(chosen.pool(), start=1)}
    return [
        replace(
            piece,
            rerank=RerankedHit(former_rank=ranks[piece.chunk.id], score=opinion.scores.get(piece.chunk.id)),
        )
        for piece in evidence
    ]
