"""Command `weft serve`."""

from __future__ import annotations

import click

from weft.cli.options import Session, verb
from weft.cli.progress import FetchBar
from weft.cli.terminal import say


@verb()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; a non-loopback address requires a key.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="Port; 0 selects a free port."
)
def serve(session: Session, host: str, port: int) -> None:
    """
    Serve the HTTP interface and the web page.

    /docs lists the routes. Without keys only this machine has access, to the current namespace. Once a key exists
    (`weft keys create`), every client needs one. An address reachable from other machines requires a key.
    """
    from importlib.util import find_spec

    from weft.config import is_missing
    from weft.errors import MissingExtra

    for package in ("fastapi", "uvicorn", "python_multipart"):
        if find_spec(package) is None:
            raise MissingExtra(package, extra="serve")
    from weft.engine.namespaces import Engines
    from weft.server import run

    settings = session.settings()
    is_new = is_missing(settings.store.db)
    engines = Engines(
        settings,
        on_fetch=FetchBar() if session.verbosity >= 0 else None,
    )
    if is_new:
        say(f"note: created an empty store {settings.store.db!r}", err=True)
    try:
        run.serve(engines, host=host, port=port, on_start=lambda address: _report(session, address))
    finally:
        engines.close()


def _report(session: Session, address: str) -> None:
    if session.verbosity >= 0:
        say(f"listening at {address} (routes: {address}/docs); Ctrl-C stops", err=True)
