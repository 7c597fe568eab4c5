"""The command line of the MCP inspector, a client that others wrote, drives every tool."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp_driving import LIMIT, PAGES, fill, parameters, serving, settings_for

from weft.engine.engine import Engine
from weft.engine.tool_definitions import TOOLS

pytestmark = pytest.mark.slow

INSTALL = "make test-slow installs it where there is npm, or: npm install --global @modelcontextprotocol/inspector"


@pytest.fixture(scope="module")
def inspector():
    """The path of the inspector, or a skip that says how to get it."""
    beside = Path(sys.prefix) / "inspector" / "node_modules" / ".bin" / "mcp-inspector"
    found = str(beside) if beside.exists() else shutil.which("mcp-inspector")
    if not found or not shutil.which("node"):
        pytest.skip(f"the MCP inspector is not installed: {INSTALL}")
    return found


def inspect(inspector, target, method, *arguments, **options):
    """Run one request; return the answer."""
    done = subprocess.run(
        [inspector, "--cli", *target, "--method", method, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_the_tools_over_stdio(inspector, tmp_path):
    """It starts the server itself."""
    fill(tmp_path / "weft.db")
    how = parameters(tmp_path)
    environment = [word for name, value in how.env.items() for word in ("-e", f"{name}={value}")]
    found = inspect(inspector, [*environment, how.command, *how.args], "tools/list", cwd=tmp_path)

    assert [tool["name"] for tool in found["tools"]] == [tool.name for tool in TOOLS]


def test_the_inspector_drives_every_tool_over_http(inspector, tmp_path):
    """Reading and writing, in the shape that the definitions promise."""
    db = fill(tmp_path / "weft.db")
    with Engine(settings_for(db)) as engine:
        kept, gone = (engine.memory.add("user", "drinks", value=value).fact.id for value in ("tea", "coffee"))
        document = engine.get("docs/1.md")[0].id
    calls = {
        "memory_search": {"query": "Auth Service", "maxResults": 1},
        "memory_get": {"id": document},
        "memory_add": {"subject": "user", "predicate": "likes", "value": "soup"},
        "memory_confirm": {"id": kept},
        "memory_forget": {"ids": json.dumps([gone])},
        "entity_lookup": {"name": "Auth Service"},
        "graph_neighbours": {"name": "Auth Service"},
        "graph_path": {"source": "Login Flow", "target": "OAuth Provider"},
        "memory_stats": {},
        "search": {"query": "Auth Service"},
        "fetch": {"id": document},
    }
    assert sorted(calls) == sorted(tool.name for tool in TOOLS)

    with serving(tmp_path) as url:

        def call(name):
            given = [f"{key}={value}" for key, value in calls[name].items()]
            arguments = ["--tool-name", name, *(["--tool-arg", *given] if given else [])]
            return inspect(inspector, [url, "--transport", "http"], "tools/call", *arguments)

        with ThreadPoolExecutor(2) as pool:
            answers = dict(zip(calls, pool.map(call, calls), strict=True))

    for name, answer in answers.items():
        assert not answer.get("isError"), (name, answer)
        assert answer["content"][0]["text"]
    assert answers["memory_stats"]["structuredContent"]["documents"] == len(PAGES)
    assert answers["memory_confirm"]["structuredContent"]["fact"]["status"] == "confirmed"
    assert answers["memory_forget"]["structuredContent"] == {"forgotten": 1}
    assert len(answers["graph_path"]["structuredContent"]["path"]) == 2
