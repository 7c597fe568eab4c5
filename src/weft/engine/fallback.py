"""Answers where the embedder cannot be used: by words and connections, with what is wrong and what helps."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING

from weft.errors import ConfigError, MissingExtra, ModelError, SchemaMismatch
from weft.models.embedders.deferred import AbsentEmbedder, PatientEmbedder
from weft.records import StoredModel

if TYPE_CHECKING:
    from weft.engine.engine import Engine

LIMITED = "say that the search was limited; `weft doctor` says what to do"

UNUSABLE = (ConfigError, MissingExtra, ModelError, SchemaMismatch)
"""What hinders an embedder, and not those who can do without one."""


def answerable(engine: Engine) -> Engine:
    """Return the engine, or where its embedder cannot be used one on the same namespace that does without it."""
    active = next((model for model in engine.store.models() if model.active), None)
    _follow(engine, active)
    try:
        if engine.answering_embedder() is None:
            engine.embedder  # noqa: B018 - recalling facts opens it
    except UNUSABLE as error:
        other = copy(engine)
        other.__dict__["embedder"] = AbsentEmbedder(
            name=active.name if active else engine.settings.models.embedder,
            fingerprint=active.fingerprint if active else "",
            dimension=active.dimension if active else 0,
            error=error,
        )
        return other
    return engine


def _follow(engine: Engine, active: StoredModel | None) -> None:
    """Let go of an embedder that the settings left open, where another process switched the namespace to another."""
    opened = engine.__dict__.get("embedder")
    is_open = "models.embedder" not in engine.settings.origins
    if is_open and opened is not None and active is not None and opened.card.fingerprint != active.fingerprint:
        engine.__dict__.pop("embedder", None)
        if isinstance(opened, PatientEmbedder):
            wait_at_most(engine, opened.patience)


def wait_at_most(engine: Engine, seconds: float) -> None:
    """Let questions wait so long for the model; those that come while it is still being loaded do without it."""
    with suppress(*UNUSABLE):
        if (embedder := engine.embedder) is not None:
            engine.__dict__["embedder"] = PatientEmbedder(embedder, patience=seconds)


def find_problem(engine: Engine) -> tuple[str, str] | None:
    """Return why questions are not answered by meaning, and what helps; None where they are. Loads no model."""
    active = next((model for model in engine.store.models() if model.active), None)
    try:
        embedder = engine.answering_embedder()
    except UNUSABLE as error:
        return str(error), error.hint or LIMITED
    if embedder is None:
        if active:
            return "the settings say to use no embedder", f"use --embedder {active.name}"
        if engine.stats().documents:
            return "the index has no vectors", "ask the user to run `weft reembed`"
        return None
    if isinstance(embedder, PatientEmbedder) and (failure := embedder.failure):
        return str(failure), failure.hint or LIMITED
    return (embedder.card.degraded, LIMITED) if embedder.card.degraded else None
