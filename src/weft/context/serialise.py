"""Conversion of records to JSON values, for all interfaces (`docs/result.schema.json`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from weft.choices import GRAPH, VECTOR
from weft.records import (
    URLS,
    ApiKey,
    Calibration,
    Census,
    Choice,
    Chunk,
    Context,
    DocumentInfo,
    Entity,
    Evidence,
    Fact,
    FactEvent,
    FactReceipt,
    GraphContext,
    GraphSource,
    ImportReceipt,
    PathStep,
    Recall,
    Receipt,
    RelatedDocument,
    RelationAnswer,
    Remembered,
    Result,
    StoreStats,
    Timeline,
    Usage,
)

SCHEMA_VERSION = 1


def result_to_dict(result: Result) -> dict[str, Any]:
    """Return a result as JSON values. Scores are rounded to six decimals, times to a tenth of a millisecond."""
    rejected = result.rejected
    return {
        "schema_version": SCHEMA_VERSION,
        "query": result.query,
        **({"namespaces": list(result.namespaces)} if result.namespaces else {}),
        "method": result.method,
        "reason": result.reason,
        "choice": choice_to_dict(result.choice) if result.choice else None,
        "status": result.status,
        "confidence": round(result.confidence, 4),
        **({"relations": relations_to_dict(result.relations)} if result.relations else {}),
        "results": [evidence_to_dict(piece, rank) for rank, piece in enumerate(result.evidence, start=1)],
        "connected": [connected_to_dict(piece, rank) for rank, piece in enumerate(result.connected, start=1)],
        "rejected": rejected
        and {"citation": rejected.citation, "score": round(rejected.score, 6), "reason": rejected.reason},
        "notes": list(result.notes),
        "degraded": result.degraded or None,
        "dropped": dict(result.dropped),
        "graph_context": graph_to_dict(result.graph) if result.graph else None,
        "counts": dict(result.counts),
        "timings_ms": {name: round(value, 1) for name, value in result.timings.items()},
        "reranked": result.rerank is not None and not result.rerank.skipped,
        "rerank": result.rerank
        and {
            "model": result.rerank.model,
            "count": result.rerank.count,
            "skipped": result.rerank.skipped or None,
        },
    }


def relations_to_dict(answer: RelationAnswer) -> dict[str, Any]:
    """Return the answer to a question about relations as JSON values."""
    return {
        "names": list(answer.names),
        "types": list(answer.types),
        "total": answer.total,
        "offset": answer.offset,
        "note": answer.note or None,
        "passages": list(answer.passages),
        "items": [
            {
                "id": item.entity_id,
                "name": item.name,
                "type": item.type,
                "relation": item.relation,
                "weight": item.weight,
                "sentence": item.sentence,
                "citation": item.citation or None,
                "path": [step_to_dict(step) for step in item.path],
            }
            for item in answer.items
        ],
    }


def metadata_to_dict(result: Result) -> dict[str, Any]:
    """Return a result without its evidence as JSON values; `connected` is included."""
    return {name: value for name, value in result_to_dict(replace(result, evidence=())).items() if name != "results"}


def choice_to_dict(choice: Choice) -> dict[str, Any]:
    """Return the choice of a method as JSON values: the rule and all features of the question."""
    seen = choice.features
    return {
        "rule": choice.rule,
        "features": {
            "language": seen.language or None,
            "citation": seen.citation or None,
            "ids": list(seen.ids),
            "quoted": list(seen.quoted),
            "comparison": seen.comparison,
            "overview": seen.overview,
            "entities": list(seen.entities),
            "degree": seen.degree,
            "named": round(seen.named, 4),
        },
    }


def evidence_to_dict(piece: Evidence, rank: int) -> dict[str, Any]:
    """Return one piece of evidence as JSON values."""
    default = VECTOR if piece.graph is None else GRAPH
    best = min(piece.channels.items(), key=lambda item: (item[1].rank, item[0]))[0] if piece.channels else default
    return {
        "rank": rank,
        "score": round(piece.score, 6),
        "citation": piece.citation,
        "chunk": chunk_to_dict(piece.chunk),
        "document": _without_urls(document_to_dict(piece.document)),
        "source": {"type": best, **_origin(piece.graph)},
        "channels": {
            name: {"rank": hit.rank, "score": round(hit.score, 6)} for name, hit in sorted(piece.channels.items())
        },
        "names": list(piece.names),
        "rerank": piece.rerank
        and {
            "former_rank": piece.rerank.former_rank,
            "score": None if piece.rerank.score is None else round(piece.rerank.score, 6),
        },
    }


def connected_to_dict(piece: Evidence, rank: int) -> dict[str, Any]:
    """Return a passage of a stated neighbour as JSON values, with the name of the entity whose neighbour it is."""
    return {**evidence_to_dict(piece, rank), "neighbour_of": piece.graph.start if piece.graph else ""}


def _origin(graph: GraphSource | None) -> dict[str, Any]:
    if graph is None:
        return {}
    found: dict[str, Any] = {"entity": graph.entity, "hops": graph.hops}
    found["path"] = [step_to_dict(step) for step in graph.path]
    return {**found, "origin": "graph", **({"graph_expansion": graph.expansion} if graph.expansion else {})}


def step_to_dict(step: PathStep) -> dict[str, Any]:
    """Return one step of a path as JSON values. Extractors are included unless only the rules found the relation."""
    found = {"source": step.source, "type": step.type, "weight": step.weight, "target": step.target}
    return {**found, **readers_to_dict(step)}


def readers_to_dict(step: PathStep) -> dict[str, list[str]]:
    """Return the extractors of a relation; empty if only the rules found the relation."""
    return {"extractors": list(step.extractors)} if set(step.extractors) - {"rules"} else {}


def entity_to_dict(entity: Entity) -> dict[str, Any]:
    """Return an entity as JSON values."""
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "description": entity.description,
        "aliases": list(entity.aliases),
        "mentions": entity.mentions,
        "chunks": entity.chunks,
    }


def graph_to_dict(graph: GraphContext) -> dict[str, Any]:
    """Return the graph context of a result as JSON values."""
    names = {entity.id: entity.name for entity in graph.entities}
    return {
        "recognised": list(graph.recognised),
        "found_by": graph.found_by or None,
        "trust": round(graph.trust, 4),
        "skipped": graph.skipped or None,
        "entities": [entity_to_dict(entity) for entity in graph.entities],
        "relationships": [
            {
                "source": names[relation.source_id],
                "target": names[relation.target_id],
                "type": relation.type,
                "weight": relation.weight,
                "description": relation.description,
            }
            for relation in graph.relations
        ],
    }


def chunk_to_dict(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk as JSON values."""
    return {
        "id": chunk.id,
        "ordinal": chunk.ordinal,
        "heading": list(chunk.heading),
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "text": chunk.text,
    }


