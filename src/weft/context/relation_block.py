"""Answer to a question about relations as text for a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.context.budget import largest_fitting
from weft.context.build import flat
from weft.records import Context, RelatedThing, RelationAnswer

SHARE = 2
"""The block gets at most 1/2 of the budget."""


def add_relations(
    answer: RelationAnswer | None, *, rest: Callable[[int], Context], count: Callable[[str], int], budget: int
) -> Context:
    """
    Return the related things, each with the sentence that states it and its citation, and then `rest`.

    `rest` returns the passages within a number of tokens. Things that do not fit are counted as omitted.
    """
    items = answer.items if answer is not None else ()
    if answer is None or not items:
        return rest(budget)

    def text(shown: int) -> str:
        head = f"## Related Things: {shown} of {answer.total}, {flat(' and '.join(answer.names))}"
        return "\n".join([head, "", *map(_line, items[:shown])]) + "\n\n"

    shown = largest_fitting(len(items), fits=lambda number: count(text(number)) <= budget // SHARE)
    if not shown:
        return rest(budget)
    block = text(shown)
    found = rest(budget - count(block))
    sources = tuple(
        {"type": "chunk", "id": item.chunk_id, "name": flat(item.name), "citation": item.citation}
        for item in items[:shown]
        if item.citation
    )
    whole = block + found.text
    return replace(found, text=whole, tokens=count(whole), sources=(*sources, *found.sources))


def _line(item: RelatedThing) -> str:
    chain = [item.path[0].source, *(f"{step.type.replace('_', ' ')} {step.target}" for step in item.path)]
    path = " → ".join(map(flat, chain))
    source = f" Source: {flat(item.citation)}" if item.citation else ""
    return f'- {path}: "{flat(item.sentence)}"{source}'
