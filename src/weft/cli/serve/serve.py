"""`weft serve`."""

from __future__ import annotations

import importlib.util

import click

from weft.cli.options import Session, verb
from weft.cli.progress import FetchBar
from weft.cli.terminal import say
from weft.config import is_missing
from weft.errors import MissingExtra


@verb()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; others need a key.")
@click.option("--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="0 for any free one.")
def serve(session: Session, host: str, port: int) -> None:
    """
    Answer over HTTP until interrupted; /docs at that address shows the routes.

    Without keys this machine alone may ask, about the namespace in force. From the first key on (`weft keys create`)
    everybody needs one, and an address that others can reach is refused without any.
    """
    for package in ("fastapi", "uvicorn", "python_multipart"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, extra="serve")
    from weft.engine.namespaces import Engines
    from weft.server import run

    settings = session.settings()
    is_new = is_missing(settings.store.db)
    engines = Engines(settings, on_fetch=FetchBar() if session.verbosity >= 0 else None)
    if is_new:
        say(f"note: {settings.store.db!r} was not there: it is new and empty", err=True)
    try:
        run.serve(engines, host=host, port=port, on_start=lambda address: _tell(session, address))
    finally:
        engines.close()


def _tell(session: Session, address: str) -> None:
    if session.verbosity >= 0:
        say(f"listening at {address} (routes: {address}/docs); Ctrl-C ends", err=True)
