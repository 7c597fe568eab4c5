"""MCP server from the side of a client: every tool, resource and prompt, over stdio and over HTTP."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import jsonschema
import pytest
from mcp_driving import LIMIT, PAGES, Client, connect, drive, fill, parameters, serving, settings_for

from weft.engine.adapters import open_counter
from weft.mcp.serve import bind
from weft.text.tokens import EstimatingCounter
from weft.tools.definitions import TOOLS

NAMES = [tool.name for tool in TOOLS]


async def call(client, tool, **arguments):
    """Call a tool; return what it says in values, once its text is seen to be there."""
    answer = await client.call_tool(tool, arguments)
    assert answer.content[0].text
    assert not answer.is_error, answer.content[0].text
    return answer.structured_content


async def drive_every_tool(client):
    """Call each tool in a way that has an answer; return the answers by name: those of all tools that are listed."""
    seen = {}
    seen["memory_stats"] = await call(client, "memory_stats")
    seen["memory_search"] = await call(
        client, "memory_search", query="Which service relies on OAuth Provider?", maxResults=2
    )
    seen["memory_get"] = await call(client, "memory_get", id=seen["memory_search"]["results"][0]["citation"])
    seen["memory_related"] = await call(client, "memory_related", id=seen["memory_get"]["id"])
    seen["memory_timeline"] = await call(client, "memory_timeline", when="last week")
    seen["entity_lookup"] = await call(client, "entity_lookup", name="auth service")
    seen["graph_neighbours"] = await call(client, "graph_neighbours", name="Auth Service", hops=2)
    seen["graph_path"] = await call(client, "graph_path", source="Login Flow", target="OAuth Provider")
    seen["search"] = await call(client, "search", query="OAuth Provider identity tokens")
    seen["fetch"] = await call(client, "fetch", id=seen["search"]["results"][0]["id"])
    seen["memory_add"] = await call(client, "memory_add", subject="user", predicate="prefers", value="green tea")
    fact = seen["memory_add"]["fact"]["id"]
    seen["memory_confirm"] = await call(client, "memory_confirm", id=fact)
    seen["memory_forget"] = await call(client, "memory_forget", ids=[fact])
    assert sorted(seen) == sorted(tool.name for tool in (await client.list_tools()).tools)
    return seen


def check_every_answer(seen):
    assert sorted(seen) == sorted(NAMES)
    for tool in TOOLS:
        jsonschema.validate(seen[tool.name], tool.output_schema)
    assert seen["memory_stats"]["documents"] == len(PAGES)
    assert len(seen["memory_search"]["results"]) == 2
    assert seen["memory_search"]["entities"] == ["OAuth Provider"]
    assert seen["memory_get"]["passages"][0]["id"] == seen["memory_search"]["results"][0]["id"]
    assert seen["memory_related"]["related"][0]["relations"]
    assert seen["memory_timeline"] == {"days": [], "truncated": False}
    assert {step["target"] for step in seen["entity_lookup"]["relations"]} >= {"OAuth Provider", "Login Flow"}
    assert {item["name"] for item in seen["graph_neighbours"]["neighbours"]} >= {"OAuth Provider", "Login Flow"}
    assert [step["target"] for step in seen["graph_path"]["path"]] == ["Auth Service", "OAuth Provider"]
    assert set(seen["search"]["results"][0]) == {"id", "title", "url"}
    assert set(seen["fetch"]) == {"id", "title", "text", "url", "metadata"}
    assert seen["fetch"]["text"] in [text for _, text in PAGES.values()]
    assert seen["memory_add"]["outcome"] == "added"
    assert seen["memory_confirm"]["fact"]["status"] == "confirmed"
    assert seen["memory_forget"] == {"forgotten": 1}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_over_stdio(tmp_path, mode):
    """The official client starts `weft mcp` and drives all of it, with the handshake and without."""
    fill(tmp_path / "weft.db")

    async def steps():
        async with Client(parameters(tmp_path), mode=mode) as client:
            return await drive_every_tool(client)

    check_every_answer(drive(steps()))


def post(url, *, padding=0, **headers):
    """Send a ping with these headers, and so many blanks; return the status."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    known = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", parts.path, body + " " * padding, {**known, **headers})
    status = connection.getresponse().status
    connection.close()
    return status


