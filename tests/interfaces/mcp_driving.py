"""Driver of the MCP server with the official client, in this process or in a separate one."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'weft-search[mcp]'")

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.lazy_engine import LazyEngine
from weft.mcp.server import make_server
from weft.records import Document

__all__ = [
    "Client",
    "MCPError",
    "StdioServerParameters",
    "ask",
    "connect",
    "drive",
    "fill",
    "parameters",
    "serving",
    "settings_for",
]

LIMIT = 600
"""Seconds after which a test that hangs fails."""

PAGES = {
    "OAuth Provider": ([], "Issues identity tokens for sign-in."),
    "Auth Service": (["OAuth Provider"], "Checks signatures. Relies on [[OAuth Provider]]."),
    "Login Flow": (["Auth Service"], "The pages where people sign in, by [[Auth Service]]."),
    "Canteen Menu": ([], "Soup on Mondays, pasta on Tuesdays."),
}


def settings_for(db, **values):
    """Return settings with the hash embedder, which needs no model."""
    given = {"store.db": str(db), "models.embedder": "hash", **values}
    return read_settings(given, environment={})


def fill(db, pages=PAGES, *, namespace="default"):
    """Index pages: by title, what it depends on and its text."""
    with Engine(settings_for(db, **{"store.namespace": namespace})) as engine:
        engine.add(
            Document(source=f"docs/{n}.md", title=title, text=text, metadata={"depends_on": needs}, form="markdown")
            for n, (title, (needs, text)) in enumerate(pages.items())
        )
    return db


@asynccontextmanager
async def connect(settings, *, compat=None, mode="auto", embedder=None):
    """Give a client of a server in this process."""
    with LazyEngine(settings, embedder=embedder) as standby:
        async with Client(make_server(standby, compat=compat), mode=mode) as client:
            yield client


def ask(settings, *calls, **options):
    """Call tools one after the other; return their answers."""

    async def steps():
        async with connect(settings, **options) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return drive(steps())


def parameters(folder, *arguments):
    """Return how a client starts `weft mcp` in a folder."""
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "HOME", "XDG_CACHE_HOME") if name in os.environ}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "weft", "mcp", *map(str, arguments)],
        cwd=str(folder),
        env={**kept, "WEFT_EMBEDDER": "hash"},
    )


def drive(steps):
    """Run steps to their end, or fail when they hang."""
    return asyncio.run(asyncio.wait_for(steps, LIMIT))


@contextmanager
def serving(folder, *arguments):
    """Run `weft mcp --http` on a free port; give its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "weft", "mcp", "--http", "--port", "0", *arguments],
        cwd=folder,
        env={**os.environ, "WEFT_EMBEDDER": "hash", "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.start()
    try:
        line = process.stderr.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp\n", line), line
        yield line.strip()
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        watchdog.cancel()
    assert (process.returncode, out) == (130, "")
