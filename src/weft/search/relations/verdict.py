"""Effect of an answer of the graph on the verdict about a result."""

from __future__ import annotations

from dataclasses import replace

from weft.rank.gate import Verdict, doubt
from weft.records import Question, RelationAnswer, Result
from weft.search.question.choose_method import Plan
from weft.search.relations.answer import answer_relations
from weft.search.search_context import SearchContext

FULL_WEIGHT = 10


def ask_relations(question: Question, plan: Plan, search: SearchContext) -> RelationAnswer | None:
    """
    Return the answer of the graph to a question about relations, timed as a stage; None for other questions.

    If the citation search says why it has no answer, an empty answer of the graph adds nothing.
    """
    if not question.relations:
        return None
    with search.stopwatch.stage("relations"):
        answer = answer_relations(question, search)
        return None if answer is not None and plan.notes and not answer.items else answer


def confirm_relations(verdict: Verdict, answer: RelationAnswer | None) -> Verdict:
    """
    Return the verdict with the certainty of the answer.

    | answer | status | confidence |
    | --- | --- | --- |
    | related things | `ok` | at least the largest weight / 10 |
    | two things that nothing connects | at most `low_confidence` | below `ok` |
    | none, or no relation of this type | unchanged | unchanged |
    """
    if answer is None:
        return verdict
    if answer.items:
        stated = max(item.weight for item in answer.items) / FULL_WEIGHT
        return replace(verdict, status="ok", confidence=max(verdict.confidence, min(1.0, stated)), reason="")
    if len(answer.names) > 1 and verdict.status == "ok":
        return doubt(verdict, "")
    return verdict


def add_answer(result: Result, answer: RelationAnswer | None) -> Result:
    """Return the result with the answer of the graph, and its note first."""
    if answer is None:
        return result
    return replace(result, relations=answer, notes=(answer.note, *result.notes) if answer.note else result.notes)
