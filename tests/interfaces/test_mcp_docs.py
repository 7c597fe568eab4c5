"""Commands and transcript of docs/mcp.md are correct."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from mcp_driving import ask, settings_for

from weft.cli.main import weft
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.tools.definitions import TOOLS
from weft.tools.reference_memory_definitions import MEMORY_TOOLS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HOME = Path(__file__).parents[2]
PAGE = (HOME / "docs" / "mcp.md").read_text("utf-8")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
DECIMAL = re.compile(r"\b\d+\.\d+\b")
TOLERANCE = 0.02
"""Scores and cosines differ in the third digit between processors."""


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
    rows = {
        match[1]: match[0] for match in re.finditer(r"^\| `(\w+)` \|.*$", PAGE[PAGE.index("| tool |") :], re.MULTILINE)
    }

    assert list(rows) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        for name in tool.properties:
            assert f"`{name}`" in rows[tool.name], f"{tool.name} {name}"
    assert all(f"`{tool.name}`" in PAGE for tool in MEMORY_TOOLS)


def compare(kind, settings, **options):
    """Make the calls of a transcript; what comes of them is what stands there, but for times and third digits."""
    (text,) = blocks(kind)
    turns = [turn.split("\n", 1) for turn in re.split(r"^> ", text, flags=re.MULTILINE)[1:]]
    calls = [call.partition(" ") for call, _ in turns]
    answers = ask(settings, *((name, json.loads(given)) for name, _, given in calls), **options)

    assert len(turns) >= 5
    for (_, shown), answer in zip(turns, answers, strict=True):
        said = "\n".join(part.text for part in answer.content)
        (said, found), (shown, expected) = (split_decimals(text) for text in (said, shown))
        assert said == shown
        assert found == pytest.approx(expected, abs=TOLERANCE), said


def split_decimals(text):
    """Return a text without times and decimals, and the decimals."""
    text = TIME.sub("…", text.strip())
    return DECIMAL.sub("#", text), [float(number) for number in DECIMAL.findall(text)]


@pytest.mark.model
def test_the_transcript_is_what_happens(tmp_path, real_model):
    """With the real model, on the example corpus."""
    shutil.copytree(HOME / "examples" / "corpus", tmp_path / "examples" / "corpus")
    settings = read_settings({"store.db": str(tmp_path / "lanternworks.db"), "models.loading_seconds": 600})
    with Engine(settings) as engine:
        engine.index(tmp_path / "examples" / "corpus")

    compare("transcript", settings)


def test_the_transcript_in_the_place_of_the_reference_server_is_what_happens(tmp_path):
    """It begins with nothing."""
    compare("memory-transcript", settings_for(tmp_path / "weft.db"), compat="memory")
