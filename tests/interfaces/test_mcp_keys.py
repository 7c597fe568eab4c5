"""`weft mcp --http` with keys: the rule of `weft serve` for every tool and resource."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp_driving import Client, drive, fill, serving, settings_for
from test_mcp import call, drive_every_tool

from weft.engine.api_keys import Keyring
from weft.engine.engine import Engine
from weft.engine.lazy_engine import LazyEngine
from weft.errors import SchemaMismatch
from weft.mcp.key_check import KeyCheck
from weft.mcp.serve import PATH, security
from weft.mcp.server import make_server
from weft.tools.definitions import TOOLS
from weft.tools.reference_memory_definitions import MEMORY_TOOLS

pytestmark = pytest.mark.hostile

URL = f"http://localhost{PATH}"
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def db(tmp_path):
    """A store with two namespaces and no key."""
    fill(tmp_path / "weft.db")
    return fill(tmp_path / "weft.db", {"Diary": ([], "A secret walk in the harbour.")}, namespace="private")


def make_key(db, *namespaces, access="read"):
    with Engine(settings_for(db)) as engine:
        return Keyring(engine.database).create("k", namespaces=namespaces or ["default"], access=access)[1]


@asynccontextmanager
async def application(db, *, compat=None, standby=None):
    """Yield the application of `weft mcp --http`, running in this process."""
    with standby or LazyEngine(settings_for(db)) as opened:
        inner = make_server(opened, compat=compat).streamable_http_app(
            streamable_http_path=PATH, transport_security=security()
        )
        async with inner.router.lifespan_context(inner):
            yield KeyCheck(inner, standby=opened)


def send(db, *keys, standby=None, header="Authorization"):
    """Greet the server once per key; return status codes."""

    async def steps():
        found = []
        async with application(db, standby=standby) as app:
            for key in keys:
                given = {} if key is None else {header: f"Bearer {key}" if header == "Authorization" else key}
                async with httpx.AsyncClient(transport=httpx.ASGITransport(app), headers={**ACCEPT, **given}) as client:
                    found.append((await client.post(URL, json=GREETING)).status_code)
        return found

    return drive(steps())


def test_without_keys_no_key_is_needed(db, tmp_path):
    """A store that does not exist has none either."""
    assert send(db, None) == [200]
    assert send(tmp_path / "missing.db", None) == [200]


def test_with_keys_every_request_needs_one_of_its_namespace(db):
    """A revoked key, a wrong one, one of another namespace and a malformed one are refused."""
    read, other = make_key(db), make_key(db, "private", access="admin")
    both = make_key(db, "default", "private", access="write")

    assert send(db, None, read, both, other, read[:-1] + "x", "") == [401, 200, 200, 403, 401, 401]
    assert send(db, None, read, other, header="X-API-Key") == [401, 200, 403]
    with Engine(settings_for(db)) as engine:
        ring = Keyring(engine.database)
        for key in ring.all():
            ring.revoke(key.id)
    assert send(db, None, read) == [401, 401]


def test_a_key_made_while_the_server_runs_counts_at_once(db):
    """Also in a session that was opened without one."""

    async def steps():
        async with (
            application(db) as app,
            httpx.AsyncClient(transport=httpx.ASGITransport(app), headers=ACCEPT) as client,
        ):
            opened = await client.post(URL, json=GREETING)
            session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            before = await client.post(URL, json=listing, headers=session)
            key = await asyncio.to_thread(make_key, db)
            after = await client.post(URL, json=listing, headers=session)
            foreign = await client.post(URL, json=listing, headers={**session, "Authorization": f"Bearer {key}"})
            return opened.status_code, before.status_code, after.status_code, foreign.status_code

    assert drive(steps()) == (200, 200, 401, 404)


@asynccontextmanager
async def client_with(app, key, *, mode):
    """Yield the official client with a key."""
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(app), headers=headers, timeout=60) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_write_key_may_call_every_tool(db, mode):
    """It sees the namespace of the server alone."""
    key = make_key(db, "default", "private", access="write")

    async def steps():
        async with application(db) as app, client_with(app, key, mode=mode) as client:
            seen = await drive_every_tool(client)
            return seen, await call(client, "memory_search", query="secret walk in the harbour")

    seen, found = drive(steps())
    assert sorted(seen) == sorted(tool.name for tool in TOOLS)
    assert "Diary" not in str(found)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("compat, definitions", [(None, TOOLS), ("memory", MEMORY_TOOLS)])
def test_a_read_key_may_call_no_tool_that_writes(db, mode, compat, definitions):
    """Such tools are not listed; resources and prompts are for reading."""
    key = make_key(db)

    async def steps():
        async with application(db, compat=compat) as app, client_with(app, key, mode=mode) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            refused = {
                tool.name for tool in definitions if "read-only" in str((await client.call_tool(tool.name, {})).content)
            }
            uris = [found.uri for found in (await client.list_resources()).resources]
            texts = [str(await client.read_resource(uri)) for uri in uris]
            return listed, refused, texts, await client.list_prompts()

    listed, refused, texts, prompts = drive(steps())
    writing = {tool.name for tool in definitions if tool.writes}
    assert writing and refused == writing
    assert listed == {tool.name for tool in definitions} - writing
    assert any("identity tokens" in text for text in texts) and not any("secret walk" in text for text in texts)
    assert prompts.prompts
    with Engine(settings_for(db)) as engine:
        assert {fact.source for fact in engine.memory.list()} == {"file"}


def test_the_command_checks_keys(db, tmp_path):
    """The answer names the remedy."""
    key = make_key(db)
    with serving(tmp_path) as url:
        refused = httpx.post(url, json=GREETING, headers=ACCEPT)
        accepted = httpx.post(url, json=GREETING, headers={**ACCEPT, "Authorization": f"Bearer {key}"})

    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "weft keys create" in refused.json()["hint"]
    assert accepted.status_code == 200


def test_a_session_belongs_to_its_key(db):
    """Another valid key cannot use it."""
    mine, other = make_key(db, access="write"), make_key(db, access="write")

    async def steps():
        async with (
            application(db) as app,
            httpx.AsyncClient(transport=httpx.ASGITransport(app), headers=ACCEPT) as client,
        ):
            headers = {"Authorization": f"Bearer {mine}"}
            opened = await client.post(URL, json=GREETING, headers=headers)
            session = opened.headers["Mcp-Session-Id"]
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            return [
                (
                    await client.post(
                        URL, json=listing, headers={"Authorization": f"Bearer {key}", "Mcp-Session-Id": session}
                    )
                ).status_code
                for key in (mine, other)
            ]

    assert drive(steps()) == [200, 404]


def test_nothing_is_served_if_the_keys_cannot_be_read(db):
    """The store may have keys that nobody can see."""

    class Broken(LazyEngine):
        def engine(self, *, writes=False):
            raise SchemaMismatch("a newer schema", hint="upgrade")

    assert send(db, None, "x", standby=Broken(settings_for(db))) == [503, 503]
