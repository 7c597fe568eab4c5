"""Tool definitions for function-calling APIs, and the loop in the docs."""

import re
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from weft.engine.opening.open_engine import open_engine
from weft.errors import InputError
from weft.testing import FakeEmbedder
from weft.tools.calls import call_tool
from weft.tools.definitions import TOOLS
from weft.tools.memory_search import anthropic_tool, openai_tool

DOCS = Path(__file__).parents[2] / "docs"
PARAMETERS = {
    "openai": lambda: openai_tool()["function"]["parameters"],
    "anthropic": lambda: anthropic_tool()["input_schema"],
}
NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
TEXT = {"type": "string", "minLength": 1, "maxLength": 1024}
OBJECT = {"type": "object", "required": ["type", "properties"], "properties": {"type": {"const": "object"}}}


def closed(**properties):
    """Return the schema of an object that has exactly these properties."""
    return {"type": "object", "required": [*properties], "additionalProperties": False, "properties": properties}


ENTRIES = {
    "openai": closed(type={"const": "function"}, function=closed(name=NAME, description=TEXT, parameters=OBJECT)),
    "anthropic": closed(name=NAME, description=TEXT, input_schema=OBJECT),
}
"""What the two APIs take as an entry of `tools`: names, lengths and the kind of schema they allow."""


@pytest.mark.parametrize("api, entry", [("openai", openai_tool()), ("anthropic", anthropic_tool())])
def test_an_entry_is_one_that_the_api_takes(api, entry):
    """No required field is missing, and no unknown field exists."""
    jsonschema.validate(entry, ENTRIES[api])
    jsonschema.Draft202012Validator.check_schema(PARAMETERS[api]())


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_can_be_handed_to_either_api(tool):
    """In a copy, so that changing one changes nothing else."""
    chat, messages = tool.to_openai(), tool.to_anthropic()
    jsonschema.validate(chat, ENTRIES["openai"])
    jsonschema.validate(messages, ENTRIES["anthropic"])
    jsonschema.Draft202012Validator.check_schema(messages["input_schema"])

    assert chat["function"]["parameters"] == messages["input_schema"] == tool.input_schema
    for values in messages["input_schema"]["properties"].values():
        values.clear()
    assert tool.to_anthropic()["input_schema"] == chat["function"]["parameters"]


def test_the_other_tools_are_called_as_the_docs_show(tmp_path, monkeypatch, capsys):
    """Writing tools are left out; an unknown tool is refused with the known names."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text("utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "call_tool" in block)
    monkeypatch.chdir(tmp_path)
    with open_engine("weft.db", embedder="none") as engine:
        engine.add_text("Remember the milk.", source="memo")
        with pytest.raises(InputError, match="unknown tool 'memory_serach'") as caught:
            call_tool(engine, "memory_serach", {})
    scope = {}
    exec(block, scope)
    names = {entry["function"]["name"] for entry in scope["offered"]}

    assert "memory_search" in caught.value.hint
    assert "Remember the milk." in capsys.readouterr().out
    assert {"memory_search", "memory_get"} <= names
    assert not {"memory_add", "memory_forget", "memory_confirm"} & names


@pytest.mark.parametrize("api", PARAMETERS)
@pytest.mark.parametrize(
    "call, is_right",
    [
        ({"query": "milk"}, True),
        ({"query": "牛奶在哪里？", "maxResults": 1000, "useGraph": False, "minGraphScore": 0}, True),
        ({"query": "milk", "maxResults": 1, "useGraph": True, "minGraphScore": 1}, True),
        ({}, False),
        ({"query": " "}, False),
        ({"query": "milk", "maxResults": 0}, False),
        ({"query": "milk", "maxResults": 1001}, False),
        ({"query": "milk", "minGraphScore": 1.5}, False),
        ({"query": "milk", "useGraph": "perhaps"}, False),
        ({"query": "milk", "limit": 3}, False),
        ({"query": "milk", "self": "x"}, False),
        ({"query": "milk", "engine": "x"}, False),
    ],
)
def test_the_schema_and_the_engine_agree_on_calls(api, call, is_right):
    """Valid calls are answered and invalid calls refused; the engine tolerates more spellings."""
    validator = jsonschema.Draft202012Validator(PARAMETERS[api]())
    assert validator.is_valid(call) is is_right
    with open_engine(":memory:", embedder=FakeEmbedder()) as engine:
        engine.add_text("Remember the milk.", source="memo")
        if is_right:
            assert engine.memory_search(**call)["status"] in ("ok", "low_confidence", "no_match")
        else:
            with pytest.raises(InputError):
                engine.memory_search(**call)


class ScriptedClient:
    """A client of Anthropic's shape whose model calls the tool wrongly, then rightly, then says what it was told."""

    def __init__(self):
        self.messages = self
        self.inputs = [{"query": "milk", "maxResults": "ten"}, {"query": "milk", "maxResults": 2}]

    def create(self, *, model, max_tokens, messages, tools):
        assert tools == [anthropic_tool()]
        results = [block for m in messages if m["role"] == "user" and m["content"] != "?" for block in m["content"]]
        if self.inputs:
            call = SimpleNamespace(type="tool_use", id=f"call-{len(results)}", input=self.inputs.pop(0))
            return SimpleNamespace(content=[SimpleNamespace(type="text", text="Let me look."), call])
        assert [result["tool_use_id"] for result in results] == ["call-0", "call-1"]
        assert [result.get("is_error", False) for result in results] == [True, False]
        said = " | ".join(result["content"] for result in results)
        return SimpleNamespace(content=[SimpleNamespace(type="text", text=said)])


def test_the_loop_for_anthropic_in_the_docs_runs(tmp_path, monkeypatch):
    """A wrong call is told what to write instead, and the next one is answered."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text("utf-8"), re.DOTALL)
    (loop,) = (block for block in blocks if "anthropic_tool" in block)
    monkeypatch.chdir(tmp_path)
    with open_engine("weft.db", embedder="none") as engine:
        engine.add_text("Remember the milk.", source="memo")
    scope = {}
    exec(loop, scope)
    said = scope["answer"](ScriptedClient(), "any", "?")

    assert said.startswith(
        "error: invalid maxResults: 'ten'; pass maxResults as a whole number from 1 to 1000 | [Score: "
    )
    assert "Remember the milk." in said
