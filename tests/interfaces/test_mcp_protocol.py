"""The newest revision of the protocol that the SDK knows is spoken, and older clients are served too."""

from pathlib import Path

import anyio
import pytest
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_driving import connect, drive, fill, settings_for
from mcp_types import JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from weft.engine.lazy_engine import LazyEngine
from weft.mcp.server import make_server

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
NEWEST = KNOWN_PROTOCOL_VERSIONS[-1]


@pytest.mark.parametrize("mode, spoken", [("auto", NEWEST), (NEWEST, NEWEST), ("legacy", LATEST_HANDSHAKE_VERSION)])
def test_the_official_client_speaks_the_newest_revision_of_its_kind(tmp_path, mode, spoken):
    """Without the handshake by default; with it, the newest revision that has one. Calls work in both."""

    async def steps():
        async with connect(settings_for(fill(tmp_path / "weft.db")), mode=mode) as client:
            return client.protocol_version, (await client.call_tool("memory_stats", {})).is_error

    assert drive(steps()) == (spoken, False)


@pytest.mark.parametrize("offered", [*HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01"])
def test_the_handshake_is_negotiated_down(tmp_path, offered):
    """The server repeats a known revision; to an unknown one it offers the newest with a handshake."""
    chosen = offered if offered in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION

    assert drive(greet(settings_for(tmp_path / "weft.db"), offered)) == chosen


async def greet(settings, offered):
    """Send `initialize`; return the revision of the reply."""
    given = {"protocolVersion": offered, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with LazyEngine(settings) as standby:
        server = make_server(standby)
        async with (
            create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
            anyio.create_task_group() as group,
        ):
            group.start_soon(server.run, server_read, server_write, server.create_initialization_options())
            await write.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=given)))
            reply = (await read.receive()).message
            group.cancel_scope.cancel()
    return reply.result["protocolVersion"]


def test_the_page_lists_the_revisions():
    """docs/mcp.md has every revision that the SDK knows."""
    assert all(f"| `{revision}` |" in PAGE for revision in KNOWN_PROTOCOL_VERSIONS)
