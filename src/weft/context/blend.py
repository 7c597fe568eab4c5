"""Context with facts before the evidence, within one token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.context.budget import FACT_DIVISOR, SEPARATOR, join_parts, without_omission
from weft.context.narrative import build_narrative
from weft.records import Context, Recalled


def build_blend(
    facts: Sequence[Recalled], *, rest: Callable[[int], Context], count: Callable[[str], int], budget: int
) -> Context:
    """
    Return the narrative of the facts, followed by the text that `rest` returns for the remaining tokens.

    The result has at most `budget` tokens by `count`. The last line gives the number of omitted facts and pieces of
    evidence.
    """
    whole = rest(budget)
    if not facts:
        return whole
    between = count(SEPARATOR) if whole.text else 0
    narrative = build_narrative(facts, count=count, budget=max(budget // FACT_DIVISOR, budget - whole.tokens - between))
    while True:
        joined = _append(narrative, rest=rest, count=count, budget=budget)
        if joined is not None:
            return joined
        if not narrative.text:
            return Context(text="", tokens=count(""), sources=(), omitted=len(facts) + rest(0).omitted)
        narrative = build_narrative(facts, count=count, budget=narrative.tokens - 1)


def _append(
    narrative: Context, *, rest: Callable[[int], Context], count: Callable[[str], int], budget: int
) -> Context | None:
    """Return the narrative and the part of the rest that fits; None if the narrative alone does not fit."""
    remaining = budget - narrative.tokens
    while True:
        more = rest(max(0, remaining))
        omitted = narrative.omitted + more.omitted
        parts = [part for part in (without_omission(narrative), without_omission(more)) if part]
        text = join_parts(parts, omitted=omitted)
        tokens = count(text)
        if tokens <= budget:
            return Context(text=text, tokens=tokens, sources=(*narrative.sources, *more.sources), omitted=omitted)
        if remaining <= 0:
            return None
        remaining -= max(1, tokens - budget)
