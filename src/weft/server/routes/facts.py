"""Routes for facts: add, list, recall, confirm, reject, forget."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from weft.context.serialise import event_to_dict, fact_to_dict, recall_to_dict, remembered_to_dict
from weft.engine.engine import Engine
from weft.records import GivenFact
from weft.server.auth import Reader, Writer
from weft.server.errors import documented
from weft.server.paging import MAX_ITEMS, Limit
from weft.server.schemas import (
    FactOut,
    FactPage,
    Forgotten,
    GivenStatements,
    Reason,
    RecallQuestion,
    RememberedList,
    WholeFact,
)

router = APIRouter(prefix="/facts", tags=["facts"])

Key = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("", response_model=FactPage, response_model_exclude_unset=True, responses=documented(401, 504))
async def list_facts(
    caller: Reader,
    subject: Annotated[str, Query(max_length=1000, description="Only facts about this subject.")] = "",
    after: Annotated[str, Query(max_length=200, description="`next` of the previous page.")] = "",
    limit: Limit = 100,
) -> dict[str, Any]:
    """List facts of every status in order of id, one page per request."""
    found = await caller.state.threads.read(lambda: caller.engine.memory.page(subject, after=after, limit=limit))
    return {
        "facts": [fact_to_dict(fact) for fact in found],
        "next": found[-1].id if len(found) == limit else None,
    }


@router.post(
    "",
    status_code=201,
    response_model=RememberedList,
    response_model_exclude_unset=True,
    responses=documented(401, 404),
)
async def add_facts(caller: Writer, given: GivenStatements) -> dict[str, Any]:
    """Add facts. They are staged until confirmed. A refused fact is not stored; `reason` explains the refusal."""
    facts = [GivenFact(**statement.model_dump()) for statement in given.facts]
    done = await caller.state.threads.write(lambda: caller.engine.memory.add_many(facts))
    return {"facts": [remembered_to_dict(item) for item in done]}


@router.post("/recall", responses=documented(401, 504))
async def recall(caller: Reader, question: RecallQuestion) -> dict[str, Any]:
    """Return the facts relevant to a query, with scores and as text for a model."""
    return await caller.state.threads.read(lambda: _recall(caller.engine, question))


@router.get("/{id}", response_model=WholeFact, response_model_exclude_unset=True, responses=documented(401, 404, 504))
async def get_fact(caller: Reader, id: Key, limit: Limit = MAX_ITEMS) -> dict[str, Any]:
    """Return a fact with the last `limit` events of its history."""
    memory = caller.engine.memory
    fact, events = await caller.state.threads.read(lambda: (memory.get(id), memory.history(id)))
    latest = [event_to_dict(event) for event in events[-limit:]]
    return {"fact": fact_to_dict(fact), "history": latest, "omitted": len(events) - len(latest)}


@router.post("/{id}/confirm", response_model=FactOut, response_model_exclude_unset=True, responses=documented(401, 404))
async def confirm(caller: Writer, id: Key) -> dict[str, Any]:
    """Confirm a fact. The fact in its `supersedes` becomes superseded."""
    return fact_to_dict(await caller.state.threads.write(lambda: caller.engine.memory.confirm(id)))


@router.post("/{id}/reject", response_model=FactOut, response_model_exclude_unset=True, responses=documented(401, 404))
async def reject(caller: Writer, id: Key, why: Reason | None = None) -> dict[str, Any]:
    """Reject a fact. It is never recalled, and only the user can add it again."""
    reason = why.reason if why else ""
    return fact_to_dict(await caller.state.threads.write(lambda: caller.engine.memory.reject(id, reason=reason)))


@router.delete("/{id}", response_model=Forgotten, responses=documented(401, 404))
async def forget(caller: Writer, id: Key) -> dict[str, int]:
    """Delete a fact and its history permanently."""
    return {"forgotten": await caller.state.threads.write(lambda: caller.engine.memory.forget(id))}


def _recall(engine: Engine, question: RecallQuestion) -> dict[str, Any]:
    found = engine.memory.recall(question.query, as_of=question.as_of)
    return recall_to_dict(found, engine.memory.context(found, budget=question.budget))
