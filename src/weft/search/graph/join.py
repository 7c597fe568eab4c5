"""Graph stage: walks the graph, weighs the ranking by its agreement with text, and fuses it with the text channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from weft.choices import GRAPH, VECTOR
from weft.config import GraphOptions
from weft.rank.boost import fuse_boost, fuse_graph_weighted
from weft.rank.fuse import fuse_reciprocal, order
from weft.rank.heuristic_confidence import heuristic_confidence, should_expand
from weft.records import Hit, Query, Ranking
from weft.search.channels import fuse_text
from weft.search.confidence import min_relevant_cosine
from weft.search.corrections import correct
from weft.search.draft import Draft, Walked
from weft.search.graph.channel import search_graph
from weft.search.graph.link_weights import FOLLOWED_GRAPH_SCORE
from weft.search.graph.relations import Relations, relations_in
from weft.search.graph.trust import ANSWERED, MIN_LEADING_TRUST, agreement, graph_trust
from weft.search.question.choose_method import Plan
from weft.search.question.entities import Seed, recognise_meaning, recognise_names
from weft.search.search_context import SearchContext
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms
from weft.text.ids import fact_entity_key

MAX_NEAR_CHUNKS = 20
"""Number of nearest chunks whose entities may be seeds if the question names no entity."""

NO_GRAPH = "the namespace has no graph: index it with `weft index --graph`"


def join_graph(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with the text channels fused, and joined with the graph channel if the method uses the graph."""
    options, plan = search.graph, draft.plan
    if GRAPH in plan.channels:
        relations = relations_in(search.store, at=search.at if options.enabled else None)
        with search.stopwatch.stage("graph"):
            vector = draft.rankings.get(VECTOR)
            walked = walk_graph(draft.query, plan, search, vector=vector, relations=relations)
            draft = draft._replace(walked=walked, relations=relations)
    with search.stopwatch.stage("fuse"):
        draft = fuse_text(draft, search)
        if draft.relations is not None:
            graph = {GRAPH: Ranking(hits=draft.walked.found.hits)}
            draft = draft._replace(rankings={**draft.rankings, **graph}, complete={**draft.complete, **graph})
        draft = draft._replace(walked=weigh_graph(draft.walked, draft.text, store=search.store, options=options))
        hits = add_graph(draft.text, draft.walked, rrf_k=search.options.rrf_k, options=options)
        draft = draft._replace(hits=hits)
        is_fused = len(plan.channels) > 1 and not draft.is_cited
        return correct("order", draft, search) if is_fused else draft


def walk_graph(
    query: Query, plan: Plan, search: SearchContext, *, vector: Ranking | None, relations: Relations | None = None
) -> Walked:
    """
    Return the ranking of the graph channel, or the reason why the graph was not walked.

    `vector` is the ranking of the vector channel. Without `relations`, those of the documents are followed.
    """
    options = search.graph
    if not options.enabled:
        return Walked(skipped="the graph is switched off")
    top = vector.hits[0].score if vector and vector.hits else None
    rate = partial(heuristic_confidence, query.question.text, top_vector_score=top)
    if (cited := plan.cited) is not None and cited.seeds:
        rated = rate(has_entities=True)
        return Walked(found=cited.found, seeds=cited.seeds, trust=cited.trust, rated=rated, cited=cited)
    seeds = _find_seeds(query, plan, search, vector=vector, relations=relations)
    trust = rated = rate(has_entities=bool(seeds))
    if options.confidence == "heuristic":
        goes_on, why = should_expand(
            rated, has_entities=bool(seeds), enabled=options.enabled, min_confidence=options.min_confidence
        )
        if not goes_on:
            return Walked(seeds=seeds, skipped=why, trust=trust, rated=rated)
    if not seeds:
        why = "no entity of this namespace was recognised in the question"
        return Walked(skipped=why if search.store.graph.has_entities() else NO_GRAPH)
    if options.confidence == "measured":
        trust = graph_trust(
            query.question, seeds, defining_chunks={seed.entity.id: seed.defining_chunks for seed in seeds}
        )
    has_failed = query.vector is None and bool(query.degraded)  # the embedder failed: do not call it again
    models = replace(search, embedder=None) if has_failed else search
    if options.min_graph_score > FOLLOWED_GRAPH_SCORE or options.fusion == "boost":  # the selection does the rest
        models = replace(models, graph=replace(options, min_graph_score=FOLLOWED_GRAPH_SCORE))
    found = search_graph(query.question, seeds, models, relations=relations)
    return Walked(found=found, seeds=seeds, trust=trust, rated=rated)


