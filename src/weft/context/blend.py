"""Facts and evidence in one text for a model: the narrative first, both inside one token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.context.build import SEPARATOR
from weft.context.narrative import build_narrative
from weft.records import Context, Recalled

SHARE = 2
"""The narrative may take one part in so many of the budget, and whatever the rest does not need."""


def build_blend(
    facts: Sequence[Recalled], *, rest: Callable[[int], Context], count: Callable[[str], int], budget: int
) -> Context:
    """
    Return the narrative of facts and, behind it, what `rest` makes of the tokens it is given.

    Never more than `budget` tokens by `count`. The last line says how many facts and pieces of the rest were left out.
    """
    whole = rest(budget)
    if not facts:
        return whole
    between = count(SEPARATOR) if whole.text else 0
    told = build_narrative(facts, count=count, budget=max(budget // SHARE, budget - whole.tokens - between))
    while True:
        made = _append(told, rest=rest, count=count, budget=budget)
        if made is not None:
            return made
        if not told.text:
            return Context(text="", tokens=count(""), sources=(), omitted=len(facts) + rest(0).omitted)
        told = build_narrative(facts, count=count, budget=told.tokens - 1)


def _append(
    told: Context, *, rest: Callable[[int], Context], count: Callable[[str], int], budget: int
) -> Context | None:
    """Return the narrative with as much of the rest behind it as fits, or None where it does not fit itself."""
    room = budget - told.tokens
    while True:
        more = rest(max(0, room))
        omitted = told.omitted + more.omitted
        parts = [part for part in (_without_omission(told), _without_omission(more)) if part]
        text = SEPARATOR.join([*parts, *([f"[omitted {omitted}]\n"] if omitted else [])])
        tokens = count(text)
        if tokens <= budget:
            return Context(text=text, tokens=tokens, sources=(*told.sources, *more.sources), omitted=omitted)
        if room <= 0:
            return None
        room -= max(1, tokens - budget)


def _without_omission(context: Context) -> str:
    """Return the text of a context without the last line that says what was left out."""
    if not context.omitted:
        return context.text
    text = context.text.removesuffix(f"[omitted {context.omitted}]\n").removesuffix(SEPARATOR).rstrip("\n")
    return f"{text}\n" if text else ""
