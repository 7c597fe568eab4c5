"""
Priority of recalled facts within a token budget: topics of the question first, then the user.

| priority | facts |
| --- | --- |
| 0 | about an entity of the question |
| 1 | naming such an entity, reached from one, sharing words with the question, or close to it |
| 2 | about the user |
| 3 | others, reached from the user |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from weft.records import Recalled
from weft.search.question.entities import USER


def set_priority(facts: Sequence[Recalled], *, topics: Collection[str], close: Collection[str] = ()) -> list[Recalled]:
    """
    Return facts in the same order with their priority.

    `topics` are the keys of the question's entities, `close` the ids of facts that are close in meaning.
    """
    reached = _reached_from(topics, facts)
    return [replace(piece, priority=_priority(piece, topics=topics, reached=reached, close=close)) for piece in facts]


def _priority(piece: Recalled, *, topics: Collection[str], reached: Collection[str], close: Collection[str]) -> int:
    fact = piece.fact
    if fact.subject in topics:
        return 0
    if fact.object in topics or fact.subject in reached or piece.match or fact.id in close:
        return 1
    return 2 if fact.subject == USER else 3


def _reached_from(topics: Collection[str], facts: Sequence[Recalled]) -> set[str]:
    """Return the other entities of facts about the topics, except the user."""
    reached: set[str] = set()
    for piece in sorted(facts, key=lambda piece: piece.hop):
        if piece.fact.object and (piece.fact.subject in topics or piece.fact.subject in reached):
            reached.add(piece.fact.object)
    return reached - {USER}
