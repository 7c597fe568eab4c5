"""Who asks: a key bound to namespaces, or this machine where there are no keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from weft.engine.engine import Engine
from weft.records import Access, ApiKey
from weft.server.assets import ASSETS
from weft.server.errors import Refused
from weft.server.state import Door

NAMESPACE_HEADER = "X-Weft-Namespace"
PUBLIC = frozenset({"/health", "/ready", "/openapi.json", "/docs", *ASSETS})
"""Paths that say nothing of what is stored, and need no key."""

# These two are for the schema; `_presented` reads the headers itself, for a key in a wrong form must not count as none.
_bearer = HTTPBearer(auto_error=False, description="A key of `weft keys create`.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A request that may go on: in which namespace, and whether it may write."""

    door: Door
    engine: Engine
    access: Access

    @property
    def namespace(self) -> str:
        """Where it may read."""
        return self.engine.store.namespace


def get_door(request: Request) -> Door:
    """Return what the server holds."""
    door: Door = request.app.state.door
    return door


class Gatekeeper:
    """
    Asks for the key before anything else of a request is read.

    It leaves the key in the scope, as `api_key`: None where this machine asks and there are no keys.
    """

    def __init__(self, app: ASGIApp, *, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in PUBLIC:
            scope["api_key"] = await self._find(_presented(Headers(scope=scope)))
        await self._app(scope, receive, send)

    async def _find(self, text: str | None) -> ApiKey | None:
        door = self._door
        if text is None:
            if door.is_private and await door.workers.read(door.keys.is_empty):
                return None
            raise Refused(401, "no_key", "a key is needed", hint="send Authorization: Bearer KEY, or X-API-Key: KEY")
        key = await door.workers.read(lambda: door.keys.find(text))
        if key is None:
            raise Refused(401, "wrong_key", "the key opens nothing", hint="weft keys create makes one")
        return key


async def identify(
    request: Request,
    bearer: Annotated[object, Depends(_bearer)],
    header: Annotated[object, Depends(_header)],
    wanted: Annotated[
        str | None,
        Header(alias=NAMESPACE_HEADER, description="Which of the key's namespaces; needed where it opens several."),
    ] = None,
) -> Caller:
    """Return who asks, in which namespace. Raises `Refused` where the key does not open it."""
    door = get_door(request)
    key: ApiKey | None = request.scope["api_key"]
    own = door.engines.settings.store.namespace
    name = _choose(key.namespaces if key else (own,), wanted, own=own)
    request.scope["namespace"] = name
    return Caller(door=door, engine=door.engines.engine(name), access=key.access if key else "write")


async def identify_writer(caller: Annotated[Caller, Depends(identify)]) -> Caller:
    """Return who asks, if they may write."""
    if caller.access != "write":
        raise Refused(403, "read_only", "the key may only read", hint="weft keys create --write makes another")
    return caller


Reader = Annotated[Caller, Depends(identify)]
Writer = Annotated[Caller, Depends(identify_writer)]


def _presented(headers: Headers) -> str | None:
    """Return the key a request carries; None where it carries nothing like one."""
    if (given := headers.get("authorization")) is not None:
        kind, _, text = given.partition(" ")
        return text.strip() if kind.lower() == "bearer" else ""
    return headers.get("x-api-key")


def _choose(namespaces: tuple[str, ...], wanted: str | None, *, own: str) -> str:
    """Return the namespace a request is about: the one it names, that of the settings, or the only one there is."""
    if wanted is not None:
        if (name := _decode(wanted)) not in namespaces:
            hint = f"leave {NAMESPACE_HEADER} out"
            raise Refused(403, "wrong_namespace", "this namespace is not open to you", hint=hint)
        return name
    if own in namespaces:
        return own
    if len(namespaces) > 1:
        raise Refused(
            400, "which_namespace", "the key opens several namespaces", hint=f"name one in {NAMESPACE_HEADER}"
        )
    return namespaces[0]


def _decode(value: str) -> str:
    """Return a header as the client meant it: bytes beyond ASCII are UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