def test_every_tool_over_http(tmp_path):
    """At /mcp on this machine; a request that another site had a browser send is refused."""
    fill(tmp_path / "weft.db")

    async def steps(url):
        async with Client(url) as client:
            return await drive_every_tool(client)

    with serving(tmp_path) as url:
        check_every_answer(drive(steps(url)))
        port = urlsplit(url).port
        assert post(url, Host="evil.example") == 421
        assert post(url, Host=f"evil.example:{port}") == 421
        assert post(url, Origin="https://evil.example") == 403
        assert post(url, Origin=f"http://localhost:{port}") not in (403, 413, 421)
        assert post(url, padding=2_000_000) == 413


def test_only_this_machine_is_served(weft):
    """Another address is refused, with a way out."""
    refused = weft("mcp", "--http", "--host", "0.0.0.0", expect=2)

    assert "0.0.0.0" in refused.err
    assert "127.0.0.1" in refused.err


def test_answers_over_http_are_not_held_back():
    """The socket says that it is TCP, without which asyncio leaves Nagle's delay on."""
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


HELLO = {
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


NOISY = """
import os, subprocess, sys, warnings
from weft.cli.main import main
from weft.engine.engine import Engine

def stats(engine):
    print("noise of a library")
    os.write(1, b"noise of a library in C\\n")
    subprocess.run([sys.executable, "-c", "print('noise of a child')"], check=True)
    warnings.warn("noise of a warning", stacklevel=1)
    raise RuntimeError("a crash")

Engine.stats = stats
sys.argv[0] = "weft"
main()
"""
"""Runs `weft` with a tool that writes to stdout in every way there is, and then crashes."""


def start(folder, *arguments, how=("-m", "weft")):
    """Start `weft mcp` with pipes; it is killed should it hang."""
    process = subprocess.Popen(
        [sys.executable, *how, "mcp", *arguments],
        cwd=folder,
        env={**os.environ, "WEFT_EMBEDDER": "hash", "PYTHONUTF8": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.start()
    return process, watchdog


def send(process, request):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
    process.stdin.flush()


def test_an_interrupt_ends_the_server(tmp_path):
    """The server ends even if its client is silent and keeps the connection open."""
    process, watchdog = start(tmp_path)
    send(process, HELLO)
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGINT)
    code = process.wait()
    watchdog.cancel()
    rest, logs = process.communicate()

    assert (code, rest) == (130, "")
    assert "Traceback" not in logs


def test_stdout_holds_nothing_but_the_protocol(tmp_path):
    """Logs, prints, warnings and crashes of a tool go to stderr, and the server keeps running."""
    fill(tmp_path / "weft.db")
    process, watchdog = start(tmp_path, "-vv", how=("-c", NOISY))
    calls = {2: "memory_stats", 3: "memory_search", 4: "no_such_tool", 5: "memory_search"}
    given = {3: {"query": ""}, 5: {"query": "sign-in"}}
    requests = [
        {"id": n, "method": "tools/call", "params": {"name": calls[n], "arguments": given.get(n, {})}} for n in calls
    ]
    answers = []
    for request in [HELLO, {"method": "notifications/initialized"}, *requests]:
        send(process, request)
        if "id" in request:
            answers.append(json.loads(process.stdout.readline()))
    rest, logs = process.communicate()
    watchdog.cancel()

    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5]
    assert answers[0]["result"]["serverInfo"]["name"] == "weft"
    assert answers[1]["result"]["isError"] and "RuntimeError" in answers[1]["result"]["structuredContent"]["warning"]
    assert answers[2]["result"]["isError"]
    assert "no_such_tool" in answers[3]["error"]["message"]
    assert answers[4]["result"]["structuredContent"]["results"]
    assert rest == ""
    for noise in ("of a library\n", "of a library in C\n", "of a child\n", "of a warning"):
        assert f"noise {noise}" in logs
    assert "a crash" in logs
    assert process.returncode == 0


@pytest.mark.parametrize("compat", [None, "memory"])
def test_the_list_of_tools_costs_little(tmp_path, compat):
    """Under 4,000 tokens, and every tool says all that clients ask for."""

    async def steps():
        async with connect(settings_for(tmp_path / "weft.db"), compat=compat) as client:
            return await client.list_tools()

    listed = drive(steps())
    text = listed.model_dump_json(by_alias=True, exclude_none=True)

    for counter in (open_counter(settings_for("x.db")), EstimatingCounter()):  # a model's tokenizer where one is there
        assert counter.count(text) < 4000
    for tool in listed.tools:
        hints = tool.annotations.model_dump(by_alias=True, exclude_none=True)
        assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool.title and len(tool.description) > 30
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert '"type": [' not in json.dumps([tool.input_schema, tool.output_schema])  # some providers know no unions


def test_a_description_names_nothing_that_is_not_in_the_answer():
    """Fields of `weft query --json` that MCP omits are not described."""
    (search,) = [tool for tool in TOOLS if tool.name == "memory_search"]

    assert "`context`" not in search.description
    assert "memory_get" in search.description


def test_clients_are_told_which_tools_write():
    """Clients can then ask their user first."""
    hints = {tool.name: tool.annotations for tool in TOOLS}

    assert {name for name in NAMES if not hints[name]["readOnlyHint"]} == {
        "memory_add",
        "memory_confirm",
        "memory_forget",
    }
    assert [name for name in NAMES if hints[name]["destructiveHint"]] == ["memory_forget"]
    assert not any(hints[name]["openWorldHint"] for name in NAMES)


def test_documents_and_entities_are_resources(tmp_path):
    """Listed in pages, readable by address, with templates that say how addresses are made."""
    pages = {f"Page {n:02}": ([], f"Text number {n}.") for n in range(55)}
    fill(tmp_path / "weft.db", {**pages, **PAGES})

    async def steps():
        async with connect(settings_for(tmp_path / "weft.db")) as client:
            found, cursor = [], None
            while True:
                page = await client.list_resources(cursor=cursor)
                assert len(page.resources) <= 50
                found += page.resources
                cursor = page.next_cursor
                if cursor is None:
                    break
            templates = await client.list_resource_templates()
            texts = {r.title: (await client.read_resource(r.uri)).contents[0].text for r in found if r.title in PAGES}
            return found, templates.resource_templates, texts

    found, templates, texts = drive(steps())
    documents = [item for item in found if item.uri.startswith("weft://document/")]
    entities = {item.name for item in found if item.uri.startswith("weft://entity/")}

    assert {item.title for item in documents} == {*pages, *PAGES}
    assert entities >= set(PAGES)
    assert len({item.uri for item in found}) == len(found)
    assert json.loads(texts["Auth Service"])["relations"]
    assert [template.uri_template for template in templates] == ["weft://document/{id}", "weft://entity/{name}"]


def test_a_prompt_teaches_when_to_search(tmp_path):
    """It names tools that exist, and carries the question."""

    async def steps():
        async with connect(settings_for(tmp_path / "weft.db")) as client:
            (prompt,) = (await client.list_prompts()).prompts
            return await client.get_prompt(prompt.name, {"question": "Why tea?"})

    text = drive(steps()).messages[0].content.text

    assert text.endswith("The question: Why tea?\n")
    assert set(re.findall(r"\b(?:memory|graph|entity)_\w+", text)) <= set(NAMES)