def _without_urls(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of an answer: it would repeat the addresses of a page with each of its chunks."""
    return {**document, "metadata": {key: value for key, value in document["metadata"].items() if key != URLS}}


def document_to_dict(document: DocumentInfo) -> dict[str, Any]:
    """Return a document as JSON values."""
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "metadata": dict(document.metadata),
        "chunks": document.chunk_count,
        **({"namespace": document.namespace} if document.namespace else {}),
        **({"lost": True} if document.is_lost else {}),
    }


def related_to_dict(found: RelatedDocument, citation: str) -> dict[str, Any]:
    """Return a related document with its reasons as JSON values."""
    return {
        "document": document_to_dict(found.document),
        "citation": citation,
        "chunk_id": found.chunk.id,
        "score": round(found.score, 6),
        "cosine": None if found.cosine is None else round(found.cosine, 4),
        "shared": list(found.shared),
        "relations": [step_to_dict(step) for step in found.relations],
    }


def context_to_dict(context: Context) -> dict[str, Any]:
    """Return a context as JSON values."""
    sources = [dict(source) for source in context.sources]
    return {"text": context.text, "tokens": context.tokens, "sources": sources, "omitted": context.omitted}


def receipt_to_dict(receipt: Receipt, *, limit: int | None = None) -> dict[str, Any]:
    """Return a receipt as JSON values. Skipped files are counted by reason; at most `limit` are listed."""
    reasons: dict[str, int] = {}
    for item in receipt.skipped:
        reasons[item.reason] = reasons.get(item.reason, 0) + 1
    return {
        "documents": receipt.documents,
        "added": receipt.added,
        "changed": receipt.changed,
        "unchanged": receipt.unchanged,
        "pruned": receipt.pruned,
        "chunks": receipt.chunks,
        "embedded": receipt.embedded,
        "cached": receipt.cached,
        "facts": receipt.facts,
        "broken_links": receipt.broken_links,
        "seconds": round(receipt.seconds, 3),
        "skipped": dict(sorted(reasons.items())),
        "skipped_files": [
            {"source": item.source, "reason": item.reason, "detail": item.detail} for item in receipt.skipped[:limit]
        ],
        "notes": list(receipt.notes),
        "llm": usage_to_dict(receipt.usage) if receipt.usage != Usage() else {},
        "embedding": embedding_to_dict(receipt.embedding),
    }


def embedding_to_dict(usage: Usage) -> dict[str, Any]:
    """Return the actual or estimated usage of a remote embedder as JSON values; empty without one."""
    if usage == Usage():
        return {}
    counted = usage_to_dict(usage)
    same = {name: counted[name] for name in ("calls", "cost", "seconds", "failures", "stopped")}
    return {**same, "tokens": usage.tokens_in, "tokens_estimated": usage.guessed > 0}


def usage_to_dict(usage: Usage) -> dict[str, Any]:
    """Return the actual or estimated usage of a language model as JSON values."""
    return {
        "calls": usage.calls,
        "cached": usage.cached,
        "cached_share": round(usage.cached / max(1, usage.calls + usage.cached), 4),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost": None if usage.unpriced else round(usage.cost, 6),
        "seconds": round(usage.seconds, 3),
        "failures": dict(sorted(usage.failures.items())),
        "stopped": usage.stopped,
    }


def import_to_dict(receipt: ImportReceipt) -> dict[str, Any]:
    """Return the receipt of an import as JSON values."""
    return {
        "name": receipt.name,
        "format": receipt.form,
        "entities": receipt.entities,
        "relations": receipt.relations,
        "documents": receipt.added + receipt.changed + receipt.unchanged,
        "added": receipt.added,
        "changed": receipt.changed,
        "unchanged": receipt.unchanged,
        "pruned": receipt.pruned,
        "annotated": receipt.annotated,
        "not_found": receipt.not_found,
        "embedded": receipt.embedded,
        "cached": receipt.cached,
        "embedding": embedding_to_dict(receipt.embedding),
        "seconds": round(receipt.seconds, 3),
        "skipped": list(receipt.skipped),
    }


def fact_receipt_to_dict(receipt: FactReceipt) -> dict[str, Any]:
    """Return the receipt of a fact import as JSON values."""
    return {**asdict(receipt), "refused": list(receipt.refused), "skipped": list(receipt.skipped)}


def stats_to_dict(stats: StoreStats) -> dict[str, Any]:
    """Return statistics as JSON values."""
    return {
        "documents": stats.documents,
        "chunks": stats.chunks,
        "terms": stats.terms,
        "vectors": stats.vectors,
        "generation": stats.generation,
        "vector_search": stats.vector_search,
        "keyword_search": stats.keyword_search,
        "entity_search": stats.entity_search,
        "models": [
            {"name": m.name, "fingerprint": m.fingerprint, "dimension": m.dimension, "active": m.active}
            for m in stats.models
        ],
    }


def census_to_dict(census: Census, top: Sequence[Entity]) -> dict[str, Any]:
    """Return the contents of the graph as JSON values: counts by type, and the most mentioned entities."""
    return {
        "papers": census.entities.get("paper", 0),
        "projects": census.entities.get("project", 0),
        "concepts": census.entities.get("concept", 0),
        "citations": census.relations.get("cites", 0),
        "entity_types": dict(census.entities),
        "relation_types": dict(census.relations),
        "types_are_estimated": census.is_estimated,
        "top_entities": [{"name": e.name, "type": e.type, "chunks": e.chunks} for e in top],
    }


def fact_to_dict(fact: Fact) -> dict[str, Any]:
    """Return a fact as JSON values. The key of its value is `object` for an entity, `value` for a literal."""
    return {
        "id": fact.id,
        "subject": fact.subject_name,
        "predicate": fact.predicate,
        "object" if fact.object else "value": fact.value,
        "confidence": round(fact.confidence, 6),
        "source": fact.source,
        "status": fact.status,
        "created": fact.created.isoformat(),
        "valid_from": _time(fact.valid_from),
        "valid_to": _time(fact.valid_to),
        "last_accessed": _time(fact.last_accessed),
        "access_count": fact.access_count,
        "supersedes": fact.supersedes or None,
        "note": fact.note,
        "spelling": fact.spelling or None,
    }


def event_to_dict(event: FactEvent) -> dict[str, Any]:
    """Return one event of a fact as JSON values."""
    return {
        "at": event.at.isoformat(),
        "action": event.action,
        "detail": event.detail or None,
        "other": event.other or None,
    }


def remembered_to_dict(done: Remembered) -> dict[str, Any]:
    """Return the outcome of a stated fact as JSON values."""
    return {
        "outcome": done.outcome,
        "reason": done.reason or None,
        "fact": fact_to_dict(done.fact) if done.fact else None,
        "contradicts": [fact.id for fact in done.contradicts],
    }


def recall_to_dict(recall: Recall, context: Context) -> dict[str, Any]:
    """Return recalled facts, their scores and the context text as JSON values."""
    return {"query": recall.text, **facts_to_dict(recall), "context": context_to_dict(context)}


def facts_to_dict(recall: Recall) -> dict[str, Any]:
    """Return a recall as JSON values: status, anchors, and facts with scores and factors."""
    return {
        "status": recall.status,
        "degraded": recall.degraded or None,
        "at": recall.at.isoformat(),
        "cached": recall.cached,
        "anchors": [{"name": anchor.entity.name, "how": anchor.how} for anchor in recall.anchors],
        "facts": [
            {
                **fact_to_dict(piece.fact),
                "hop": piece.hop,
                "path": [f"{fact.subject_name} {fact.predicate} {fact.value}" for fact in piece.path],
                "match": round(piece.match, 6),
                "score": round(piece.score, 6),
                "factors": {name: round(value, 6) for name, value in piece.factors.items()},
            }
            for piece in recall.facts
        ],
    }


def timeline_to_dict(timeline: Timeline) -> dict[str, Any]:
    """Return a timeline as JSON values."""
    return {
        "days": [
            {
                "day": day.day.isoformat(),
                "entries": [{**asdict(entry), "time": _time(entry.time)} for entry in day.entries],
            }
            for day in timeline.days
        ],
        "truncated": timeline.is_truncated,
    }


def key_to_dict(key: ApiKey) -> dict[str, Any]:
    """Return an API key as JSON values, without its hash."""
    return {
        "id": key.id,
        "name": key.name,
        "namespaces": list(key.namespaces),
        "access": key.access,
        "created": key.created.isoformat(),
        "revoked": _time(key.revoked),
    }


def confidence_to_dict(calibration: Calibration | None) -> dict[str, Any]:
    """Return a calibration as JSON values; None stands for the embedder's shipped calibration."""
    return asdict(calibration) if calibration else {"origin": "shipped"}


def _time(time: datetime | None) -> str | None:
    return time.isoformat() if time else None
