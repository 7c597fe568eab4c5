"""API keys over HTTP: the same rule as `weft serve`. Once the store has a key, every request needs one."""

from __future__ import annotations

import asyncio
import logging
from typing import Literal, NoReturn

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from weft.engine.api_keys import Keyring, presented_key
from weft.engine.lazy_engine import LazyEngine
from weft.errors import StoreUnavailable, WeftError
from weft.records import ApiKey

logger = logging.getLogger(__name__)


class _Refused(Exception):
    """A request without access: status of the response, message and remedy."""

    def __init__(self, status: Literal[401, 403, 503], message: str, *, hint: str) -> None:
        super().__init__(message)
        self.status, self.hint = status, hint


class KeyCheck:
    """
    ASGI middleware that refuses requests without a valid key for the namespace of the server.

    The key becomes the user of the request. The SDK binds a session to the user that opened it, so that no other key
    can use the session.
    """

    def __init__(self, app: ASGIApp, *, standby: LazyEngine) -> None:
        self._app = app
        self._standby = standby

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with 401, 403 or 503."""
        if scope["type"] == "http":
            text = presented_key(Headers(scope=scope))
            try:
                key = await asyncio.to_thread(self._find, text)
            except _Refused as error:
                body = {"error": str(error), "hint": error.hint}
                headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
                await JSONResponse(body, error.status, headers)(scope, receive, send)
                return
            if key is not None:
                token = AccessToken(token=key.id, client_id=key.id, scopes=[key.access])
                scope["user"] = AuthenticatedUser(token)
        await self._app(scope, receive, send)

    def _find(self, text: str | None) -> ApiKey | None:
        """Return the key of a request; None while the store has no key. Raises `_Refused`."""
        try:
            keys = Keyring(self._standby.engine().database)
            key = keys.find(text) if text is not None else None
            is_open = key is None and keys.is_empty()
        except StoreUnavailable as error:
            if self._standby.is_missing():  # a store that does not exist has no keys
                return None
            _refuse_all(error)
        except WeftError as error:
            _refuse_all(error)
        if is_open and text is None:
            return None
        if key is None:
            message = "API key required" if text is None else "invalid API key"
            raise _Refused(401, message, hint="send Authorization: Bearer KEY; create one with weft keys create NAME")
        if not set(self._standby.namespaces) <= set(key.namespaces):
            hint = "use a key of all namespaces that the server was started with"
            raise _Refused(403, "the key grants no access to this namespace", hint=hint)
        return key


def _refuse_all(error: WeftError) -> NoReturn:
    """Refuse a request because nobody knows whether it needs a key."""
    logger.warning("the keys cannot be read: %s", error)
    raise _Refused(503, f"the keys cannot be read: {error}", hint=error.hint or "run weft doctor") from error
