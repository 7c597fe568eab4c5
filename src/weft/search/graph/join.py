"""How the graph joins an answer: whether it is walked, and how what it finds is merged with the text channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from weft.config import GraphOptions
from weft.models.base import Embedder
from weft.rank.boost import fuse_boost, fuse_graph_weighted, put_first
from weft.rank.fuse import fuse_reciprocal, order
from weft.rank.heuristic_confidence import GRAPH_OFF, heuristic_confidence, should_expand
from weft.records import Evidence, Filter, GraphContext, Hit, Query, Ranking
from weft.search.chunks import Chunks
from weft.search.confidence import least_cosine
from weft.search.graph.channel import GraphFound, relations_between, search_graph
from weft.search.graph.relations import Relations
from weft.search.graph.trust import ANSWERED, BY_MEANING, LEADS, agreement, graph_trust
from weft.search.papers.citation_search import Cited
from weft.search.question.entities import Seed, recognise_meaning, recognise_names
from weft.store.base import Store
from weft.text.analyzer import query_terms
from weft.text.ids import fact_entity_key

MAX_ENTITIES = 12
"""Entities named in the graph context: the question's own and those of the best graph chunks."""


NEAR = 20
"""Chunks closest in meaning among which entities are looked for that a question does not name."""

PER_DOCUMENT = 2
"""Chunks of one document that the graph may add to an answer."""

TOO_WEAK = "too weak by its words and its meaning, and the graph does not vouch for it"
SAME_DOCUMENT = "the graph adds no more than two chunks of a document"
NOT_NAMED = "the graph is hardly trusted here, so it only helped to order what text found"
"""Reasons for what is not in an answer."""

