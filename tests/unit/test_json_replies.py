"""JSON objects in replies with other text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.models.llm.json_replies import read_json

WHOLE = {"entities": [{"name": "Ada {Lovelace}"}, {"name": 'a "quote" \\ ] }'}], "relations": []}
TEXT = json.dumps(WHOLE)


@pytest.mark.parametrize(
    "text, how",
    [
        (TEXT, "whole"),
        (f"  {TEXT}\n", "whole"),
        (f"Sure! Here it is:\n```json\n{TEXT}\n```\nAnything else?", "found"),
        (f"In set notation {{x}} I found {TEXT}", "found"),
    ],
)
def test_an_object_is_found_in_what_stands_around_it(text, how):
    assert read_json(text) == (WHOLE, how)


def test_of_what_was_cut_off_the_whole_items_stay():
    cut = '{"entities": [{"name": "Ada"}, {"name": "Babbage"}, {"name": "Loui'
    assert read_json(cut) == ({"entities": [{"name": "Ada"}, {"name": "Babbage"}]}, "salvaged")
    assert read_json(f"Here: {cut}")[0] == {"entities": [{"name": "Ada"}, {"name": "Babbage"}]}


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", "[1, 2]", "null", '{"entities": [{"name": "A', "{" * 5000, "[" * 99999]
)
def test_where_there_is_no_object_it_says_so(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_json(text)


@given(st.integers(0, len(TEXT)))
def test_wherever_it_is_cut_items_are_whole_or_gone(at):
    try:
        value, _ = read_json(TEXT[:at])
    except ValueError:
        return
    entities = value.get("entities", [])
    assert entities == WHOLE["entities"][: len(entities)]


@given(st.text(alphabet='{}[]",:\\ab1 '))
def test_any_text_gives_an_object_or_a_value_error(text):
    try:
        value, _ = read_json(text)
    except ValueError:
        return
    assert isinstance(value, dict)
