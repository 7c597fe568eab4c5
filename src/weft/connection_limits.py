"""
Limits of HTTP connections: deadline of the request head, connections per address, connections in all.

uvicorn keeps a connection whose request head never ends, and accepts connections until file descriptors run out. The
protocol below closes such a connection after a deadline. At a limit it closes the connection that has been receiving
longest, to make room for a new one such as a health check:

    state of a connection     closed at a limit
    waiting for a head        first, oldest first
    receiving a body          next, oldest first
    computing a response      never; the new connection is closed instead

asyncio accepts a batch of connections before the first of them is counted, and logs a traceback for each one that
finds no file descriptor. `LimitedServer` accepts small batches and logs one line a second.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from dataclasses import dataclass, field
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

logger = logging.getLogger(__name__)

HEAD_SECONDS = 20.0
"""Seconds within which a client must send the request head, from its first byte or from the connection."""
MAX_CONNECTIONS = 1024
RESERVED_DESCRIPTORS = 96
"""File descriptors kept for the store, its indexes, models and logs."""
MIN_CONNECTIONS = 16
ACCEPT_BATCH = 32
"""Connections that are accepted at once, well below `RESERVED_DESCRIPTORS`."""
QUEUED_CONNECTIONS = 2048
"""Connections that the operating system keeps until they are accepted."""
LOG_SECONDS = 1.0
"""Seconds between two log lines about missing file descriptors."""
ADDRESS_SHARE = 0.75
"""Maximum share of all connections for one address."""


def max_connections() -> int:
    """Return the maximum number of connections for the file descriptor limit of this process."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MAX_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(MIN_CONNECTIONS, min(MAX_CONNECTIONS, soft - RESERVED_DESCRIPTORS))


@dataclass
class ConnectionLimits:
    """Open connections of one server."""

    total: int = field(default_factory=max_connections)
    head_seconds: float = HEAD_SECONDS
    closed: int = 0
    """Connections that were closed because of a limit or the deadline."""
    _open: dict[LimitedProtocol, None] = field(default_factory=dict)

    @property
    def per_address(self) -> int:
        """Maximum number of connections of one address."""
        return max(1, int(self.total * ADDRESS_SHARE))

    def add(self, new: LimitedProtocol) -> None:
        """Count a connection. At a limit, close another connection, or this one if no other can be closed."""
        self._open[new] = None
        same = [one for one in self._open if one.address == new.address]
        if len(same) > self.per_address:
            self._close_one(same, new)
        elif len(self._open) > self.total:
            self._close_one(list(self._open), new)

    def discard(self, closed: LimitedProtocol) -> None:
        """Stop counting a connection."""
        self._open.pop(closed, None)

    def _close_one(self, connections: list[LimitedProtocol], new: LimitedProtocol) -> None:
        others = [one for one in connections if one is not new and one.is_receiving]
        slowest = min(others, key=lambda one: (not one.is_waiting, one.since), default=new)
        slowest.close()

    def protocol(self, *arguments: Any, **options: Any) -> LimitedProtocol:
        """Return a protocol for one connection; uvicorn calls this as a class."""
        return LimitedProtocol(*arguments, limits=self, **options)


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn with a deadline for the request head and a count of connections."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._deadline: asyncio.TimerHandle | None = None
        self.address = ""
        self.since = time.monotonic()
        """Time of the first byte of the current request, or of the connection."""

    @property
    def is_waiting(self) -> bool:
        """True if the request head is incomplete."""
        return self.conn.their_state is h11.IDLE

    @property
    def is_receiving(self) -> bool:
        """True if the head or the body of the request is incomplete."""
        return self.is_waiting or self.conn.their_state is h11.SEND_BODY

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline, and close a connection if there are too many."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._watch()
        self._limits.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline."""
        self._limits.discard(self)
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on; the deadline runs while a head is incomplete."""
        super().data_received(data)
        self._watch()

    def close(self) -> None:
        """Close the connection at once, without a response."""
        self._limits.closed += 1
        self._limits.discard(self)
        self._stop()
        self.transport.abort()

    def _watch(self) -> None:
        if not self.is_waiting or self.transport.is_closing():
            self._stop()
        elif self._deadline is None:
            self.since = time.monotonic()
            self._deadline = self.loop.call_later(self._limits.head_seconds, self._expire)

    def _expire(self) -> None:
        self._deadline = None
        if self.is_waiting:
            self.close()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class LimitedServer(uvicorn.Server):
    """uvicorn server that accepts connections in small batches and reports missing file descriptors once a second."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        self.config.backlog = ACCEPT_BATCH  # asyncio accepts as many at once
        asyncio.get_running_loop().set_exception_handler(LoopErrors())
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(QUEUED_CONNECTIONS)


class LoopErrors:
    """Exception handler of an event loop: one line a second about connections that cannot be accepted."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an error of the loop."""
        error = context.get("exception")
        if not str(context.get("message", "")).startswith("socket.accept()") or not isinstance(error, OSError):
            loop.default_exception_handler(context)
        elif (now := time.monotonic()) >= self._next:
            self._next = now + LOG_SECONDS
            logger.warning("connections wait: %s; raise the limit with ulimit -n", error.strerror)
