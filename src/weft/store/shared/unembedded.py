"""What a namespace has no vector of, said alike by every store."""

from __future__ import annotations

from weft.records import Problem
from weft.store.base import Store

ALL = 1_000_000
"""How many are counted at most."""

COMMAND = "weft reembed"


def find_missing(store: Store) -> list[Problem]:
    """Return what lacks vectors of the model that answers, asked of the store; nothing where no model does."""
    active = next((model for model in store.models() if model.active), None)
    if active is None:
        return []
    return missing_vectors(
        f"namespace {store.namespace!r}",
        active.name,
        chunks=len(store.find_unembedded(active.fingerprint, limit=ALL)),
        names=len(store.graph.find_unembedded(active.fingerprint, limit=ALL)),
        facts=len(store.facts.find_unembedded(active.fingerprint, limit=ALL)),
    )


def missing_vectors(where: str, model: str, *, chunks: int, names: int, facts: int) -> list[Problem]:
    """Return a problem for each kind of thing that lacks vectors of the model that answers, given how many do."""
    counts = {
        "chunk has|chunks have": chunks,
        "name of the graph has|names of the graph have": names,
        "entity of facts has|entities of facts have": facts,
    }
    return [
        Problem(where=where, what=_say(count, words, model), repairable=False, command=COMMAND)
        for words, count in counts.items()
        if count
    ]


def _say(count: int, words: str, model: str) -> str:
    one, _, many = words.partition("|")
    return f"{count:,} {one if count == 1 else many} no vector of {model!r}"
