"""Runs the server, over standard input and output or over HTTP on this machine."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from weft.config import Settings
from weft.engine.lazy import LazyEngine
from weft.errors import ConfigError
from weft.mcp.server import Compat, make_server
from weft.mcp.stdio import claimed_stdin, iter_lines

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
NAMES = ("127.0.0.1", "localhost", "[::1]")
"""What a request may call this machine; any other Host or Origin is refused, so that no web page can get in."""

MAX_BODY = 1024 * 1024
"""Bytes of a request."""


def serve_stdio(settings: Settings, *, compat: Compat | None = None) -> None:
    """Serve the client that started this process until it closes standard input. Nothing else goes to stdout."""

    async def run(server: Server[Any], wire: int) -> None:
        lines: Any = iter_lines(wire)
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            with redirect_stdout(sys.stderr):  # what is printed would lie in a buffer until stdout is itself again
                await server.run(incoming, outgoing, server.create_initialization_options())

    with claimed_stdin() as wire, LazyEngine(settings) as standby:
        asyncio.run(run(make_server(standby, compat=compat), wire))


def serve_http(
    settings: Settings,
    *,
    host: str,
    port: int,
    compat: Compat | None = None,
    on_listen: Callable[[str], None] = lambda url: None,
) -> None:
    """
    Serve clients on this machine over streamable HTTP until interrupted; port 0 takes a free one.

    `on_listen` is told the address. Raises `ConfigError` for an address that others can reach.
    """
    import uvicorn

    with bind(host, port) as listener, LazyEngine(settings) as standby:
        app = make_server(standby, compat=compat).streamable_http_app(
            streamable_http_path=PATH, transport_security=security(), max_request_body_size=MAX_BODY
        )
        on_listen(f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}{PATH}")
        options = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=10)
        uvicorn.Server(options).run(sockets=[listener])


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this machine only. Raises `ConfigError`."""
    if host not in LOOPBACK:
        raise ConfigError(f"{host!r} can be reached from elsewhere", hint=f"use one of {', '.join(LOOPBACK)}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay off (40 ms an answer) only where the protocol is named
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # from here on clients may come; they wait until the application runs
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}", hint="choose another --port"
        ) from error
    return listener


def security() -> TransportSecuritySettings:
    """Return which Host and Origin headers are let in: those of this machine, with or without a port."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*NAMES, *(f"{name}:*" for name in NAMES)],
        allowed_origins=[f"http://{name}{port}" for name in NAMES for port in ("", ":*")],
    )
