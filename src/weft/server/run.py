"""Runs the HTTP door: opens the port, answers until it is asked to stop, finishes writes."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.engine.warmer import Warmer
from weft.errors import ConfigError, InputError
from weft.server.app import make_app
from weft.server.state import Door, is_loopback

KEEP_ALIVE = 75
"""Seconds an idle connection stays open: longer than clients keep one, so that they are the ones to close it."""


class Server(uvicorn.Server):
    """A server that tells its streams to end before it waits for them, and returns when it was asked to stop."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; interrupted a second time, without waiting. The signal ends here, so that the store is closed."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams, wait for requests, then let the application finish its writes."""
        app = self.config.app
        if isinstance(app, FastAPI):
            door: Door = app.state.door
            door.jobs.closing.set()
        await super().shutdown(sockets)


def check_address(host: str, engines: Engines) -> None:
    """Raise `ConfigError` where others could come in and there is no key that they would need."""
    if not is_loopback(host) and not Keyring(engines.database).opens():
        raise ConfigError(
            f"{host!r} can be reached from other machines, and there is no key",
            hint="weft keys create NAME [--write], or leave --host out to stay on this machine",
        )


def open_port(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises `InputError` where the port is taken or the address is not ours."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"cannot listen at {host}:{port}: {error}", hint="choose another --port or --host") from error
    # asyncio does this for sockets it made itself; without it an answer in two packets waits 40 ms for the first
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def serve(engines: Engines, *, host: str, port: int, on_start: Callable[[str], None] = lambda address: None) -> None:
    """Answer at an address until interrupted. `on_start` is told the address when requests will be taken."""
    check_address(host, engines)
    listening = open_port(host, port)
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        make_app(engines, host=host),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # what a client says of its own address is not believed
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=engines.settings.server.shutdown_seconds,
    )
    with Warmer(engines.engine(engines.settings.store.namespace)):
        on_start(f"http://{shown}:{listening.getsockname()[1]}")
        Server(config).run(sockets=[listening])
