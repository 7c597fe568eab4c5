"""Routes that manage API keys, for admin keys: `/keys`."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from weft.context.serialise import key_to_dict
from weft.records import ApiKey
from weft.server.auth import Admin, KeyHolder
from weft.server.errors import Refused, documented
from weft.server.paging import After, Limit, cut
from weft.server.schemas import CreatedKey, GivenKey, KeyList, KeyRecord

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/keys", tags=["keys"])


@router.get("", response_model=KeyList, responses=documented(401, 504))
async def list_keys(caller: Admin, after: After = "", limit: Limit = 100) -> dict[str, Any]:
    """List the keys whose namespaces are all namespaces of the admin key, revoked ones included."""
    ring = caller.state.keys
    found = await caller.state.threads.read(lambda: ring.all(within=caller.key.namespaces))
    page, following = cut(found, after=after, limit=limit)
    return {"keys": [key_to_dict(key) for key in page], "next": following}


@router.post("", status_code=201, response_model=CreatedKey, responses=documented(401))
async def create_key(caller: Admin, given: GivenKey, response: Response) -> dict[str, Any]:
    """Create a key for namespaces of the admin key. Its text is returned once and never stored."""
    own = caller.key.namespaces
    wanted = given.namespaces or [caller.namespace]
    if not set(wanted) <= set(own):
        hint = "an admin key creates keys for its own namespaces"
        raise Refused(403, "wrong_namespace", "the key grants no access to this namespace", hint=hint)
    ring = caller.state.keys
    key, text = await caller.state.threads.write(
        lambda: ring.create(given.name, namespaces=wanted, access=given.access)
    )
    _log("created", key, caller)
    response.headers["Cache-Control"] = "no-store"
    return {**key_to_dict(key), "key": text}


@router.delete("/{id}", response_model=KeyRecord, responses=documented(401, 404))
async def revoke_key(caller: Admin, id: Annotated[str, Path(min_length=1, max_length=200)]) -> dict[str, Any]:
    """Revoke a key at once. The key of the request is refused: it would lock its owner out."""
    if id == caller.key.id:
        hint = "revoke it with another admin key, or with weft keys revoke"
        raise Refused(403, "own_key", "a key cannot revoke itself", hint=hint)
    ring = caller.state.keys
    key = await caller.state.threads.write(lambda: ring.revoke(id, within=caller.key.namespaces))
    _log("revoked", key, caller)
    return key_to_dict(key)


def _log(action: str, key: ApiKey, caller: KeyHolder) -> None:
    """Log who changed which key; names are left out, because a log may be read by others."""
    logger.info("key %s %s by key %s: %s", key.id, action, caller.key.id, key.access)
