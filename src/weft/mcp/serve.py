"""MCP server process: stdio, or streamable HTTP on loopback."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import JSONRPCError

from weft.config import Settings
from weft.engine.lazy_engine import LazyEngine
from weft.errors import ConfigError
from weft.mcp.server import Compat, make_server
from weft.mcp.stdio import claimed_stdin, iter_messages

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOST_NAMES = ("127.0.0.1", "localhost", "[::1]")
"""Accepted Host and Origin names. Other names are refused, which prevents DNS rebinding by web pages."""

MAX_BODY_BYTES = 1024 * 1024


def serve_stdio(settings: Settings, *, compat: Compat | None = None, namespaces: Sequence[str] = ()) -> None:
    """Serve the client that started this process until it closes standard input. Only messages go to stdout."""

    async def run(server: Server[Any], wire: int) -> None:
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def reject(error: JSONRPCError) -> None:
            await (await ready).send(SessionMessage(error))

        lines: Any = iter_messages(wire, reject)
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            ready.set_result(outgoing)
            with redirect_stdout(sys.stderr):  # printed text would be buffered until stdout is restored
                await server.run(incoming, outgoing, server.create_initialization_options())

    with claimed_stdin() as wire, LazyEngine(settings, namespaces=namespaces) as standby:
        asyncio.run(run(make_server(standby, compat=compat), wire))


def serve_http(
    settings: Settings,
    *,
    host: str,
    port: int,
    compat: Compat | None = None,
    namespaces: Sequence[str] = (),
    on_listen: Callable[[str], None] = lambda url: None,
) -> None:
    """
    Serve clients on this machine over streamable HTTP until interrupted; port 0 selects a free port.

    Once the store has a key, every request needs one for all `namespaces`. `on_listen` receives the URL. Raises
    `ConfigError` for a non-loopback address.
    """
    import uvicorn

    from weft.connection_limits import ConnectionLimits, LimitedServer
    from weft.mcp.key_check import KeyCheck

    with bind(host, port) as listener, LazyEngine(settings, namespaces=namespaces) as standby:
        app = make_server(standby, compat=compat).streamable_http_app(
            streamable_http_path=PATH, transport_security=security(), max_request_body_size=MAX_BODY_BYTES
        )
        on_listen(f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}{PATH}")
        options = uvicorn.Config(
            KeyCheck(app, standby=standby),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=10,
            http=ConnectionLimits().protocol,  # type: ignore[arg-type]  # uvicorn only calls it
        )
        LimitedServer(options).run(sockets=[listener])


def bind(host: str, port: int) -> socket.socket:
    """Return a listening loopback socket. Raises `ConfigError`."""
    if host not in LOOPBACK:
        raise ConfigError(
            f"cannot listen on {host!r}, which other machines can reach",
            hint=f"set --host to one of {', '.join(LOOPBACK)}",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is given; without it a response is delayed by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # clients can connect now and wait until the application runs
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}", hint="pass another --port"
        ) from error
    return listener


def security() -> TransportSecuritySettings:
    """Return the accepted Host and Origin headers: loopback names with or without a port."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*HOST_NAMES, *(f"{name}:*" for name in HOST_NAMES)],
        allowed_origins=[f"http://{name}{port}" for name in HOST_NAMES for port in ("", ":*")],
    )
