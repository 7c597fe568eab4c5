"""HTTP server process: port, uvicorn, graceful shutdown."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from weft.connection_limits import ConnectionLimits, LimitedServer
from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.warmer import Warmer
from weft.errors import ConfigError, InputError
from weft.server.app import make_app
from weft.server.state import ServerState, is_loopback

KEEP_ALIVE_SECONDS = 75
"""Idle seconds before a connection is closed. Common clients have a shorter limit and close first."""


class Server(LimitedServer):
    """Server that ends event streams before it waits for requests, and returns after a signal."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully; at a second SIGINT stop at once. The signal is not re-raised, so the store is closed."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams, wait for requests, then let the application complete its writes."""
        app = self.config.app
        if isinstance(app, FastAPI):
            state: ServerState = app.state.weft
            state.jobs.closing.set()
        await super().shutdown(sockets)


def check_address(host: str, engines: Engines) -> None:
    """Raise `ConfigError` for a non-loopback address while no key exists."""
    if not is_loopback(host) and not Keyring(engines.database).opens():
        raise ConfigError(
            f"{host!r} is reachable from other machines, but no key exists",
            hint="create a key with weft keys create NAME [--write], or omit --host to listen on loopback",
        )


def open_port(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises `InputError` if the port is in use or the address is not local."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"cannot listen on {host}:{port}: {error}", hint="pass another --port or --host") from error
    # asyncio sets this only on its own sockets; without it, a response in two packets is delayed by 40 ms.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def serve(engines: Engines, *, host: str, port: int, on_start: Callable[[str], None] = lambda address: None) -> None:
    """Serve until interrupted. `on_start` receives the URL once connections are accepted."""
    check_address(host, engines)
    listening = open_port(host, port)
    shown = f"[{host}]" if ":" in host else host
    parsers = ParserPool(engines.settings.load.parsers)
    config = uvicorn.Config(
        make_app(engines, parsers=parsers, host=host),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # clients could forge their address
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        http=ConnectionLimits().protocol,  # type: ignore[arg-type]  # uvicorn only calls it
        timeout_graceful_shutdown=engines.settings.server.shutdown_seconds,
    )
    with parsers, Warmer(engines.engine(engines.settings.store.namespace)):
        on_start(f"http://{shown}:{listening.getsockname()[1]}")
        Server(config).run(sockets=[listening])
