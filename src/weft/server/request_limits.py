"""Middleware in front of all routes: request id, host and origin check, concurrency limits, body limits."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections import Counter
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


ALWAYS_ANSWERED = frozenset({"/health", "/metrics"})
"""Paths for monitoring, served under load without a free slot."""
CLIENT_SHARE = 0.5
"""Share of the slots that one API key, or one address without a key, may use."""
BUSY_HINT = "retry in a few seconds"


class RequestLimits:
    """Assigns a request id, checks host and origin, limits concurrency and body, and counts the response."""

    def __init__(self, app: ASGIApp, *, options: ServerOptions, host: str, metrics: Metrics) -> None:
        self._app = app
        self._options = options
        self._host = host
        self._metrics = metrics
        self._slots: Counter[str] = Counter()
        """Requests in progress, by client."""

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

        client = _client(scope, headers)
        self._slots[client] += 1
        try:
            self._check(scope, headers)
            self._check_slots(client)
            await self._app(scope, self._bounded(scope, headers, receive), answer)
        except Refused as error:
            await error_response(request_id, error)(scope, receive, answer)
        except Exception:
            logger.exception("%s failed", request_id)
            if status is None:
                failed = Refused(
                    500, "failed", "internal server error", hint="search the log of the server for this request id"
                )
                await error_response(request_id, failed)(scope, receive, answer)
        finally:
            self._slots[client] -= 1
            if not self._slots[client]:
                del self._slots[client]
            self._note(scope, status=status or 500, seconds=time.perf_counter() - begin)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise `Refused` for an unknown host, a foreign origin or a body that is too large."""
        host = _name(headers.get("host", ""))
        if not is_known_host(host, listening=self._host, allowed=self._options.allowed_hosts):
            hint = "add the host name to server.allowed_hosts"
            raise Refused(421, "wrong_host", f"unknown host name {host[:80]!r}", hint=hint)
        origins = (None, *_own_origins(headers), *self._options.allowed_origins)
        if headers.get("origin") not in origins:
            hint = "add the origin to server.allowed_origins"
            origin = headers.get("origin", "")[:80]
            raise Refused(403, "wrong_origin", f"cross-origin request from {origin!r} refused", hint=hint)
        if _length(headers) > self._max_bytes(scope):
            raise self._too_large(scope)

    def _check_slots(self, client: str) -> None:
        """Raise `Refused` if all slots, or the slots of this client, are taken."""
        limit = self._options.max_requests
        own = max(1, int(limit * CLIENT_SHARE))
        used = sum(count for other, count in self._slots.items() if other)
        if client and used > limit:
            raise Refused(503, "busy", f"too many concurrent requests (limit {limit})", hint=BUSY_HINT)
        if client and self._slots[client] > own:
            raise Refused(503, "busy", f"too many concurrent requests of this client (limit {own})", hint=BUSY_HINT)

    def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Return a `receive` that refuses a body that is too large or too slow."""
        limit, taken, is_whole = self._max_bytes(scope), 0, False
        deadline = time.monotonic() + self._options.seconds

        async def bounded() -> Message:
            nonlocal taken, is_whole
            if is_whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0.001))
            except asyncio.TimeoutError:
                raise Refused(
                    408,
                    "slow_request",
                    f"no complete request body within {self._options.seconds} s",
                    hint="send a smaller body",
                ) from None
            taken += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if taken > limit:
                raise self._too_large(scope)
            return message

        return bounded

    def _max_bytes(self, scope: Scope) -> int:
        return self._options.max_upload_bytes if scope["path"] == UPLOADS else self._options.max_body_bytes

    def _too_large(self, scope: Scope) -> Refused:
        message = f"the request body exceeds {self._max_bytes(scope):,} bytes"
        return Refused(413, "too_large", message, hint="split the request into smaller ones")

    def _note(self, scope: Scope, *, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        namespace = scope.get("namespace", "")
        self._metrics.note(namespace=namespace, method=_method(scope), route=route, status=status, seconds=seconds)
        logger.info("%s %s %s %d %.0f ms", scope["request_id"], scope["method"], route, status, seconds * 1000)


def is_known_host(name: str, *, listening: str, allowed: tuple[str, ...]) -> bool:
    """
    Return True if a Host header names this server.

    A foreign page can resolve its own name to this address (DNS rebinding), but it cannot take over an IP address or
    `localhost`. So IP addresses are accepted; a loopback server accepts loopback addresses only.
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
    """Return the Host header in lower case, without port."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s/@]+)(?::\d{1,5})?", host)
    return found.group(1).lower().strip("[]") if found else ""


def _own_origins(headers: Headers) -> tuple[str, str]:
    """Return the origins of the server's own pages, directly and behind a TLS proxy."""
    host = headers.get("host", "").lower()
    return f"http://{host}", f"https://{host}"


def _length(headers: Headers) -> int:
    given = headers.get("content-length", "")
    return int(given) if given.isascii() and given.isdigit() else 0


def _method(scope: Scope) -> str:
    return str(scope["method"]) if scope["method"] in _METHODS else "other"


def _client(scope: Scope, headers: Headers) -> str:
    """Return the client that a request counts against: its key, else its address; empty for monitoring."""
    if scope["path"] in ALWAYS_ANSWERED:
        return ""
    address = scope["client"][0] if scope.get("client") else ""
    return headers.get("authorization") or headers.get("x-api-key") or f"address {address}"
