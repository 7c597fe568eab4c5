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
    Return facts as sections by subject: the user first, then other subjects in order of appearance.

    The text has at most `budget` tokens by `count`. If not all facts fit, the last ones are omitted, and the last line
    gives their number.
    """
    ordered = _by_subject(facts)

    def text(number: int) -> str:
        return _write(ordered[:number], omitted=len(ordered) - number)

    shown = largest_fitting(len(ordered), fits=lambda number: count(text(number)) <= budget)
    made = text(shown) if shown else ""
    sources = tuple({"type": "fact", "id": piece.fact.id, "name": piece.fact.subject_name} for piece in ordered[:shown])
    return Context(text=made, tokens=count(made), sources=sources, omitted=len(ordered) - shown)


def _by_subject(facts: Sequence[Recalled]) -> list[Recalled]:
    places: dict[str, int] = {USER: -1}
    for place, piece in enumerate(facts):
        places.setdefault(piece.fact.subject, place)
    return sorted(facts, key=lambda piece: places[piece.fact.subject])


def _write(facts: Sequence[Recalled], *, omitted: int) -> str:
    sections: dict[str, list[str]] = {}
    for piece in facts:
        fact = piece.fact
        head = "### 👤 USER CONTEXT" if fact.subject == USER else f"### 💡 CONTEXT: {flat(fact.subject_name)}"
        sections.setdefault(fact.subject, [head]).append(f"- {flat(fact.predicate)}: {flat(fact.value)}")
    parts = ["\n".join(lines) for lines in sections.values()]
    return "\n\n".join([*parts, *([f"[omitted {omitted}]"] if omitted else [])]) + "\n"
