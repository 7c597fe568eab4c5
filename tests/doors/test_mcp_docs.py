"""docs/mcp.md: what it tells clients to start can be started, and its transcript is what happens."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from mcp_driving import connect, drive

from weft.cli.main import weft
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.memory_graph_definitions import MEMORY_TOOLS
from weft.engine.tool_definitions import TOOLS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HOME = Path(__file__).parents[2]
PAGE = (HOME / "docs" / "mcp.md").read_text("utf-8")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def arguments(value):
    """Return every list under `args` in a settings file."""
    if not isinstance(value, dict):
        return []
    inner = [found for item in value.values() for found in arguments(item)]
    return [value["args"], *inner] if "args" in value else inner


def test_clients_are_told_commands_that_exist():
    """Each settings file parses, and `weft` takes the arguments it gives."""
    files = [json.loads(text) for text in blocks("json")] + [tomllib.loads(text) for text in blocks("toml")]
    given = [found for file in files for found in arguments(file)]
    given += [
        re.sub(r"\s+#.*", "", line).split() for line in re.findall(r"^ +(?:.* )?weft (mcp.*)$", PAGE, re.MULTILINE)
    ]

    assert len(files) >= 4
    assert len(given) >= 6
    for words in given:
        assert words[0] == "mcp"
        weft.get_command(None, "mcp").make_context("mcp", list(words[1:]))


def test_every_tool_is_described():
    """With all its arguments, in the table; those of the reference server by name."""
    rows = {match[1]: match[0] for match in re.finditer(r"^\| `(\w+)` \|.*$", PAGE, re.MULTILINE)}

    assert list(rows) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        for name in tool.properties:
            assert f"`{name}`" in rows[tool.name], f"{tool.name} {name}"
    assert all(f"`{tool.name}`" in PAGE for tool in MEMORY_TOOLS)


@pytest.mark.model
def test_the_transcript_is_what_happens(tmp_path, real_model):
    """With the real model, on the example corpus; only times differ."""
    (text,) = blocks("transcript")
    turns = [turn.split("\n", 1) for turn in re.split(r"^> ", text, flags=re.MULTILINE)[1:]]
    shutil.copytree(HOME / "examples" / "corpus", tmp_path / "examples" / "corpus")
    settings = read_settings({"store.db": str(tmp_path / "lanternworks.db")})
    with Engine(settings) as engine:
        engine.index(tmp_path / "examples" / "corpus")

    async def steps():
        said = []
        async with connect(settings) as client:
            for call, _ in turns:
                name, _, given = call.partition(" ")
                said.append((await client.call_tool(name, json.loads(given))).content[0].text)
        return said

    said = drive(steps())

    assert len(said) == len(turns) >= 5
    for (_, shown), text in zip(turns, said, strict=True):
        assert TIME.sub("…", text.strip()) == TIME.sub("…", shown.strip())
