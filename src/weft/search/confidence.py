"""What the confidence of an answer is made from: the calibration in force, and the rankings that may be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.models.base import Embedder
from weft.rank.fuse import coverage
from weft.rank.gate import shipped
from weft.records import Calibration, Query, Ranking
from weft.store.base import Store
from weft.text.normalise import is_unspaced, scripts

SHARED = 0.5
"""Share of letters in common scripts below which a question and a text cannot have words in common."""


def find_calibration(text: str, *, store: Store, embedder: Embedder | None) -> Calibration:
    """Return the calibration for a question: the one fitted to the namespace, else the embedder's own."""
    return for_script(text, store.calibration() or shipped(embedder.card if embedder else None))


def least_cosine(text: str, *, store: Store, embedder: Embedder) -> float:
    """Return the cosine from which something is more likely meant than not, by the calibration for a question."""
    return find_calibration(text, store=store, embedder=embedder).cosine.middle


def for_script(text: str, calibration: Calibration) -> Calibration:
    """Return the calibration in which `words` fits the script of a question."""
    return replace(calibration, words=calibration.pairs) if is_unspaced(text) else calibration


def judged(
    query: Query, rankings: Mapping[str, Ranking], *, store: Store, embedder: Embedder | None
) -> dict[str, Ranking]:
    """
    Return the rankings without what says nothing.

    Cosines say nothing of a script the embedder does not know, or of no model; missing words say nothing where the
    closest text is in another script than the question, for there they cannot match.
    """
    trusted = embedder is not None and query.vector_weight > 0 and not embedder.card.degraded
    seen = {channel: ranking for channel, ranking in rankings.items() if channel != "vector" or trusted}
    vector, keyword = seen.get("vector"), seen.get("keyword")
    if vector and vector.hits and keyword and coverage(keyword) < 1 and _is_elsewhere(query.text, vector, store):
        del seen["keyword"]
    return seen


def _is_elsewhere(text: str, vector: Ranking, store: Store) -> bool:
    """Tell whether the chunk closest in meaning shares less than half of its letters' scripts with the question."""
    asked = scripts(text)
    found = [scripts(chunk.text) for chunk in store.chunks([vector.hits[0].chunk_id])]
    if not asked or not found or not found[0]:
        return False
    return sum(min(share, found[0].get(name, 0.0)) for name, share in asked.items()) < SHARED
