"""Evaluation of fact recall on a scenario: replays the statements, then answers every question as of its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from weft.config import Settings, StoreOptions
from weft.engine.engine import Engine
from weft.engine.memory import Memory
from weft.evaluate.fact_scoring import AnsweredFacts, KnownQuestions, answer_by_recall, answer_by_vector, summarise
from weft.evaluate.scenario import Scenario, Step, read_scenario
from weft.models.base import Embedder
from weft.records import Fact


class ReplayedClock:
    """A clock that shows the current time of a scenario."""

    def __init__(self) -> None:
        self.time = datetime(1970, 1, 1, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.time


def evaluate_facts(
    path: Path,
    *,
    settings: Settings,
    embedder: Embedder | None = None,
    on_step: Callable[[], None] = lambda: None,
) -> list[dict[str, Any]]:
    """
    Return rows of figures for recall and, with an embedder, for a baseline of nearest statements by vector.

    The baseline `vector` uses facts valid at the time of a question, `vector, all` every fact. The store is temporary.
    """
    scenario = read_scenario(path)
    with TemporaryDirectory() as folder:
        temporary = StoreOptions(db=str(Path(folder) / "facts.db"))
        overrides: dict[str, Any] = dict(scenario.settings)
        settings = replace(settings, store=temporary, memory=replace(settings.memory, **overrides))
        clock = ReplayedClock()
        with Engine(settings, embedder=embedder, clock=clock) as engine:
            facts = replay(scenario, memory=engine.memory, clock=clock, on_step=on_step)
            found = _answer(scenario, engine=engine, facts=facts, on_step=on_step)
    return [{"method": method, **row} for method, answered in found.items() for row in summarise(answered)]


def replay(
    scenario: Scenario, *, memory: Memory, clock: ReplayedClock, on_step: Callable[[], None] = lambda: None
) -> dict[str, Fact]:
    """Run the steps of a scenario at their times; return the final facts by statement id."""
    ids: dict[str, str] = {}
    for step in scenario.steps:
        clock.time = step.at
        _run_step(step, memory=memory, ids=ids)
        on_step()
    known = {fact.id: fact for fact in memory.list()}
    return {statement: known[id] for statement, id in ids.items() if id in known}


def _run_step(step: Step, *, memory: Memory, ids: dict[str, str]) -> None:
    if step.statement is not None:
        (done,) = memory.add_many([step.statement])
        if done.fact:
            ids[step.id] = done.fact.id
        return
    id = ids.get(step.id, "")
    match step.action:
        case "confirm":
            memory.confirm(id)
        case "reject":
            memory.reject(id, reason=step.reason)
        case "expire":
            memory.expire(id)
        case "forget":
            memory.forget(id)


def _answer(
    scenario: Scenario, *, engine: Engine, facts: dict[str, Fact], on_step: Callable[[], None]
) -> dict[str, list[AnsweredFacts]]:
    cases, embedder = scenario.cases, engine.embedder
    known = KnownQuestions(embedder, [case.text for case in cases]) if embedder else None
    options = engine.settings.memory
    found = {
        "recall": answer_by_recall(
            cases, facts=facts, store=engine.store, embedder=known, options=options, on_step=on_step
        )
    }
    if known:
        for name, live_only in (("vector", True), ("vector, all", False)):
            found[name] = answer_by_vector(cases, facts=facts, embedder=known, live_only=live_only, on_step=on_step)
    return found
