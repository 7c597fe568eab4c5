"""What the confidence of an answer is made from: the calibration in force, and the rankings that may be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.models.base import Embedder
from weft.rank.fuse import coverage
from weft.rank.gate import shipped_calibration
from weft.records import Calibration, Query, Ranking
from weft.search.question.content_terms import telling_terms
from weft.search.question.prepare import trust
from weft.store.base import Store
from weft.text.normalise import is_unspaced, scripts

SHARED = 0.5
"""Share of letters in common scripts below which a question and a text cannot have words in common."""


def find_calibration(text: str, *, store: Store, embedder: Embedder | None) -> Calibration:
    """Return the calibration for a question: the one fitted to the namespace, else the embedder's own."""
    return for_script(text, store.calibration() or shipped_calibration(embedder.card if embedder else None))


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
    closest text is in another script than the question, and one the embedder knows, for there they cannot match. Of a
    question of small words alone neither says anything.
    """
    if not telling_terms(query.terms):
        return {channel: ranking for channel, ranking in rankings.items() if channel == "graph"}
    if embedder is None or query.vector_weight == 0 or embedder.card.degraded:
        return {channel: ranking for channel, ranking in rankings.items() if channel != "vector"}
    vector, keyword = rankings.get("vector"), rankings.get("keyword")
    silent = False
    if vector and vector.hits and keyword and coverage(keyword) < 1:
        closest = store.chunks([vector.hits[0].chunk_id])
        silent = any(trust(chunk.text, card=embedder.card)[0] and _differ(query.text, chunk.text) for chunk in closest)
    return {channel: ranking for channel, ranking in rankings.items() if channel != "keyword" or not silent}


def _differ(question: str, text: str) -> bool:
    """Tell whether a question shares less than half of its letters' scripts with a text."""
    asked, found = scripts(question), scripts(text)
    return bool(asked and found) and sum(min(share, found.get(name, 0.0)) for name, share in asked.items()) < SHARED
