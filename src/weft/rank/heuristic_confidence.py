"""Uncalibrated confidence by a fixed formula, and the decision to expand with the graph."""

from __future__ import annotations

GRAPH_OFF = 0.5
"""Heuristic confidence if the graph is disabled."""


def heuristic_confidence(query: str, *, has_entities: bool, top_vector_score: float | None) -> float:
    """
    Return the heuristic confidence of a question, 0 to 1.

    `0.3·min(len(query)/100, 1) + 0.3·(1 if entities else 0.5) + 0.4·top`, where top is the best cosine, or 0 if it is
    negative or missing.
    """
    specific = min(len(query) / 100, 1)
    recognised = 1.0 if has_entities else 0.5
    top = min(max(top_vector_score or 0.0, 0.0), 1.0)
    return 0.3 * specific + 0.3 * recognised + 0.4 * top


def should_expand(
    confidence: float, *, has_entities: bool, enabled: bool, min_confidence: float = 0.5
) -> tuple[bool, str]:
    """Return (True, "") to expand with the graph, or (False, reason)."""
    if not enabled:
        return False, "graph expansion is switched off"
    if not has_entities:
        return False, "no entity of the graph was recognised in the question"
    if confidence < min_confidence:
        return False, f"confidence {confidence:g} is below min_confidence {min_confidence:g}"
    return True, ""
