"""Authentication: API keys bound to namespaces, or loopback access without keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from weft.engine.api_keys import presented_key
from weft.engine.engine import Engine
from weft.records import Access, ApiKey
from weft.server.assets import ASSETS
from weft.server.errors import Refused
from weft.server.request_limits import ALWAYS_ANSWERED
from weft.server.state import ServerState

NAMESPACE_HEADER = "X-Weft-Namespace"
PUBLIC = frozenset({"/health", "/ready", "/openapi.json", "/docs", *ASSETS})
"""Paths that reveal no stored data and need no key."""

# These two only document the schema. `presented_key` reads the headers, because a malformed key is not a missing key.
_bearer = HTTPBearer(auto_error=False, description="API key created with `weft keys create`.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="Alternative to the Authorization header.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated request: its namespace and its access."""

    state: ServerState
    engine: Engine
    access: Access
    key: ApiKey | None
    """None for loopback access while no key exists."""

    @property
    def namespace(self) -> str:
        """Namespace of the request."""
        return self.engine.store.namespace

    def across(self, namespaces: Sequence[str]) -> Engine:
        """Return the engine that searches these namespaces as one. Raises `Refused` if the key does not grant them."""
        granted = self.key.namespaces if self.key else (self.namespace,)
        if not set(namespaces) <= set(granted):
            hint = "ask for namespaces of the key only"
            raise Refused(403, "wrong_namespace", "the key grants no access to this namespace", hint=hint)
        return self.state.engines.across(namespaces) if namespaces else self.engine


def get_state(request: Request) -> ServerState:
    """Return the state of the server."""
    state: ServerState = request.app.state.weft
    return state


class Gatekeeper:
    """
    Checks the API key before the request body is read.

    It stores the key in the scope as `api_key`; None for loopback access while no key exists.
    """

    def __init__(self, app: ASGIApp, *, state: ServerState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in PUBLIC:
            threads = self._state.threads
            run = threads.monitor if scope["path"] in ALWAYS_ANSWERED else threads.read
            scope["api_key"] = await self._find(presented_key(Headers(scope=scope)), run)
        await self._app(scope, receive, send)

    async def _find(self, text: str | None, run: Callable[[Callable[[], Any]], Awaitable[Any]]) -> ApiKey | None:
        state = self._state
        if text is None:
            if state.is_private and await run(state.keys.is_empty):
                return None
            raise Refused(401, "no_key", "API key required", hint="send Authorization: Bearer KEY or X-API-Key: KEY")
        key: ApiKey | None = await run(lambda: state.keys.find(text))
        if key is None:
            raise Refused(401, "wrong_key", "invalid API key", hint="create a key with weft keys create NAME")
        return key


async def identify(
    request: Request,
    bearer: Annotated[object, Depends(_bearer)],
    header: Annotated[object, Depends(_header)],
    wanted: Annotated[
        str | None,
        Header(alias=NAMESPACE_HEADER, description="Namespace; required if the key grants access to several."),
    ] = None,
) -> Caller:
    """Return the caller. Raises `Refused` if the key does not grant access to the namespace."""
    state = get_state(request)
    key: ApiKey | None = request.scope["api_key"]
    own = state.engines.settings.store.namespace
    name = _choose(key.namespaces if key else (own,), wanted, own=own)
    request.scope["namespace"] = name
    return Caller(state=state, engine=state.engines.engine(name), access=key.access if key else "write", key=key)


async def identify_writer(caller: Annotated[Caller, Depends(identify)]) -> Caller:
    """Return the caller if it has write access."""
    if caller.access == "read":
        raise Refused(403, "read_only", "the key is read-only", hint="create a key with weft keys create NAME --write")
    return caller


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolder(Caller):
    """A caller with a key, which loopback access has not."""

    key: ApiKey


async def identify_admin(caller: Annotated[Caller, Depends(identify)]) -> KeyHolder:
    """Return the caller if its key manages keys. Loopback access without keys creates the first one with the CLI."""
    if caller.access != "admin" or caller.key is None:
        hint = "create a key with weft keys create NAME --admin"
        raise Refused(403, "admin_only", "an admin key is required", hint=hint)
    return KeyHolder(state=caller.state, engine=caller.engine, access=caller.access, key=caller.key)


Admin = Annotated[KeyHolder, Depends(identify_admin)]
Reader = Annotated[Caller, Depends(identify)]
Writer = Annotated[Caller, Depends(identify_writer)]


def _choose(namespaces: tuple[str, ...], wanted: str | None, *, own: str) -> str:
    """Return the namespace of a request: from the header, the settings, or the only namespace of the key."""
    if wanted is not None:
        if (name := _decode(wanted)) not in namespaces:
            hint = f"omit the header {NAMESPACE_HEADER}, or send a namespace of the key"
            raise Refused(403, "wrong_namespace", "the key grants no access to this namespace", hint=hint)
        return name
    if own in namespaces:
        return own
    if len(namespaces) > 1:
        raise Refused(
            400,
            "which_namespace",
            "the key grants access to several namespaces",
            hint=f"send one of them in the header {NAMESPACE_HEADER}",
        )
    return namespaces[0]


def _decode(value: str) -> str:
    """Return a header decoded as UTF-8; HTTP libraries decode it as Latin-1."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
