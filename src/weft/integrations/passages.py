"""Cited passages that answer a question, for the retrievers of other libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.config.read import changed
from weft.context.serialise import evidence_to_dict
from weft.engine.async_engine import AsyncEngine
from weft.engine.engine import Engine
from weft.engine.input_checks import check_filter
from weft.errors import ConfigError, InputError, WeftError
from weft.records import Evidence, Filter, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk that answers a question, with metadata for other libraries."""

    id: str
    document_id: str
    text: str
    score: float
    metadata: Mapping[str, Any]
    """JSON values: position, channels, confidence and others. docs/integrations.md lists the fields."""


def check_options(engine: Engine, options: Mapping[str, Any]) -> None:
    """Raise `ConfigError` or `InputError` if `Engine.query` would refuse these options."""
    if not isinstance(engine, Engine):
        raise ConfigError(f"invalid engine of type {type(engine).__name__}", hint="pass the result of open_engine")
    if options.get("where") is not None:
        check_filter(options["where"])
    fields = {name: value for name, value in options.items() if name not in ("where", "rerank")}
    changed("search", engine.settings.search, fields)


def find_passages(engine: Engine, question: str, *, where: Filter | None = None, **options: Any) -> list[Passage]:
    """
    Return the passages that answer a question, best first, then connected ones; none if nothing relevant is stored.

    `options` override fields of `[search]` for this call. At most `top_k` passages answer, and at most
    `graph.max_chunks` are connected; those have `neighbour_of` in their metadata.
    """
    result = engine.query(_read_question(question), where=where, **options)
    return _to_passages(result)


async def find_passages_async(
    engine: Engine, question: str, *, where: Filter | None = None, **options: Any
) -> list[Passage]:
    """Return the result of `find_passages`, run in a thread."""
    result = await AsyncEngine(engine).query(_read_question(question), where=where, **options)
    return _to_passages(result)


def answer_to_text(values: Mapping[str, Any]) -> str:
    """Return an answer of `memory_search` as text for a model: status and confidence, then the context."""
    status = f"status: {values['status']}, confidence: {values['confidence']:.2f}"
    return "\n\n".join(filter(None, ["; ".join([status, *values["notes"]]), values["context"]]))


def error_to_text(error: WeftError) -> str:
    """Return an error as text for a model: the problem, then the hint."""
    return "; ".join(filter(None, [f"error: {error}", error.hint]))


def _read_question(question: Any) -> str:
    if not isinstance(question, str) or not question.strip():
        shown = repr(question)[:80]
        raise InputError(f"invalid question: {shown}", hint="pass a non-empty string")
    return question


def _to_passages(result: Result) -> list[Passage]:
    pieces = (*result.evidence, *result.connected)
    return [_to_passage(result, piece, rank) for rank, piece in enumerate(pieces, start=1)]


def _to_passage(result: Result, piece: Evidence, rank: int) -> Passage:
    found = evidence_to_dict(piece, rank)
    graph = {name: value for name, value in found["source"].items() if name not in ("type", "origin")}
    metadata = {
        "citation": piece.citation,
        "source": piece.document.source,
        "title": piece.document.title,
        "heading": found["chunk"]["heading"],
        "start_line": piece.chunk.start_line,
        "end_line": piece.chunk.end_line,
        "chunk_id": piece.chunk.id,
        "document_id": piece.document.id,
        "document": found["document"]["metadata"],
        "rank": rank,
        "score": found["score"],
        "channels": found["channels"],
        "graph": graph or None,
        "names": found["names"],
        "neighbour_of": piece.graph.start if piece.graph and piece in result.connected else None,
        "method": result.method,
        "status": result.status,
        "confidence": round(result.confidence, 4),
        "degraded": result.degraded or None,
        "notes": list(result.notes),
    }
    return Passage(
        id=piece.chunk.id,
        document_id=piece.document.id,
        text=piece.chunk.text,
        score=piece.score,
        metadata=metadata,
    )
