"""Embedding of the question; the reason if there is no vector."""

from __future__ import annotations

import logging

from weft.errors import ModelError
from weft.models.base import Embedder
from weft.records import Query, Question
from weft.search.question.read import MAX_TERMS
from weft.search.writing_systems import embedder_weight

logger = logging.getLogger(__name__)


def embed_question(question: Question, *, embedder: Embedder | None, wants_vector: bool, wants_keyword: bool) -> Query:
    """Return the query for the channels. If the embedder fails, the result contains the reason; no error is raised."""
    notes = []
    if len(question.terms) > MAX_TERMS:
        notes.append(f"the question has {len(question.terms)} different terms; the first {MAX_TERMS} were looked up")
    vector, weight, degraded = None, 1.0, ""
    if wants_vector and question.terms:
        if embedder is None:
            degraded = "no embedder"
        else:
            weight, note = embedder_weight(question.scripts, card=embedder.card)
            notes += [note] if note else []
            degraded = embedder.card.degraded
        # A channel of weight 0 needs a vector only if no other channel is searched.
        if embedder is not None and (weight or not wants_keyword):
            try:
                vector = embedder.embed([question.text], kind="query")[0]
            except ModelError as error:
                logger.warning("embedding the question failed: %s", error)
                degraded = f"embedding failed: {error}"
    return Query(
        question=question,
        terms=question.terms[:MAX_TERMS],
        vector=vector,
        vector_weight=weight if vector is not None else 0.0,
        notes=tuple(notes),
        degraded=degraded,
    )
