"""What the confidence of an answer is made from: the calibration in force, and the rankings that may be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.models.base import Embedder
from weft.rank.gate import shipped
from weft.records import Calibration, Query, Ranking
from weft.store.base import Store
from weft.text.normalise import is_unspaced


def find_calibration(text: str, *, store: Store, embedder: Embedder | None) -> Calibration:
    """Return the calibration for a question: the one fitted to the namespace, else the embedder's own."""
    return for_script(text, store.calibration() or shipped(embedder.card if embedder else None))


def least_cosine(text: str, *, store: Store, embedder: Embedder) -> float:
    """Return the cosine from which something is more likely meant than not, by the calibration for a question."""
    return find_calibration(text, store=store, embedder=embedder).cosine.middle


def for_script(text: str, calibration: Calibration) -> Calibration:
    """Return the calibration in which `words` fits the script of a question."""
    return replace(calibration, words=calibration.pairs) if is_unspaced(text) else calibration


def judged(query: Query, rankings: Mapping[str, Ranking], *, embedder: Embedder | None) -> dict[str, Ranking]:
    """Return the rankings without cosines that say nothing: of a script the embedder does not know, or of no model."""
    trusted = embedder is not None and query.vector_weight > 0 and not embedder.card.degraded
    return {channel: ranking for channel, ranking in rankings.items() if channel != "vector" or trusted}
