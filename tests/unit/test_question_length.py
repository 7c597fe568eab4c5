"""One limit of the length of a question, in all interfaces."""

import pytest

from weft.engine.input_checks import MAX_QUESTION_CHARACTERS
from weft.errors import InputError
from weft.server.schemas import Question, RecallQuestion
from weft.tools.calls import call_tool
from weft.tools.definitions import TOOLS

LONGEST = "crane " * (MAX_QUESTION_CHARACTERS // 6) + "lift"

SCHEMAS = {tool.name: tool.input_schema for tool in TOOLS if "query" in tool.input_schema["properties"]}


def test_a_longer_question_is_an_error(open_at):
    """The longest one is answered."""
    engine = open_at()
    assert engine.query(LONGEST).status == "no_match"
    assert not engine.memory.recall(LONGEST).facts

    for call in (engine.query, engine.memory.recall, engine.memory_search):
        with pytest.raises(InputError, match="10,00"):
            call(LONGEST + "s")


@pytest.mark.parametrize("name", SCHEMAS)
def test_models_are_told_the_limit(open_at, name):
    """The schema has it, and a call is refused before the store is asked."""
    assert SCHEMAS[name]["properties"]["query"]["maxLength"] == MAX_QUESTION_CHARACTERS
    engine = open_at()
    call_tool(engine, name, {"query": LONGEST})

    with pytest.raises(InputError) as refused:
        call_tool(engine, name, {"query": LONGEST + "s"})
    assert "10,000 characters" in refused.value.hint


@pytest.mark.parametrize("model", [Question, RecallQuestion])
def test_the_http_interface_has_the_same_limit(model):
    """It is part of its schema."""
    assert model.model_json_schema()["properties"]["query"]["maxLength"] == MAX_QUESTION_CHARACTERS
