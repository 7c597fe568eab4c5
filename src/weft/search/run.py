"""The read path: a question in, ranked and explained evidence out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType

from weft.config import GraphOptions, RerankOptions, SearchOptions
from weft.models.base import Embedder, Reranker
from weft.rank.fuse import coverage, fuse_reciprocal, fuse_weighted, order
from weft.rank.gate import Verdict, gate, keep_all
from weft.records import (
    ChannelHit,
    Evidence,
    Filter,
    Hit,
    Query,
    Ranking,
    Rejected,
    Result,
    Status,
)
from weft.search.chunks import Chunks
from weft.search.cite import cite
from weft.search.confidence import find_calibration, judged
from weft.search.graph.channel import Explain
from weft.search.graph.join import Walked, add_graph, choose_hits, count_dropped, walk_graph, weigh_graph
from weft.search.graph.relations import Relations, relations_in
from weft.search.graph.trust import BY_MEANING
from weft.search.question.absent_ids import doubt_absent
from weft.search.question.choose_method import Plan, choose
from weft.search.question.content_terms import measure_cover
from weft.search.question.prepare import prepare
from weft.search.question.spelled_names import add_spelled, find_spelled
from weft.search.rerank import Chosen, Opinion, ask_reranker, mark_reranked, read_pool, rechoose
from weft.search.script_support import drop_noise, without_noise
from weft.store.base import Store

CHANNELS: Mapping[str, frozenset[str]] = {
    "vector": frozenset({"vector"}),
    "keyword": frozenset({"keyword"}),
    "hybrid": frozenset({"vector", "keyword"}),
    "graph": frozenset({"graph"}),
    "mix": frozenset({"vector", "keyword", "graph"}),
}

EMPTY = "namespace {!r} is empty: nothing has been indexed"
FILTERED = "no document passes the filter"


@dataclass
class Stopwatch:
    """Milliseconds per stage."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = (time.perf_counter() - start) * 1000


