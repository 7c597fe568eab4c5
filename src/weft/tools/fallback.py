"""Answers without the embedder: search by words and graph, with a warning and an action."""

from __future__ import annotations

from weft.engine.embedder import UNUSABLE, find_active
from weft.engine.engine import Engine
from weft.errors import WeftError

LIMITED_ACTION = "tell the user that the search was limited; `weft doctor` names the fix"


def answerable(engine: Engine) -> Engine:
    """Return the engine, or an engine without embedder on the same namespace if the embedder cannot be used."""
    engine.embedder_slot.follow(find_active(engine.reader))
    try:
        if engine.embedder_slot.answering(engine.reader) is None:
            engine.embedder_slot.get()  # recalling facts opens the embedder
    except UNUSABLE as error:
        return engine.without_embedder(error)
    return engine


def find_problem(engine: Engine) -> tuple[str, str] | None:
    """Return the reason for a search without vectors, and the action; None if vectors are used. Loads no model."""
    active = find_active(engine.reader)
    try:
        embedder = engine.embedder_slot.answering(engine.reader)
    except UNUSABLE as error:
        return str(error), error.hint or LIMITED_ACTION
    if embedder is None:
        if active:
            return "the settings name no embedder", f"use --embedder {active.name}"
        if engine.stats().documents:
            return "the index has no vectors", "ask the user to run `weft reembed`"
        return None
    if engine.embedder_slot.state == "failed" and isinstance(failure := engine.embedder_slot.error, WeftError):
        return str(failure), failure.hint or LIMITED_ACTION
    return (embedder.card.degraded, LIMITED_ACTION) if embedder.card.degraded else None
