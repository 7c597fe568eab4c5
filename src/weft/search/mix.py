"""How the graph joins an answer: whether it is walked, and how what it finds is merged with the text channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.config import GraphOptions
from weft.models.base import Embedder
from weft.rank.boost import fuse_boost, fuse_graph_weighted
from weft.rank.fuse import fuse_reciprocal
from weft.rank.heuristic import heuristic_confidence, should_expand
from weft.records import Evidence, Filter, GraphContext, Hit, Query, Ranking
from weft.search.graph import GraphFound, relations_between, search_graph
from weft.search.recognise import Seed, recognise
from weft.store.base import Store

MAX_ENTITIES = 12
"""Entities named in the graph context: the question's own and those of the best graph chunks."""


NO_GRAPH = "the namespace has no graph: index it with `weft index --graph`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """What the graph gave for a question."""

    found: GraphFound = field(default_factory=GraphFound)
    seeds: tuple[Seed, ...] = ()
    skipped: str = ""
    """Why the graph was not walked; empty when it was."""
    trust: float = 1.0

    def context(self, evidence: Sequence[Evidence], *, store: Store) -> GraphContext:
        """Return the entities of the question and of the answer, with the relations among them."""
        ids = [seed.entity.id for seed in self.seeds]
        shown = [piece.chunk.id for piece in evidence if piece.graph is not None]
        for mention in store.graph.mentions_in(shown):
            if mention.about and mention.entity_id not in ids:
                ids.append(mention.entity_id)
        entities = store.graph.entities(ids[:MAX_ENTITIES])
        return GraphContext(
            entities=tuple(entities),
            relations=tuple(relations_between(entities, graph=store.graph)),
            recognised=tuple(seed.entity.name for seed in self.seeds),
            skipped=self.skipped,
        )


def walk_graph(
    query: Query,
    vector: Ranking | None,
    *,
    store: Store,
    embedder: Embedder | None,
    options: GraphOptions,
    limit: int,
    where: Filter,
) -> Walked:
    """Recognise the question's entities and follow the graph from them, or say why not."""
    if not options.enabled:
        return Walked(skipped="the graph is switched off")
    trusted = embedder.card if embedder and query.vector_weight and not embedder.card.degraded else None
    seeds = recognise(query.text, graph=store.graph, vector=query.vector, card=trusted)
    trust = 1.0
    if options.confidence == "heuristic":
        top = vector.hits[0].score if vector and vector.hits else None
        trust = heuristic_confidence(query.text, has_entities=bool(seeds), top_vector_score=top)
        goes_on, why = should_expand(
            trust, has_entities=bool(seeds), enabled=options.enabled, min_confidence=options.min_confidence
        )
        if not goes_on:
            return Walked(seeds=tuple(seeds), skipped=why, trust=trust)
    if not seeds:
        why = "no entity of this namespace was recognised in the question"
        return Walked(skipped=why if store.graph.top_entities(limit=1) else NO_GRAPH)
    found = search_graph(seeds, store=store, embedder=embedder, options=options, limit=limit, where=where)
    return Walked(found=found, seeds=tuple(seeds), trust=trust)


def add_graph(
    text: Sequence[Hit], walked: Walked, *, rrf_k: int, options: GraphOptions, top_k: int
) -> tuple[list[Hit], int]:
    """
    Return the re-ranked union of text and graph hits, and how many of them make the answer.

    Additive: every one of the first `top_k` text hits is among those, whatever the graph says, so the answer may
    hold more than `top_k`; a caller that wants fewer cuts the ranked union.
    """
    graph = walked.found.hits
    if not graph:
        return list(text), top_k
    match options.fusion:
        case "boost":
            fused = fuse_boost(text, graph=graph, share=options.share, trust=walked.trust)
        case "weighted":
            fused = fuse_graph_weighted(text, graph=graph, trust=walked.trust)
        case "rrf":
            rankings = {"text": Ranking(hits=tuple(text)), "graph": Ranking(hits=tuple(graph))}
            fused = fuse_reciprocal(rankings, weights={"text": 0.5, "graph": 0.5}, k=rrf_k)
    wanted = {hit.chunk_id for hit in (*text[:top_k], *graph[:top_k])}
    first = [hit for hit in fused if hit.chunk_id in wanted]
    rest = [hit for hit in fused if hit.chunk_id not in wanted]
    ordered = [Hit(hit.chunk_id, rank, hit.score) for rank, hit in enumerate((*first, *rest), start=1)]
    return ordered, len(first)
