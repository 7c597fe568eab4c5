"""The result of a search: evidence with citations, status, confidence, notes and timings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from weft.choices import GRAPH
from weft.records import ChannelHit, Evidence, Filter, Hit, Ranking, Rejected, Result, Status
from weft.search.chunks import Chunks
from weft.search.cite import cite, find_hidden_prefix
from weft.search.conversations import show_answers
from weft.search.draft import Draft
from weft.search.graph.channel import Explain
from weft.search.graph.connected import explain_hits
from weft.search.rerank import Opinion, mark_reranked
from weft.search.search_context import SearchContext
from weft.store.base import StoreReader

EMPTY = "namespace {!r} is empty: nothing has been indexed"
FILTERED = "no document passes the filter"
NO_TERMS = "nothing to search for: the question has no letter, digit or indexed symbol"


def build_result(draft: Draft, search: SearchContext, *, opinion: Opinion | None = None) -> Result:
    """Return the result: the texts of the selected hits, and the reasons for their ranks."""
    store, query, plan, verdict, walked = search.store, draft.query, draft.plan, draft.verdict, draft.walked
    with search.stopwatch.stage("read"):
        found = read_evidence(
            [*draft.evidence, *draft.connected],
            draft.rankings,
            store=store,
            explain=explain_hits(walked, draft.neighbours),
            rare_names=draft.rare_names,
            chunks=search.chunks,
        )
        linked = {hit.chunk_id for hit in draft.connected}
        evidence = mark_reranked([piece for piece in found if piece.chunk.id not in linked], draft, opinion)
        connected = tuple(piece for piece in found if piece.chunk.id in linked)
        rejected = _read_rejected(draft, search) if query.terms else None
        evidence = show_answers(evidence, search)
    degraded = _degraded(draft)
    status: Status = "degraded" if degraded and verdict.status != "no_match" else verdict.status
    is_empty = not verdict.kept and not store.find_documents(Filter(), limit=1)
    notes = (*plan.notes, *query.notes, *_notes(draft, search, opinion=opinion))
    return Result(
        query=query.question.text,
        method=plan.method,
        reason=plan.reason,
        status=status,
        confidence=verdict.confidence,
        evidence=tuple(evidence),
        connected=connected,
        rejected=rejected,
        notes=(EMPTY.format(store.namespace),) if is_empty else notes,
        degraded="" if is_empty else degraded,
        dropped=draft.dropped,
        graph=walked.context([*evidence, *connected], relations=draft.relations) if draft.relations else None,
        counts={channel: len(ranking.hits) for channel, ranking in draft.rankings.items()},
        timings=search.stopwatch.spent,
        choice=plan.choice,
        rerank=opinion.about if opinion else None,
    )


def read_evidence(
    hits: Sequence[Hit],
    rankings: Mapping[str, Ranking],
    *,
    store: StoreReader,
    explain: Explain = lambda citations: {},
    rare_names: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    chunks: Chunks | None = None,
) -> list[Evidence]:
    """Return the hits with text, citation, the rank and score of each channel, and the path through the graph."""
    wanted = {hit.chunk_id for hit in hits}
    found = {
        channel: {id: ChannelHit(rank, score) for id, rank, score in ranking.hits if id in wanted}  # hot loop
        for channel, ranking in rankings.items()
    }
    known = chunks or Chunks(store)
    texts = known.read([hit.chunk_id for hit in hits])
    documents = known.documents(texts.values())
    owners = {id: documents[chunk.document_id] for id, chunk in texts.items()}
    hidden = find_hidden_prefix(store, [document.source for document in owners.values()])
    citations = {id: cite(document, texts[id], hidden=hidden) for id, document in owners.items()}
    sources = explain(citations) if GRAPH in found else {}
    return [
        Evidence(
            chunk=texts[hit.chunk_id],
            document=owners[hit.chunk_id],
            score=hit.score,
            channels={name: by_id[hit.chunk_id] for name, by_id in found.items() if hit.chunk_id in by_id},
            citation=citations[hit.chunk_id],
            graph=sources.get(hit.chunk_id),
            names=rare_names.get(hit.chunk_id, ()),
        )
        for hit in hits
        if hit.chunk_id in owners
    ]


def _read_rejected(draft: Draft, search: SearchContext) -> Rejected | None:
    """Return the best rejected chunk if nothing was kept."""
    verdict = draft.verdict
    if verdict.kept:
        return None
    evidence = read_evidence(verdict.rejected[:1], draft.rankings, store=search.store, chunks=search.chunks)
    if not evidence:
        return None
    return Rejected(citation=evidence[0].citation, score=evidence[0].score, reason=verdict.reason)


def _degraded(draft: Draft) -> str:
    """Return a note about an unavailable model and the channels that were searched; empty if none was unavailable."""
    query = draft.query
    if not query.degraded or query.vector is not None:
        return query.degraded or draft.walked.found.degraded
    is_walked = draft.relations is not None and not draft.walked.skipped
    searched = "keywords and the graph were" if is_walked else "keywords were"
    return f"only {searched} searched: {query.degraded}"


def _notes(draft: Draft, search: SearchContext, *, opinion: Opinion | None) -> Iterator[str]:
    where, verdict, skipped = search.where, draft.verdict, draft.walked.skipped
    if where and not verdict.kept and not search.store.find_documents(where, limit=1):
        yield FILTERED
        return
    if not draft.query.terms:
        yield NO_TERMS
    elif verdict.reason and verdict.status != "ok":
        is_graph_alone = skipped and set(draft.rankings) <= {GRAPH}
        yield f"{verdict.reason}: {skipped}" if is_graph_alone else verdict.reason
    yield from opinion.notes if opinion else ()
