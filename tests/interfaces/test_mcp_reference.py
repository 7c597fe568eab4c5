"""`--compat memory` compared with the reference memory server: the same calls, the same answers."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from mcp_driving import Client, StdioServerParameters, drive, parameters, serving
from memory_scenario import RECORDED, STEPS, by_name, drive_scenario

from weft.tools.reference_memory_definitions import MEMORY_TOOLS

INSTALL = "make test-slow installs it where there is npm, or: npm install --global @modelcontextprotocol/server-memory"


def expected():
    return json.loads(RECORDED.read_text("utf-8"))


async def talk(target, mode="auto"):
    async with Client(target, mode=mode) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        return listed, await drive_scenario(client)


def check(listed, answers):
    assert listed == [tool.name for tool in MEMORY_TOOLS]
    assert len(answers) == len(STEPS)
    for answer, known in zip(answers, expected(), strict=True):
        assert by_name(answer) == by_name(known)


def test_every_tool_is_in_the_scenario():
    """The scenario covers all nine tools and one error."""
    assert {name for name, _ in STEPS} == {tool.name for tool in MEMORY_TOOLS}
    assert [answer["text"] for answer in expected() if answer["error"]] == ["Entity with name NonExistent not found"]


def test_over_stdio_the_answers_are_those_of_the_reference(tmp_path):
    """Text and values, also of errors and of what is there already."""
    check(*drive(talk(parameters(tmp_path, "--compat", "memory"))))


def test_over_http_the_answers_are_those_of_the_reference(tmp_path):
    """The same at /mcp."""
    with serving(tmp_path, "--compat", "memory") as url:
        check(*drive(talk(url)))


@pytest.mark.slow
def test_the_reference_itself_answers_as_recorded(tmp_path):
    """The server from npm, started by the same client."""
    beside = Path(sys.prefix) / "inspector" / "node_modules" / ".bin" / "mcp-server-memory"
    found = str(beside) if beside.exists() else shutil.which("mcp-server-memory")
    if not found or not shutil.which("node"):
        pytest.skip(f"the reference memory server is not installed: {INSTALL}")
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl"), "PATH": os.environ["PATH"]}
    listed, answers = drive(talk(StdioServerParameters(command=found, args=[], env=environment), mode="legacy"))

    assert listed == [tool.name for tool in MEMORY_TOOLS]
    assert answers == expected()
