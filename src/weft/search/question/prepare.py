"""From a question as typed to what the channels need."""

from __future__ import annotations

import logging

from weft.errors import ModelError
from weft.models.base import Embedder
from weft.records import ModelCard, Query
from weft.text.analyzer import query_terms
from weft.text.normalise import scripts, squeeze

logger = logging.getLogger(__name__)

MAX_TERMS = 512
"""Terms looked up for one question; a pasted book is cut here, and the result says so."""

FOREIGN = 0.5
"""Share of letters outside the embedder's scripts from which its cosines are not trusted."""


def prepare(text: str, *, embedder: Embedder | None, wants_vector: bool, wants_keyword: bool) -> Query:
    """Analyse and embed a question. An embedder that fails is a reason in the result, not an error."""
    text = squeeze(text)
    terms = query_terms(text)
    notes = []
    if len(terms) > MAX_TERMS:
        notes.append(f"the question has {len(terms)} different terms; the first {MAX_TERMS} were looked up")
    vector, weight, degraded = None, 1.0, ""
    if wants_vector and terms:
        if embedder is None:
            degraded = "there is no embedder"
        else:
            weight, note = trust(text, card=embedder.card)
            notes += [note] if note else []
            degraded = embedder.card.degraded
        # a channel of weight 0 is worth embedding for only if it is the only one asked for
        if embedder is not None and (weight or not wants_keyword):
            try:
                vector = embedder.embed([text], kind="query")[0]
            except ModelError as error:
                logger.warning("embedding the question failed: %s", error)
                degraded = f"embedding failed: {error}"
    return Query(
        text=text,
        terms=tuple(terms[:MAX_TERMS]),
        vector=vector,
        vector_weight=weight if vector is not None else 0.0,
        notes=tuple(notes),
        degraded=degraded,
    )


def trust(text: str, *, card: ModelCard) -> tuple[float, str]:
    """Return the embedder's own weight where it knows the scripts of `text`, else 0 and a note that says so."""
    if "*" in card.scripts:
        return card.weight, ""
    foreign = {name: share for name, share in scripts(text).items() if name not in card.scripts}
    if sum(foreign.values()) < FOREIGN:
        return card.weight, ""
    names = ", ".join(sorted(foreign, key=lambda name: -foreign[name]))
    return 0.0, f"{card.name} was not trained on {names} text, so the vector channel has weight 0"
