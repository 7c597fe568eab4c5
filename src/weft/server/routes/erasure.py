"""Route that erases conversations, or all that contains a text."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from weft.admin.forget import Selection, find_forgettable, forget
from weft.context.serialise import document_to_dict, fact_to_dict
from weft.engine.engine import Engine
from weft.errors import StoreUnavailable
from weft.server.auth import Writer
from weft.server.errors import documented
from weft.server.paging import MAX_ITEMS
from weft.server.schemas import ErasedOut, GivenSelection

router = APIRouter(tags=["forgetting"])


@router.post("/forget", response_model=ErasedOut, response_model_exclude_unset=True, responses=documented(401))
async def forget_selection(caller: Writer, given: GivenSelection) -> dict[str, Any]:
    """List what a selection matches, and with `erase` delete it from the store and the model caches."""
    selection = Selection(conversation=given.conversation or "", before=given.before, matching=given.matching or "")
    return await caller.state.threads.write(lambda: _forget(caller.engine, selection, erase=given.erase))


def _forget(engine: Engine, selection: Selection, *, erase: bool) -> dict[str, Any]:
    found = find_forgettable(engine, selection)
    deleted = erase and bool(found)
    documents, facts = found.documents[:MAX_ITEMS], found.facts[:MAX_ITEMS]
    return {
        "documents": [document_to_dict(document) for document in documents],
        "facts": [fact_to_dict(fact) for fact in facts],
        "omitted": len(found.documents) - len(documents) + len(found.facts) - len(facts),
        "deleted": deleted,
        "compacted": deleted and _erase(engine, selection),
    }


def _erase(engine: Engine, selection: Selection) -> bool:
    """Delete what a selection matches; return False if another process reads the file, so that old pages remain."""
    try:
        forget(engine, find_forgettable(engine, selection))
    except StoreUnavailable:
        if find_forgettable(engine, selection):
            raise
        return False
    return True
