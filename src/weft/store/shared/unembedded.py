"""Report of chunks, names and entities without a vector of the active embedder."""

from __future__ import annotations

from weft.records import Problem
from weft.store.base import StoreReader

MAX_COUNTED = 1_000_000
"""Limit for counting rows without a vector."""

COMMAND = "weft reembed"


def find_missing_vectors(store: StoreReader) -> list[Problem]:
    """Return a problem for each kind of row without a vector of the active embedder; empty without an embedder."""
    active = next((model for model in store.models() if model.active), None)
    if active is None:
        return []
    return report_missing_vectors(
        f"namespace {store.namespace!r}",
        active.name,
        chunks=len(store.find_unembedded(active.fingerprint, limit=MAX_COUNTED)),
        names=len(store.graph.find_unembedded(active.fingerprint, limit=MAX_COUNTED)),
        facts=len(store.facts.find_unembedded(active.fingerprint, limit=MAX_COUNTED)),
    )


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
    return f"{count:,} {singular if count == 1 else plural} no vector of {model!r}"