NO_GRAPH = "the namespace has no graph: index it with `weft index --graph`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """What the graph gave for a question."""

    found: GraphFound = field(default_factory=GraphFound)
    seeds: tuple[Seed, ...] = ()
    skipped: str = ""
    """Why the graph was not walked; empty when it was."""
    trust: float = 1.0
    """How far the graph counts for this question, 0 to 1."""
    rated: float = GRAPH_OFF
    """With `heuristic`: the confidence of the answer, whatever the gate makes of it."""
    cited: Cited | None = None
    """The answer to a citation question, which the text need not bear out."""
    leads: bool = True
    """Whether it may put something before the best of the text."""

    def context(self, evidence: Sequence[Evidence], *, relations: Relations) -> GraphContext:
        """Return the entities of the question and of the answer, with the relations among them."""
        graph = relations.graph
        ids = [seed.entity.id for seed in self.seeds]
        if self.cited is not None:
            ids += [id for id in self.cited.entities if id not in ids]
        shown = [piece.chunk.id for piece in evidence if piece.graph is not None]
        for mention in graph.mentions_in(shown, about=True):
            if mention.entity_id not in ids:
                ids.append(mention.entity_id)
        known = {seed.entity.id: seed.entity for seed in self.seeds}
        wanted = ids[:MAX_ENTITIES]
        known |= {entity.id: entity for entity in graph.entities([id for id in wanted if id not in known])}
        entities = [known[id] for id in wanted if id in known]
        return GraphContext(
            entities=tuple(entities),
            relations=tuple(relations_between(entities, relations=relations)),
            recognised=tuple(seed.entity.name for seed in self.seeds),
            found_by=("name" if self.seeds[0].words else "meaning") if self.seeds else "",
            trust=self.trust if self.seeds and not self.skipped else 0.0,
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
    relations: Relations | None = None,
    cited: Cited | None = None,
    named: Sequence[Seed] | None = None,
) -> Walked:
    """
    Recognise the question's entities and follow `relations` from them, or those of the graph, or say why not.

    `named` are the entities it names, where they are known already; `cited` the answer to a citation question.
    """
    if not options.enabled:
        return Walked(skipped="the graph is switched off")
    top = vector.hits[0].score if vector and vector.hits else None
    rate = partial(heuristic_confidence, query.text, top_vector_score=top)
    if cited is not None and cited.seeds:
        rated = rate(has_entities=True)
        return Walked(found=cited.found, seeds=cited.seeds, trust=cited.trust, rated=rated, cited=cited)

    def near() -> list[str]:
        ranking = vector
        if ranking is None and query.vector is not None:
            ranking = store.search_vector(query.vector, limit=NEAR, where=where)
        return [hit.chunk_id for hit in ranking.hits[:NEAR]] if ranking else []

    if named is None:
        named = recognise_names(query.text, graph=store.graph, relations=relations, limit=options.max_named)
    seeds = list(named)
    if not any(seed.homes for seed in seeds):
        known = {seed.entity.id for seed in seeds}
        floor = _floor(query, store=store, embedder=embedder, options=options)
        close = recognise_meaning(
            graph=store.graph, vector=query.vector, floor=floor, near=near, limit=options.max_close
        )
        seeds += (seed for seed in close if seed.entity.id not in known)
    trust = rated = rate(has_entities=bool(seeds))
    if options.confidence == "heuristic":
        goes_on, why = should_expand(
            rated, has_entities=bool(seeds), enabled=options.enabled, min_confidence=options.min_confidence
        )
        if not goes_on:
            return Walked(seeds=tuple(seeds), skipped=why, trust=trust, rated=rated)
    if not seeds:
        why = "no entity of this namespace was recognised in the question"
        return Walked(skipped=why if store.graph.top_entities(limit=1) else NO_GRAPH)
    if options.confidence == "measured":
        trust = graph_trust(query.text, seeds, homes={seed.entity.id: seed.homes for seed in seeds})
    found = search_graph(
        query.text,
        seeds,
        store=store,
        relations=relations,
        embedder=None if query.vector is None and query.degraded else embedder,  # it has just failed
        options=options,
        limit=limit,
        where=where,
    )
    return Walked(found=found, seeds=tuple(seeds), trust=trust, rated=rated)


def _floor(
    query: Query, *, store: Store, embedder: Embedder | None, options: GraphOptions
) -> Callable[[], float] | None:
    """Return what gives the cosine from which an entity is meant; None where cosines are not to be trusted."""
    if not embedder or not query.vector_weight or embedder.card.degraded:
        return None
    if (least := options.min_similarity) is not None:
        return lambda: least
    return partial(least_cosine, query.text, store=store, embedder=embedder)


def weigh_graph(walked: Walked, text: Sequence[Hit], *, store: Store, options: GraphOptions) -> Walked:
    """
    Return what the graph gave with less trust where it does not agree with the best of the text.

    Where it has a relation that is asked for, it is trusted by half at least; where no chunk spells what the question
    names, as one of its other names may be, the text has no say. Then, or with enough trust, it may lead.
    """
    if options.confidence != "measured" or not walked.found.hits or not text or walked.cited is not None:
        return walked
    agreed, answers = agreement(text, walked.found.hits), walked.found.answers
    # of what facts alone know the text says nothing, so that it may seem to agree
    is_remembered = any(fact_entity_key(seed.entity.id) for seed in walked.seeds)
    is_unseen = agreed < (1.0 if is_remembered else ANSWERED) and _are_unseen(walked.seeds, store=store)
    agreed = 1.0 if is_unseen else max(agreed, ANSWERED * answers)
    trust = walked.trust * agreed
    leads = trust >= LEADS or answers or is_unseen or is_remembered or options.fusion != "boost"
    return replace(walked, trust=trust, leads=leads)


def add_graph(text: Sequence[Hit], walked: Walked, *, rrf_k: int, options: GraphOptions) -> list[Hit]:
    """Return the re-ranked union of text and graph hits."""
    graph = walked.found.hits
    if not graph:
        return list(text)
    if not text and (walked.cited is not None or not walked.trust):
        return list(graph)  # there is nothing to weigh it against
    by_text, by_graph = options.weights
    match options.fusion:
        case "boost":
            return fuse_boost(text, graph=graph, share=options.share, trust=walked.trust)
        case "weighted":
            return fuse_graph_weighted(text, graph=graph, alpha=by_text, beta=by_graph, trust=walked.trust)
        case "rrf":
            rankings = {"text": Ranking(hits=tuple(text)), "graph": Ranking(hits=tuple(graph))}
            return order(fuse_reciprocal(rankings, weights={"text": by_text, "graph": by_graph}, k=rrf_k))


def choose_hits(
    fused: Sequence[Hit], kept: Sequence[Hit], *, text: Sequence[Hit], walked: Walked, chunks: Chunks, top_k: int
) -> list[Hit]:
    """
    Return the part of the union that makes the answer, in its order.

    Additive: each of the first `top_k` of `text`, what hybrid search would show, is in it, whatever the graph says, so
    it may hold more than `top_k`; a caller that wants fewer cuts it. The graph adds what the gate kept, at most two
    chunks of a document, so that a long one at the start of a chain does not hide its end; from entities that the
    question does not name it only helps to order what text found. The best of the text stays first where the gate kept
    it, unless the graph leads.
    """
    if not walked.found.hits:
        return list(kept[:top_k])
    own = {hit.chunk_id for hit in text[:top_k]}
    likely = {hit.chunk_id for hit in kept}
    passed = likely if walked.trust > BY_MEANING or not text else set()
    found = [hit.chunk_id for hit in walked.found.hits if hit.chunk_id in passed]
    if found:
        chunks.read([*own, *found[:top_k]])  # nearly all that is shown, at once
    shown = own | _spread(found, chunks=chunks, count=top_k)
    chosen = [hit for hit in fused if hit[0] in shown]
    is_first = bool(text) and not walked.leads and text[0].chunk_id in likely
    return put_first(chosen, text[0].chunk_id) if is_first else chosen


def count_dropped(
    chosen: Sequence[Hit], kept: Sequence[Hit], *, text: Sequence[Hit], walked: Walked, top_k: int
) -> dict[str, int]:
    """Return, by reason, how many of the first `top_k` of text and of graph hits are not in the answer."""
    passed, shown = ({hit.chunk_id for hit in hits} for hits in (kept, chosen))
    first = dict.fromkeys(hit.chunk_id for hit in (*text[:top_k], *walked.found.hits[:top_k]))
    reasons = Counter[str]()
    for id in first:
        if id not in passed:
            reasons[TOO_WEAK] += 1
        elif id not in shown:
            reasons[SAME_DOCUMENT if walked.trust > BY_MEANING else NOT_NAMED] += 1
    return dict(reasons)


def _are_unseen(seeds: Sequence[Seed], *, store: Store) -> bool:
    """Tell whether no chunk holds the words by which a question names its entities."""
    named = [query_terms(seed.key) for seed in seeds if seed.words]
    return bool(named) and all(terms and store.find_holders(terms, limit=1) == [] for terms in named)


def _spread(ids: Sequence[str], *, chunks: Chunks, count: int) -> set[str]:
    """Return the first `count` chunks of which no more than `PER_DOCUMENT` belong to one document."""
    taken: Counter[str] = Counter()
    chosen: set[str] = set()
    for start in range(0, min(len(ids), 4 * count), count):
        if len(chosen) == count:
            break
        some = ids[start : start + count]
        known = chunks.read(some)
        for id in some:
            owner = known[id].document_id if id in known else ""
            if taken[owner] < PER_DOCUMENT and len(chosen) < count:
                taken[owner] += 1
                chosen.add(id)
    return chosen
