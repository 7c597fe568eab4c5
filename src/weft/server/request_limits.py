"""What a request passes before a route sees it: an id, a known host and origin, room, and a bounded body."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.config import ServerOptions
from weft.server.errors import Refused, error_response
from weft.server.metrics import Metrics
from weft.server.state import is_loopback

logger = logging.getLogger(__name__)

UPLOADS = "/documents/upload"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


class Entrance:
    """Gives every request an id, checks where it comes from and goes to, bounds it, and counts its answer."""

    def __init__(self, app: ASGIApp, *, options: ServerOptions, host: str, metrics: Metrics) -> None:
        self._app = app
        self._options = options
        self._host = host
        self._metrics = metrics
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, begin = Headers(scope=scope), time.perf_counter()
        status: int | None = None
        given = headers.get("x-request-id", "")
        scope["request_id"] = request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                found = MutableHeaders(raw=message["headers"])
                found["X-Request-ID"] = request_id
                for name, value in _HEADERS.items():
                    found.setdefault(name, value)
            await send(message)

        self._under_way += 1
        try:
            self._check(scope, headers)
            await self._app(scope, self._bounded(scope, headers, receive), answer)
        except Refused as error:
            await error_response(request_id, error)(scope, receive, answer)
        except Exception:
            logger.exception("%s failed", request_id)
            if status is None:
                failed = Refused(500, "failed", "the server failed", hint="its log has more under the request id")
                await error_response(request_id, failed)(scope, receive, answer)
        finally:
            self._under_way -= 1
            self._note(scope, status=status or 500, seconds=time.perf_counter() - begin)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise `Refused` where the request may not go on."""
        host = _name(headers.get("host", ""))
        if not is_known_host(host, listening=self._host, allowed=self._options.allowed_hosts):
            hint = "add it to [server] allowed_hosts"
            raise Refused(421, "wrong_host", "the server is not asked by this name", hint=hint)
        origins = (None, *_own_origins(headers), *self._options.allowed_origins)
        if headers.get("origin") not in origins:
            hint = "add it to [server] allowed_origins"
            raise Refused(403, "wrong_origin", "pages from elsewhere may not ask", hint=hint)
        if self._under_way > self._options.max_requests:
            raise Refused(503, "busy", f"{self._options.max_requests} requests are under way", hint="try again")
        if _length(headers) > self._max_bytes(scope):
            raise self._too_large(scope)

    def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Return a `receive` that stops a body which is too large or does not come to its end in time."""
        limit, taken, is_whole = self._max_bytes(scope), 0, False
        deadline = time.monotonic() + self._options.seconds

        async def bounded() -> Message:
            nonlocal taken, is_whole
            if is_whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0.001))
            except asyncio.TimeoutError:
                raise Refused(408, "slow_request", "the request took too long to arrive", hint="send less") from None
            taken += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if taken > limit:
                raise self._too_large(scope)
            return message

        return bounded

    def _max_bytes(self, scope: Scope) -> int:
        return self._options.max_upload_bytes if scope["path"] == UPLOADS else self._options.max_body_bytes

    def _too_large(self, scope: Scope) -> Refused:
        return Refused(413, "too_large", f"more than {self._max_bytes(scope):,} bytes", hint="send it in parts")

    def _note(self, scope: Scope, *, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        namespace = scope.get("namespace", "")
        self._metrics.note(namespace=namespace, method=_method(scope), route=route, status=status, seconds=seconds)
        logger.info("%s %s %s %d %.0f ms", scope["request_id"], scope["method"], route, status, seconds * 1000)


def is_known_host(name: str, *, listening: str, allowed: tuple[str, ...]) -> bool:
    """
    Tell whether a server that listens at an address may be asked by a name.

    A page elsewhere can make its own name lead here (DNS rebinding), but it cannot make an address or `localhost`
    its own. So addresses are fine, at a loopback server those of loopback.
    """
    if not name:
        return False
    if is_loopback(name) or name == listening.lower() or name in {known.lower() for known in allowed}:
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return not is_loopback(listening)


def _name(host: str) -> str:
    """Return a Host header without its port, in lower case."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s/@]+)(?::\d{1,5})?", host)
    return found.group(1).lower().strip("[]") if found else ""


def _own_origins(headers: Headers) -> tuple[str, str]:
    """Return what the origin of our own pages is, here and behind a proxy that adds encryption."""
    host = headers.get("host", "").lower()
    return f"http://{host}", f"https://{host}"


def _length(headers: Headers) -> int:
    given = headers.get("content-length", "")
    return int(given) if given.isascii() and given.isdigit() else 0


def _method(scope: Scope) -> str:
    return str(scope["method"]) if scope["method"] in _METHODS else "other"
