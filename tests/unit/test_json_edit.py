"""One member is added to a JSON settings file; every other byte stays."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.admin.hosts.json_edit import BadSettings, append_item, set_member

ENTRY = {"command": "weft", "args": ["mcp", "--db", "/a b/weft.db"]}


def plain(text):
    """Return the value of JSON with comments and trailing commas, whose texts have neither."""
    without = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", without))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "{\n}\n",
        '{"theme": "dark"}',
        '{\n\t"theme": "dark",\n\t"list": [1, {"a": "}"}]\n}\n',
        '{\n    "servers": {}\n}',
        '{\n  "servers": {\n    "other": {"command": "x"}\n  },\n  "b": null\n}\n',
        '{\n  // mine\n  "servers": {\n    "other": {"command": "x"}, // last\n  }, /* end */\n}\n',
        '{"servers": {"weft": {"command": "old", "args": []}, "z": 1}}',
    ],
)
def test_the_entry_is_there_and_nothing_else_changes(text):
    """A second time changes nothing."""
    made = set_member(text, "servers", "weft", ENTRY)
    before = plain(text) if text.strip() else {}

    assert plain(made) == {**before, "servers": {**before.get("servers", {}), "weft": ENTRY}}
    assert set_member(made, "servers", "weft", ENTRY) == made
    if text.strip() and "old" not in text:
        kept = iter(made)
        assert all(character in kept for character in text.strip() if not character.isspace())


@given(
    st.dictionaries(st.text(), st.recursive(st.integers() | st.text(), st.lists), max_size=5),
    st.sampled_from([None, 1, "\t"]),
)
def test_random_settings_keep_their_values(settings, indent):
    """Any text in keys and values, any indentation."""
    settings.pop("servers", None)
    made = set_member(json.dumps(settings, indent=indent), "servers", "weft", ENTRY)

    assert json.loads(made) == {**settings, "servers": {"weft": ENTRY}}


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"a" 1}', '{"a": 1} x', '{"a": "x', '{"servers": []}', "{/*", '{"a": 1 "b": 2}', "{" * 5000]
)
def test_what_is_no_object_is_refused(text):
    """Nothing is guessed."""
    with pytest.raises(BadSettings):
        set_member(text, "servers", "weft", ENTRY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"hooks": {}}',
        '{"hooks": {"Stop": []}}',
        '{\n  "hooks": {\n    "Stop": [{"a": 1}], "B": [2]\n  },\n  "z": 1\n}',
        '{"hooks": {"Stop": [1, /* two */ 2,]}}',
    ],
)
def test_an_item_is_added_at_the_end_of_a_list(text):
    """Items of the user stay before it."""
    before = plain(text) if text.strip() else {}
    made = plain(append_item(text, "hooks", "Stop", ENTRY))

    hooks = before.get("hooks", {})
    assert made == {**before, "hooks": {**hooks, "Stop": [*hooks.get("Stop", []), ENTRY]}}
    with pytest.raises(BadSettings, match="not a list"):
        append_item('{"hooks": {"Stop": 1}}', "hooks", "Stop", ENTRY)