def find(
    text: str,
    *,
    store: Store,
    embedder: Embedder | None,
    options: SearchOptions,
    where: Filter,
    graph: GraphOptions = GraphOptions(),  # noqa: B008 - frozen
    at: datetime | None = None,
    reranker: Reranker | None = None,
    rerank: RerankOptions = RerankOptions(),  # noqa: B008 - frozen
) -> Result:
    """
    Collect the evidence for a question, or say that there is not enough.

    The graph channel follows facts that hold `at` a time too; without one it follows what documents say alone. A
    `reranker` has a say in the order, not in the confidence; the store is not held while it is waited for.
    """
    watch = Stopwatch()
    with watch.stage("choose"):
        plan = choose(text, options=options, graph=graph, store=store, where=where, at=at)
    channels = CHANNELS[plan.method]
    with watch.stage("embed"):
        query = prepare(
            text,
            embedder=embedder,
            wants_vector="vector" in channels or ("graph" in channels and not plan.is_cited),
            wants_keyword="keyword" in channels,
        )
    with store.reading():
        found = _search(
            query,
            plan,
            store=store,
            embedder=embedder,
            options=options,
            where=where,
            graph=graph,
            at=at,
            watch=watch,
        )
        if reranker is None:
            return _answer(query, plan, found, store=store, where=where, watch=watch)
        texts = read_pool(found.chosen, store=store, size=rerank.pool)
    with watch.stage("rerank"):
        opinion = ask_reranker(query.text, texts, reranker=reranker, is_cited=found.walked.cited is not None)
    with store.reading():
        chunks = Chunks(store)
        chosen = rechoose(found.chosen, opinion, chunks=chunks, options=rerank, graph=graph, rrf_k=options.rrf_k)
        found = replace(found, chosen=chosen, chunks=chunks)
        return _answer(query, plan, found, opinion=opinion, store=store, where=where, watch=watch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What there is for a question, before its text is read."""

    rankings: Mapping[str, Ranking]
    walked: Walked
    relations: Relations | None
    spelled: Mapping[str, tuple[str, ...]]
    verdict: Verdict
    chosen: Chosen
    chunks: Chunks


def _search(
    query: Query,
    plan: Plan,
    *,
    store: Store,
    embedder: Embedder | None,
    options: SearchOptions,
    where: Filter,
    graph: GraphOptions,
    at: datetime | None,
    watch: Stopwatch,
) -> Found:
    """Ask the channels for a prepared question, merge and judge what they found."""
    channels = CHANNELS[plan.method]
    asked = search(query, channels, store=store, options=options, where=where, watch=watch)
    chunks, card = Chunks(store), embedder.card if embedder and query.vector_weight else None
    if card and "vector" in asked:
        asked["vector"] = without_noise(asked["vector"], chunks=chunks, card=card)
    rankings = {channel: _above(ranking, options.min_score, channel=channel) for channel, ranking in asked.items()}
    walked = Walked()
    relations = relations_in(store, at=at if graph.enabled else None) if "graph" in channels else None
    if relations is not None:
        with watch.stage("graph"):
            walked = walk_graph(
                query,
                rankings.get("vector"),
                store=store,
                relations=relations,
                embedder=embedder,
                options=graph,
                limit=max(options.top_k, options.pool),
                where=where,
                cited=plan.cited,
                named=plan.named,
            )
            rankings["graph"] = Ranking(hits=walked.found.hits)
    with watch.stage("fuse"):
        background = embedder.card.background if embedder else (0.0, 0.1)
        texts = {channel: ranking for channel, ranking in rankings.items() if channel != "graph"}
        spelled = _spelled(query.text, channels, store=store, options=options, where=where)
        hits = fuse(
            texts, query=query, options=options, background=background, alone=len(channels) == 1, spelled=spelled
        )
        walked = weigh_graph(walked, hits, store=store, options=graph)
        fused = add_graph(hits, walked, rrf_k=options.rrf_k, options=graph)
        calibration = find_calibration(query.text, store=store, embedder=embedder)
        seen = judged(query, {**rankings, **asked}, store=store, embedder=embedder)
        cover = partial(measure_cover, query.terms, seen.get("keyword"), store=store)
        verdict = gate(fused, seen, text=hits, calibration=calibration, trust=walked.trust, cover=cover)
        if not options.gate:
            verdict = keep_all(verdict, fused, text=hits)
        if walked.cited is None:
            verdict = doubt_absent(verdict, query.text, store=store)
        shown = list(verdict.text)
        if graph.confidence == "heuristic":  # the status stays that of the gate
            verdict = replace(verdict, confidence=walked.rated)
        chosen = choose_hits(fused, verdict.kept, text=shown, walked=walked, chunks=chunks, top_k=options.top_k)
        dropped = count_dropped(chosen, verdict.kept, text=hits, walked=walked, top_k=options.top_k)
        if card:
            # where the question names nothing, the graph began where vectors led
            names = ("keyword", "graph") if walked.trust > BY_MEANING else ("keyword",)
            others = [rankings[name] for name in names if name in rankings]
            chosen = drop_noise(chosen, others, chunks=chunks, card=card)
    return Found(
        rankings=rankings,
        walked=walked,
        relations=relations,
        spelled=spelled,
        verdict=verdict,
        chosen=Chosen(
            fused=fused,
            kept=verdict.kept,
            text=shown,
            walked=walked,
            hits=chosen,
            dropped=dropped,
            top_k=options.top_k,
        ),
        chunks=chunks,
    )


def _answer(
    query: Query,
    plan: Plan,
    found: Found,
    *,
    store: Store,
    where: Filter,
    watch: Stopwatch,
    opinion: Opinion | None = None,
) -> Result:
    """Read the text of what was chosen, and say how sure it is and how it came about."""
    walked, verdict, hits = found.walked, found.verdict, found.chosen.hits
    with watch.stage("read"):
        evidence = read_evidence(
            hits,
            found.rankings,
            store=store,
            explain=walked.found.explain,
            spelled=found.spelled,
            chunks=found.chunks,
        )
        evidence = mark_reranked(evidence, found.chosen, opinion)
        rejected = [] if verdict.kept else read_evidence(verdict.rejected[:1], found.rankings, store=store)
    degraded = _degraded(query, found)
    status: Status = "degraded" if degraded and verdict.status != "no_match" else verdict.status
    is_empty = not verdict.kept and not store.find_documents(Filter(), limit=1)
    is_outside = bool(where) and not verdict.kept and not store.find_documents(where, limit=1)
    notes = [FILTERED] if is_outside else [*_notes(query, found), *(opinion.notes if opinion else ())]
    return Result(
        query=query.text,
        method=plan.method,
        reason=plan.reason,
        status=status,
        confidence=verdict.confidence,
        evidence=tuple(evidence),
        rejected=_rejection(rejected, verdict) if query.terms else None,
        notes=(EMPTY.format(store.namespace),) if is_empty else (*plan.notes, *query.notes, *notes),
        degraded="" if is_empty else degraded,
        dropped=found.chosen.dropped,
        graph=walked.context(evidence, relations=found.relations) if found.relations is not None else None,
        counts={channel: len(ranking.hits) for channel, ranking in found.rankings.items()},
        timings=watch.spent,
        choice=plan.choice,
        rerank=opinion.about if opinion else None,
    )


def search(
    query: Query,
    channels: frozenset[str],
    *,
    store: Store,
    options: SearchOptions,
    where: Filter,
    watch: Stopwatch,
) -> dict[str, Ranking]:
    """Ask each channel. One that cannot be asked is left out."""
    rankings: dict[str, Ranking] = {}
    limit = max(options.pool, options.top_k)
    if "vector" in channels and query.vector is not None:
        with watch.stage("vector"):
            rankings["vector"] = store.search_vector(query.vector, limit=limit, where=where)
    if "keyword" in channels or (query.degraded and query.vector is None):
        with watch.stage("keyword"):
            rankings["keyword"] = store.search_keyword(query.terms, limit=limit, where=where)
    return rankings


def fuse(
    rankings: Mapping[str, Ranking],
    *,
    query: Query,
    options: SearchOptions,
    background: tuple[float, float],
    alone: bool,
    spelled: Mapping[str, tuple[str, ...]],
) -> list[Hit]:
    """
    Merge the best of what the channels found, chunks that hold `spelled` names moved up.

    A channel that was asked for `alone` keeps its own scores.
    """
    limit = max(options.top_k, options.pool)
    if alone:
        return [hit for ranking in rankings.values() for hit in ranking.hits][:limit]
    heard = coverage(rankings["keyword"]) if "keyword" in rankings else 1.0
    by_vector, by_text = options.weights
    weights = {"vector": by_vector * query.vector_weight, "keyword": by_text * heard}
    if not any(weights[channel] for channel in rankings):  # what was left to search counts, whatever its weight
        weights = dict.fromkeys(rankings, 1.0)
    if options.fusion == "rrf":
        return order(fuse_reciprocal(rankings, weights=weights, k=options.rrf_k), limit=limit)
    scores = fuse_weighted(rankings, weights=weights, background=background)
    return order(add_spelled(scores, spelled, bonus=options.name_bonus), limit=limit)


def _spelled(
    text: str, channels: frozenset[str], *, store: Store, options: SearchOptions, where: Filter
) -> dict[str, tuple[str, ...]]:
    """Return the chunks that hold names of the question, where words count and scores are summed."""
    counts = {"vector", "keyword"} <= channels and options.weights[1] > 0 and options.name_bonus > 0
    return find_spelled(text, store=store, where=where) if counts and options.fusion == "weighted" else {}


def read_evidence(
    hits: Sequence[Hit],
    rankings: Mapping[str, Ranking],
    *,
    store: Store,
    explain: Explain = lambda citations: {},
    spelled: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    chunks: Chunks | None = None,
) -> list[Evidence]:
    """Fetch text and place of each hit, with what every channel said of it and how the graph led there."""
    wanted = {hit.chunk_id for hit in hits}
    found = {
        channel: {id: ChannelHit(rank, score) for id, rank, score in ranking.hits if id in wanted}
        for channel, ranking in rankings.items()
    }
    texts = (chunks or Chunks(store)).read([hit.chunk_id for hit in hits])
    ids = list(dict.fromkeys(chunk.document_id for chunk in texts.values()))
    documents = {document.id: document for document in store.documents(ids)}
    # without those deleted by another process between two reads
    owners = {id: document for id, chunk in texts.items() if (document := documents.get(chunk.document_id))}
    citations = {id: cite(document, texts[id]) for id, document in owners.items()}
    # a way that was given up, or is beyond the limit of the channel, led nowhere
    sources = explain({id: citations[id] for id in found.get("graph", ()) if id in citations})
    return [
        Evidence(
            chunk=texts[id],
            document=owners[id],
            score=score,
            channels={name: by_id[id] for name, by_id in found.items() if id in by_id},
            citation=citations[id],
            graph=sources.get(id),
            names=spelled.get(id, ()),
        )
        for id, _, score in hits
        if id in owners
    ]


def _above(ranking: Ranking, least: float | None, *, channel: str) -> Ranking:
    """Return a ranking without chunks below the least cosine; how sure the answer is, all of them tell."""
    if least is None or channel != "vector":
        return ranking
    kept = tuple(hit for hit in ranking.hits if hit.score >= least)
    return Ranking(hits=kept, mean=ranking.mean, deviation=ranking.deviation, count=ranking.count)


def _rejection(evidence: Sequence[Evidence], verdict: Verdict) -> Rejected | None:
    if not evidence or verdict.kept:
        return None
    return Rejected(citation=evidence[0].citation, score=evidence[0].score, reason=verdict.reason)


def _degraded(query: Query, found: Found) -> str:
    """Return what was not to be had, and what was searched without it; nothing when all was there."""
    if not query.degraded or query.vector is not None:
        return query.degraded or found.walked.found.degraded
    is_walked = found.relations is not None and not found.walked.skipped
    searched = "keywords and the graph were" if is_walked else "keywords were"
    return f"only {searched} searched: {query.degraded}"


def _notes(query: Query, found: Found) -> Iterator[str]:
    verdict, skipped = found.verdict, found.walked.skipped
    if not query.terms:
        yield "there is nothing to search for: the question has no letter, digit or symbol we index"
    elif verdict.reason and verdict.status != "ok":
        yield f"{verdict.reason}: {skipped}" if skipped and set(found.rankings) <= {"graph"} else verdict.reason
