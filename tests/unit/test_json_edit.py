"""One member is added to a JSON settings file; every other byte stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.admin.hosts.json_edit import BadSettings, append_item, set_member

ENTRY = {"command": "weft", "args": ["mcp", "--db", "/a b/weft.db"]}


def plain(text):
    """Return the value of JSON with comments and trailing commas, read character by character."""
    kept, at = [], 0
    text = text.removeprefix("\ufeff")
    while at < len(text):
        end = at + 1
        if text[at] == '"':
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            kept.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            at = text.index("\n", at)
        elif text.startswith("/*", at):
            at = text.index("*/", at + 2) + 2
        else:
            if text[at] in "}]" and kept and kept[-1] == ",":
                kept.pop()
            if not text[at].isspace():
                kept.append(text[at])
            at = end
    return json.loads("".join(kept))


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


GAPS = ("", "", " ", "\n", "\r\n  ", "\t", "// mine\n", '// "x": {, ]\r\n', '/* , } ] " */', "/**/", "/* 备注\u2028 */")
"""White space and comments, which may stand between any two tokens."""

VALUES = st.recursive(
    st.integers() | st.text() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
SETTINGS = st.dictionaries(st.text(), VALUES, max_size=3).flatmap(
    lambda others: st.fixed_dictionaries(
        {},
        optional={
            "hooks": st.fixed_dictionaries({}, optional={"Stop": st.lists(VALUES, max_size=3), "Other": VALUES}),
            "servers": st.dictionaries(st.sampled_from(["weft", "other", "//", "é\u2028"]), VALUES, max_size=3),
        },
    ).map(lambda known: {**others, **known})
)


def write(value, random):
    """Return a value as JSON with random gaps, trailing commas and escapes."""

    def gap():
        return random.choice(GAPS)

    def join(parts, open, close):
        end = random.choice(["", ","]) if parts else ""
        return open + gap() + f"{gap()},{gap()}".join(parts) + gap() + end + gap() + close

    if isinstance(value, dict):
        pairs = [f"{write(key, random)}{gap()}:{gap()}{write(item, random)}" for key, item in value.items()]
        return join(pairs, "{", "}")
    if isinstance(value, list):
        return join([write(item, random) for item in value], "[", "]")
    made = json.dumps(value, ensure_ascii=random.choice([True, False]))
    return made if made.isprintable() or made.isascii() else json.dumps(value)


@given(SETTINGS, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_any_settings_keep_their_values_and_comments(settings, random, has_bom, is_hook):
    """Comments, trailing commas, CRLF, a byte order mark and Unicode, anywhere; a second time changes nothing."""
    text = ("\ufeff" if has_bom else "") + random.choice(GAPS) + write(settings, random) + random.choice(GAPS)
    assert plain(text) == settings
    section, name = ("hooks", "Stop") if is_hook else ("servers", "weft")
    known = settings.get(section, {})
    if is_hook:
        made = append_item(text, section, name, ENTRY)
        expected = [*known.get(name, []), ENTRY]
    else:
        made = set_member(text, section, name, ENTRY)
        expected = ENTRY
        assert set_member(made, section, name, ENTRY) == made

    assert plain(made) == {**settings, section: {**known, name: expected}}
    assert made.startswith("\ufeff") == has_bom
    if is_hook or name not in known:  # else its own old entry is replaced
        rest = iter(made)
        assert all(character in rest for character in text if not character.isspace())
    made.encode("utf-8")


@given(st.text(alphabet='{}[]",:/* \n\\a1\ufeff', max_size=30))
def test_any_text_is_changed_correctly_or_refused(text):
    """No other error, and never a file that cannot be read."""
    try:
        made = set_member(text, "servers", "weft", ENTRY)
    except BadSettings:
        return
    before = plain(text) if text.removeprefix("\ufeff").strip() else {}
    assert plain(made) == {**before, "servers": {**before.get("servers", {}), "weft": ENTRY}}


def test_of_two_equal_keys_the_last_one_is_changed():
    """It is the one that counts; a file in which that is impossible is refused."""
    made = set_member('{"servers": {"a": 1}, "servers": {"b": 2}}', "servers", "weft", ENTRY)
    assert json.loads(made)["servers"] == {"b": 2, "weft": ENTRY}


@pytest.mark.parametrize("text", ['{"a": [,]}', '{"a": [1,,]}', "{,}", '{"a": NaN}', '{"a": 1\u00a0}', ",", "{}//\n{}"])
def test_a_file_that_a_host_could_not_read_is_refused(text):
    """It would stay broken."""
    with pytest.raises(BadSettings):
        set_member(text, "servers", "weft", ENTRY)


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
        '{\n  "hooks": {\n    "Stop": [\n      {"a": 1} // last\n    ]\n  }\n}\n',
        '{"hooks": {"Stop": [ // none\n]}}',
        '{"hooks": {"Stop": [1 // one\n, // comma\n]}}',
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
