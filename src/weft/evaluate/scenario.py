"""Scenarios of facts: dated statements and actions, and questions with their expected statements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from weft.errors import InputError
from weft.exchange.fact_objects import read_statement, read_time
from weft.records import GivenFact

Action: TypeAlias = Literal["confirm", "reject", "expire", "forget"]
ACTIONS: tuple[Action, ...] = get_args(Action)
SETTINGS = ("single_valued", "confirm_sources")
"""Settings of `[memory]` that a scenario may contain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A dated event: a statement, or an action on an earlier statement."""

    at: datetime
    id: str
    """Id of the statement."""
    statement: GivenFact | None = None
    """The statement; None for an action."""
    action: Action | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactCase:
    """A question with its time and the statements that answer it. Without statements, `no_match` is expected."""

    text: str
    kind: str
    at: datetime
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Steps in the order of time, and cases in the order of the file."""

    steps: tuple[Step, ...]
    cases: tuple[FactCase, ...]
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_scenario(path: Path) -> Scenario:
    """Return the scenario of a JSON Lines file. Raises `InputError` with the line number."""
    settings: dict[str, tuple[str, ...]] = {}
    steps: list[Step] = []
    cases: list[FactCase] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError("expected a JSON object")
                if "settings" in row:
                    settings |= _read_settings(row["settings"])
                elif "question" in row:
                    cases.append(_read_case(row))
                else:
                    steps.append(_read_step(row))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                message = f"missing key {error}" if isinstance(error, KeyError) else str(error)
                raise InputError(
                    f"line {number} of {path.name!r}: {message}", hint="use the format of docs/memory-recall.md"
                ) from error
    scenario = Scenario(steps=tuple(sorted(steps, key=lambda step: step.at)), cases=tuple(cases), settings=settings)
    _check(scenario)
    return scenario


def _read_settings(row: Any) -> dict[str, tuple[str, ...]]:
    if unknown := set(row) - set(SETTINGS):
        raise ValueError(f"unknown setting {min(unknown)!r}: use one of {', '.join(SETTINGS)}")
    return {name: tuple(str(value) for value in values) for name, values in row.items()}


def _read_case(row: Mapping[str, Any]) -> FactCase:
    expected = tuple(str(id) for id in row["expected"])
    return FactCase(text=str(row["question"]), kind=str(row["kind"]), at=read_time(row["as_of"]), expected=expected)


def _read_step(row: Mapping[str, Any]) -> Step:
    at = read_time(row["at"])
    for action in ACTIONS:
        if action in row:
            return Step(at=at, id=str(row[action]), action=action, reason=str(row.get("reason", "")))
    fields = {name: value for name, value in row.items() if name not in ("id", "at")}
    return Step(at=at, id=str(row["id"]), statement=read_statement(fields))


def _check(scenario: Scenario) -> None:
    """Raise `InputError` if two statements have the same id, or if an id has no earlier statement."""
    if not scenario.cases:
        raise InputError("the scenario has no questions", hint="add lines with question, kind, as_of and expected")
    stated: set[str] = set()
    for step in scenario.steps:
        if step.action is None and step.id in stated:
            raise InputError(f"two statements have the id {step.id!r}", hint="give each statement its own id")
        if step.action is not None and step.id not in stated:
            what = f"{step.action} of {step.id!r} has no statement before {step.at.isoformat()}"
            raise InputError(what, hint="add the statement, or correct the id")
        stated.add(step.id)
    for case in scenario.cases:
        if unknown := set(case.expected) - stated:
            hint = "add a statement with this id, or correct expected"
            raise InputError(f"{case.text!r} expects the unknown statement {min(unknown)!r}", hint=hint)
