"""Report of chunks, names and entities without a vector of the active embedder."""

from __future__ import annotations

from weft.records import Problem
from weft.text.plurals import counted

MAX_COUNTED = 1_000_000
"""Limit for counting rows without a vector."""

COMMAND = "weft reembed"


def report_missing_vectors(where: str, model: str, *, chunks: int, names: int, facts: int) -> list[Problem]:
    """Return a problem for each count that is not zero."""
    counts = {
        "chunk has|chunks have": chunks,
        "name of the graph has|names of the graph have": names,
        "entity of facts has|entities of facts have": facts,
    }
    return [
        Problem(where=where, what=_describe(count, words, model), repairable=False, command=COMMAND)
        for words, count in counts.items()
        if count
    ]


def _describe(count: int, words: str, model: str) -> str:
    singular, _, plural = words.partition("|")
    return f"{counted(count, singular, plural)} no vector of {model!r}"
