"""Context format `narrative`: facts by subject, within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.context.budget import largest_fitting
from weft.context.build import flat
from weft.records import Context, Recalled

USER = "user"
"""Key of the user's entity."""


def build_narrative(facts: Sequence[Recalled], *, count: Callable[[str], int], budget: int) -> Context:
    """
    Return facts as sections by subject: entities of the question first, the user after them.

    A question about the user has the user first. The text has at most `budget` tokens by `count`. If not all facts fit,
    those of the lowest priority are omitted, and the last line gives their number.
    """
    ordered = _by_priority(facts)

    def text(number: int) -> str:
        return _write(ordered[:number], omitted=len(ordered) - number)

    shown = largest_fitting(len(ordered), fits=lambda number: count(text(number)) <= budget)
    made = text(shown) if shown else ""
    written = [piece.fact for section in _sections(ordered[:shown]) for piece in section]
    sources = tuple({"type": "fact", "id": fact.id, "name": fact.subject_name} for fact in written)
    return Context(text=made, tokens=count(made), sources=sources, omitted=len(ordered) - shown)


def _by_priority(facts: Sequence[Recalled]) -> list[Recalled]:
    places: dict[str, int] = {}
    for place, piece in enumerate(facts):
        places.setdefault(piece.fact.subject, place)

    def order(piece: Recalled) -> tuple[int, bool, int]:
        is_user = piece.fact.subject == USER
        return piece.priority, is_user if piece.priority else not is_user, places[piece.fact.subject]

    return sorted(facts, key=order)


def _sections(facts: Sequence[Recalled]) -> list[list[Recalled]]:
    """Return facts grouped by subject, in the order of each subject's first fact."""
    sections: dict[str, list[Recalled]] = {}
    for piece in facts:
        sections.setdefault(piece.fact.subject, []).append(piece)
    return list(sections.values())


def _write(facts: Sequence[Recalled], *, omitted: int) -> str:
    parts = []
    for section in _sections(facts):
        first = section[0].fact
        head = "### 👤 USER CONTEXT" if first.subject == USER else f"### 💡 CONTEXT: {flat(first.subject_name)}"
        lines = [f"- {flat(piece.fact.predicate)}: {flat(piece.fact.value)}" for piece in section]
        parts.append("\n".join([head, *lines]))
    return "\n\n".join([*parts, *([f"[omitted {omitted}]"] if omitted else [])]) + "\n"
