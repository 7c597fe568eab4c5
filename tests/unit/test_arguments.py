"""Arguments as models write them, and long lists in pages."""

import pytest

from weft.errors import InputError
from weft.tools.arguments import read_arguments
from weft.tools.paging import cut_page, measure

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "maxHops": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "deep": {"type": "boolean"},
        "ids": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        "rows": {
            "type": "array",
            "items": {"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}}},
        },
    },
}


def read(**given):
    return read_arguments(given, SCHEMA, aliases={"entity": "name", "depth": "maxHops"})


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"name": "x"}, {"name": "x", "maxHops": 1}),
        ({"Name": "x", "max_hops": "2"}, {"name": "x", "maxHops": 2}),
        ({"entity": "x", "depth": 2.0, "share": "0.5"}, {"name": "x", "maxHops": 2, "share": 0.5}),
        ({"name": 7, "deep": " TRUE "}, {"name": "7", "maxHops": 1, "deep": True}),
        ({"name": "x", "share": None, "maxHops": None}, {"name": "x", "maxHops": 1}),
        ({"name": "x", "ids": "a"}, {"name": "x", "maxHops": 1, "ids": ["a"]}),
        ({"name": "x", "ids": '["a", "b"]'}, {"name": "x", "maxHops": 1, "ids": ["a", "b"]}),
        ({"name": "x", "rows": [{"Key": "k", "more": 1}]}, {"name": "x", "maxHops": 1, "rows": [{"key": "k"}]}),
        ({"name": "x", "max_hops": 2, "maxHops": "2"}, {"name": "x", "maxHops": 2}),
    ],
)
def test_what_is_meant_is_understood(given, expected):
    """Spellings, other names, numbers and lists in text, null for what is not given."""
    assert read(**given) == expected


@pytest.mark.parametrize(
    "given, said",
    [
        ({}, "use name"),
        ({"name": " "}, "non-empty"),
        ({"name": None}, "use name"),
        ({"name": True}, "pass name as a non-empty string"),
        ({"name": "x" * 21}, "at most 20"),
        ({"name": "x", "colour": "red"}, "maxHops (optional)"),
        ({"name": "x", "maxHops": 4}, "from 1 to 3"),
        ({"name": "x", "maxHops": 1.5}, "a whole number"),
        ({"name": "x", "maxHops": True}, "a whole number"),
        ({"name": "x", "maxHops": float("nan")}, "a whole number"),
        ({"name": "x", "maxHops": 10**400}, "a whole number"),
        ({"name": "x", "share": "much"}, "from 0 to 1"),
        ({"name": "x", "deep": 1}, "true or false"),
        ({"name": "x", "ids": [1, [2]]}, "pass ids[1] as a string"),
        ({"name": "x", "ids": "[1, "}, "pass ids as a list"),
        ({"name": "x", "ids": ["a"] * 4}, "at most 3"),
        ({"name": "x", "rows": "k"}, "pass rows as a list"),
        ({"name": "x", "rows": ["k"]}, "an object with key"),
        ({"name": "x", "rows": [{}]}, "use key"),
        ({"name": "x", "entity": "y"}, "pass name once"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_write(given, said):
    """The message stays short whatever was given."""
    with pytest.raises(InputError) as caught:
        read(**given)

    assert said in caught.value.hint
    assert len(str(caught.value)) < 200


def test_pages_hold_everything_once():
    """In order; an item that is too long for any page has one to itself."""
    items = [{"n": n, "text": "x" * (10 * n)} for n in range(30)]
    found, cursor, count = [], "", 0
    while True:
        page, cursor = cut_page(items, cursor=cursor, characters=200)
        found, count = found + page, count + 1
        assert page and (len(page) == 1 or sum(map(measure, page)) <= 200)
        if not cursor:
            break

    assert found == items
    assert count > 10
    assert cut_page([], cursor="") == cut_page([1], cursor="7") == ([], "")
    assert cut_page("abcd", limit=3) == (["a", "b", "c"], "3")


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "٣", "9" * 10, "1; drop"])
def test_a_cursor_that_nobody_gave_is_refused(cursor):
    """With a hint."""
    with pytest.raises(InputError) as caught:
        cut_page([1, 2], cursor=cursor)

    assert "cursor" in caught.value.hint
