"""Route that edits entities: `/graph/edits`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from weft.context.serialise import entity_to_dict
from weft.engine.entities import Entities
from weft.errors import InputError
from weft.server.auth import Caller, Reader
from weft.server.errors import Refused, documented
from weft.server.schemas import EntityOut, Given

router = APIRouter(prefix="/graph", tags=["graph"])

Name = Annotated[str, Field(min_length=1, max_length=1000)]


class GivenEdit(Given):
    """An edit of an entity; `merge` and `rename` need `to`."""

    kind: Literal["merge", "unmerge", "rename", "delete", "restore"]
    name: Name = Field(description="Name in any spelling, alias, or id.")
    to: Name | None = Field(None, description="The other entity, or the new name.")


class Undo(BaseModel):
    """The edit that reverts an edit."""

    kind: str
    name: str
    to: str | None = None


class EditOut(BaseModel):
    """The entity after an edit, or the one that was deleted, and the edit that reverts it."""

    entity: EntityOut
    undo: Undo | None


@router.post("/edits", response_model=EditOut, responses=documented(401, 404))
async def edit_entity(caller: Reader, given: GivenEdit) -> dict[str, Any]:
    """Merge, rename or delete an entity, or revert this. Requires an admin key once a key exists."""
    if not can_edit(caller):
        hint = "create a key with weft keys create NAME --admin"
        raise Refused(403, "admin_only", "an admin key is required", hint=hint)
    return await caller.state.threads.write(lambda: _edit(caller.engine.entities, given))


def can_edit(caller: Caller) -> bool:
    """Return True for an admin key, and for loopback access while no key exists."""
    return caller.key is None or caller.access == "admin"


def _edit(entities: Entities, given: GivenEdit) -> dict[str, Any]:
    name, to = given.name, given.to
    match given.kind:
        case "merge" | "rename" if to is None:
            raise InputError(f"{given.kind} needs `to`", hint="send the other entity, or the new name, as `to`")
        case "merge":
            key = entities.get(name).key
            found, undo = entities.merge(name, to or ""), {"kind": "unmerge", "name": key}
        case "rename":
            old = entities.get(name)
            found, undo = entities.rename(name, to or ""), {"kind": "rename", "name": old.id, "to": old.name}
        case "delete":
            found = entities.delete(name)
            undo = {"kind": "restore", "name": found.key}
        case "unmerge":
            found, undo = entities.unmerge(name), {}
        case "restore":
            found, undo = entities.restore(name), {}
    return {"entity": entity_to_dict(found), "undo": undo or None}
