"""Command line of the MCP inspector, an independent client, calls every tool."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_driving import LIMIT, PAGES, fill, parameters, serving, settings_for
from memory_scenario import ALICE, BOB, KNOWS, observed, unsaid

from weft.engine.engine import Engine
from weft.tools.definitions import TOOLS
from weft.tools.reference_memory_definitions import MEMORY_TOOLS

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


def drive_every_tool(inspector, url, calls):
    """Call every tool that is listed, in the order given; return the answers, each one no error, with text."""
    target = [url, "--transport", "http"]
    listed = [tool["name"] for tool in inspect(inspector, target, "tools/list")["tools"]]
    assert sorted(calls) == sorted(listed)  # a new tool must be given a call here
    answers = {}
    for name, arguments in calls.items():
        given = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in arguments.items()]
        words = ["--tool-name", name, *(["--tool-arg", *given] if given else [])]
        answer = inspect(inspector, target, "tools/call", *words)
        assert not answer.get("isError"), (name, answer)
        assert answer["content"][0]["text"]
        answers[name] = answer["structuredContent"]
    return answers


@pytest.mark.parametrize("arguments, tools", [([], TOOLS), (["--compat", "memory"], MEMORY_TOOLS)])
def test_the_inspector_lists_the_tools_over_stdio(inspector, tmp_path, arguments, tools):
    """It starts the server itself."""
    how = parameters(tmp_path, *arguments)
    environment = [word for name, value in how.env.items() for word in ("-e", f"{name}={value}")]
    found = inspect(inspector, [*environment, how.command, *how.args], "tools/list", cwd=tmp_path)

    assert [tool["name"] for tool in found["tools"]] == [tool.name for tool in tools]


def test_the_inspector_drives_every_tool_over_http(inspector, tmp_path):
    """Reading and writing, in the shape that the definitions promise."""
    db = fill(tmp_path / "weft.db")
    with Engine(settings_for(db)) as engine:
        kept, gone = (engine.memory.add("user", "drinks", value=value).fact.id for value in ("tea", "coffee"))
        document = engine.get("docs/1.md")[0].id
    calls = {
        "memory_search": {"query": "Auth Service", "maxResults": 1},
        "memory_get": {"id": document},
        "memory_related": {"id": document},
        "memory_timeline": {"when": "last week"},
        "memory_add": {"subject": "user", "predicate": "likes", "value": "soup"},
        "memory_confirm": {"id": kept},
        "memory_forget": {"ids": [gone]},
        "entity_lookup": {"name": "Auth Service"},
        "graph_neighbours": {"name": "Auth Service"},
        "graph_path": {"source": "Login Flow", "target": "OAuth Provider"},
        "memory_stats": {},
        "search": {"query": "Auth Service"},
        "fetch": {"id": document},
    }
    with serving(tmp_path) as url:
        answers = drive_every_tool(inspector, url, calls)

    assert answers["memory_stats"]["documents"] == len(PAGES)
    assert answers["memory_confirm"]["fact"]["status"] == "confirmed"
    assert answers["memory_forget"] == {"forgotten": 1}
    assert len(answers["graph_path"]["path"]) == 2


def test_the_inspector_drives_the_tools_of_the_reference_server(inspector, tmp_path):
    """All nine of them."""
    calls = {
        "create_entities": {"entities": [ALICE, BOB]},
        "create_relations": {"relations": [KNOWS]},
        "add_observations": observed("Bob", "likes coffee"),
        "search_nodes": {"query": "coffee"},
        "open_nodes": {"names": ["Alice"]},
        "delete_observations": unsaid("Bob", "likes coffee"),
        "delete_relations": {"relations": [KNOWS]},
        "delete_entities": {"entityNames": ["Alice"]},
        "read_graph": {},
    }
    with serving(tmp_path, "--compat", "memory") as url:
        answers = drive_every_tool(inspector, url, calls)

    assert answers["create_entities"] == {"entities": [ALICE, BOB]}
    assert [entity["name"] for entity in answers["search_nodes"]["entities"]] == ["Bob"]
    assert answers["open_nodes"]["relations"] == [KNOWS]
    assert answers["read_graph"] == {"entities": [BOB], "relations": []}
