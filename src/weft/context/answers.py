"""Answers as JSON values."""

from __future__ import annotations

from typing import Any

from weft.context.serialise import result_to_dict
from weft.records import Answer, WrittenSentence


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Return an answer with its result as JSON values."""
    return {
        **answer_head(answer),
        "sentences": [sentence_to_dict(sentence) for sentence in answer.sentences],
        "note": answer.note or None,
        "result": result_to_dict(answer.result),
    }


def answer_head(answer: Answer) -> dict[str, Any]:
    """Return what is known before a language model is called, as JSON values."""
    quote = answer.quote
    return {
        "query": answer.result.query,
        "status": answer.result.status,
        "confidence": round(answer.result.confidence, 4),
        "quote": quote and {"text": quote.text, "citation": quote.citation, "chunk_id": quote.chunk_id},
        "model": answer.model or None,
    }


def sentence_to_dict(sentence: WrittenSentence) -> dict[str, Any]:
    """Return a written sentence as JSON values."""
    return {"text": sentence.text, "citations": list(sentence.citations), "supported": sentence.is_supported}
