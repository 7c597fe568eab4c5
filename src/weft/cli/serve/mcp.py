"""Command `weft mcp`."""

from __future__ import annotations

from typing import Any

import click

from weft.cli.options import Session, check_single, verb
from weft.cli.terminal import say


@verb(takes_several=True)
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8642,
    show_default=True,
    help="With --http: port; 0 selects a free port.",
)
@click.option("--compat", type=click.Choice(["memory"]), help="Offer the tools of the reference memory server.")
def mcp(session: Session, over_http: bool, host: str, port: int, compat: Any) -> None:
    """
    Serve MCP clients over stdio or HTTP.

    The HTTP path is /mcp. The namespace comes from options and settings; no call can change it. With several
    (-N docs -N notes), tools that only read search all of them, the others use the first one. Once a key exists
    (`weft keys create`), every HTTP request needs one. Logs go to stderr.
    """
    try:
        from weft.mcp.serve import serve_http, serve_stdio
    except ImportError as error:
        from weft.errors import MissingExtra

        raise MissingExtra("mcp", extra="mcp") from error
    check_single(session, options=["store.db"])
    settings, namespaces = session.settings(), session.several.get("store.namespace", ())
    if session.verbosity == 0:
        import logging

        from weft.cli.log_format import log_to_stderr

        log_to_stderr(logging.WARNING)
    if not over_http:
        serve_stdio(settings, compat=compat, namespaces=namespaces)
        return
    serve_http(
        settings,
        host=host,
        port=port,
        compat=compat,
        namespaces=namespaces,
        on_listen=lambda url: say(url, err=True),
    )