def _find_seeds(
    query: Query, plan: Plan, search: SearchContext, *, vector: Ranking | None, relations: Relations | None
) -> tuple[Seed, ...]:
    """Return the entities that the question names. If none has a defining chunk, add those close in meaning."""
    graph, options = search.store.graph, search.graph
    named = plan.named
    if named is None:
        named = tuple(recognise_names(query.question, graph=graph, relations=relations, limit=options.max_named))
    if any(seed.defining_chunks for seed in named):
        return named

    def near() -> list[str]:
        ranking = vector
        if ranking is None and query.vector is not None:
            ranking = search.store.search_vector(query.vector, limit=MAX_NEAR_CHUNKS, where=search.where)
        return [hit.chunk_id for hit in ranking.hits[:MAX_NEAR_CHUNKS]] if ranking else []

    close = recognise_meaning(
        graph=graph, vector=query.vector, floor=_floor(query, search), near=near, limit=options.max_close
    )
    known = {seed.entity.id for seed in named}
    return (*named, *(seed for seed in close if seed.entity.id not in known))


def _floor(query: Query, search: SearchContext) -> Callable[[], float] | None:
    """Return a function that returns the minimum cosine of a relevant entity; None if cosines are meaningless."""
    embedder = search.embedder
    if not embedder or not query.vector_weight or embedder.card.degraded:
        return None
    if (least := search.graph.min_similarity) is not None:
        return lambda: least
    return partial(min_relevant_cosine, query.question, store=search.store, embedder=embedder)


def weigh_graph(walked: Walked, text: Sequence[Hit], *, store: StoreReader, options: GraphOptions) -> Walked:
    """
    Return the graph's outcome with its trust multiplied by the agreement with the best text hits.

    | case | agreement | graph may lead |
    | --- | --- | --- |
    | an entity has a relation that the question asks for | at least 0.5 | yes |
    | no chunk contains the names of the question, such as aliases | 1: the text cannot agree | yes |
    | an entity is known only from facts | as measured | yes |
    | otherwise | as measured | from trust 0.35 on, unless the best text hit is clearly the best |
    """
    if options.confidence != "measured" or not walked.found.hits or not text or walked.cited is not None:
        return walked
    agreed, answers = agreement(text, (*walked.found.own, *walked.found.hits)), walked.found.answers
    # Entities known only from facts never occur in text, so agreement is meaningless.
    is_from_facts = any(fact_entity_key(seed.entity.id) for seed in walked.seeds)
    is_unwritten = agreed < (1.0 if is_from_facts else ANSWERED) and _are_unwritten(walked.seeds, store=store)
    agreed = 1.0 if is_unwritten else max(agreed, ANSWERED * answers)
    trust = walked.trust * agreed
    decides = answers or is_unwritten or is_from_facts or options.fusion != "boost"
    return replace(walked, trust=trust, leads=decides or trust >= MIN_LEADING_TRUST, decides=decides)


def add_graph(text: Sequence[Hit], walked: Walked, *, rrf_k: int, options: GraphOptions) -> list[Hit]:
    """Return the fused union of text and graph hits, best first."""
    graph = walked.found.hits
    if not graph:
        return list(text)
    if not text and (walked.cited is not None or not walked.trust):
        return list(graph)  # nothing to fuse with
    by_text, by_graph = options.weights
    match options.fusion:
        case "boost":
            return fuse_boost(text, graph=graph, share=options.share, trust=walked.trust)
        case "weighted":
            return fuse_graph_weighted(text, graph=graph, alpha=by_text, beta=by_graph, trust=walked.trust)
        case "rrf":
            rankings = {"text": Ranking(hits=tuple(text)), "graph": Ranking(hits=tuple(graph))}
            return order(fuse_reciprocal(rankings, weights={"text": by_text, "graph": by_graph}, k=rrf_k))


def _are_unwritten(seeds: Sequence[Seed], *, store: StoreReader) -> bool:
    """Return True if no chunk contains the names of these entities as written in the question."""
    named = [query_terms(seed.key) for seed in seeds if seed.words]
    if not named or not all(named):
        return False
    return all(ids == [] for ids in store.find_chunks_with_terms(named, limit=1))
