"""
Insertion of one member or list item into a JSON settings file, without touching any other byte.

Comments and trailing commas are accepted, because VS Code and Zed write them.

    {                                        {
      // my servers                            // my servers
      "mcpServers": {                          "mcpServers": {
        "other": {"command": "x"}      →         "other": {"command": "x"},
      }                                          "weft": {…}
    }                                          }
                                             }
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

MAX_DEPTH = 200


class BadSettings(ValueError):
    """The file is not a JSON object of the expected shape."""


class _Member(NamedTuple):
    key: str
    start: int
    """Offset of the value."""
    end: int


class _Object(NamedTuple):
    open: int
    close: int
    members: list[_Member]
    has_trailing_comma: bool


def set_member(text: str, section: str, name: str, value: Any) -> str:
    """Return a JSON text with `text[section][name] = value`. Raises `BadSettings`."""
    if not text.strip():
        return json.dumps({section: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    start = _skip_space(text, 1 if text.startswith("\ufeff") else 0)
    root = _read_object(text, start)
    if _skip_space(text, root.close + 1) != len(text):
        raise BadSettings("text after the JSON object")
    indent = _indent(text, root)
    found = next((member for member in root.members if member.key == section), None)
    if found is None:
        inner = {section: {name: value}}
        return _insert(text, root, _render(inner, indent=indent, depth=1), indent=indent, depth=1)
    if text[found.start] != "{":
        raise BadSettings(f"{section!r} is not an object")
    servers = _read_object(text, found.start)
    known = next((member for member in servers.members if member.key == name), None)
    rendered = _render({name: value}, indent=indent, depth=2)
    if known is None:
        return _insert(text, servers, rendered, indent=indent, depth=2)
    return text[: known.start] + rendered[len(json.dumps(name, ensure_ascii=False)) + 2 :] + text[known.end :]


def append_item(text: str, section: str, name: str, item: Any) -> str:
    """Return a JSON text with `item` at the end of the list `text[section][name]`. Raises `BadSettings`."""
    if not text.strip():
        return set_member(text, section, name, [item])
    start = _skip_space(text, 1 if text.startswith("\ufeff") else 0)
    root = _read_object(text, start)
    found = next((member for member in root.members if member.key == section), None)
    if found is None:
        return set_member(text, section, name, [item])
    known = next((m for m in _read_object(text, found.start).members if m.key == name), None)
    if known is None:
        return set_member(text, section, name, [item])
    if text[known.start] != "[":
        raise BadSettings(f"{section}.{name} is not a list")
    indent = _indent(text, root)
    lines = json.dumps(item, indent=indent, ensure_ascii=False).splitlines()
    rendered = "\n".join(indent * 3 + line for line in lines)
    end = known.end - 1
    content = text[known.start + 1 : end].rstrip()
    is_empty, has_comma = not content, content.endswith(",")
    before = text[: known.start + 1] + content
    return f"{before}{'' if is_empty or has_comma else ','}\n{rendered}\n{indent * 2}{text[end:]}"


def _render(member: dict[str, Any], *, indent: str, depth: int) -> str:
    """Return `"key": value` with the lines of the value indented for this depth."""
    lines = json.dumps(member, indent=indent, ensure_ascii=False).splitlines()[1:-1]
    return "\n".join(line if number == 0 else indent * (depth - 1) + line for number, line in enumerate(lines)).strip()


def _insert(text: str, at: _Object, rendered: str, *, indent: str, depth: int) -> str:
    newline, inner, outer = "\n", indent * depth, indent * (depth - 1)
    if not at.members:
        return f"{text[: at.open + 1]}{newline}{inner}{rendered}{newline}{outer}{text[at.close :]}"
    end = at.members[-1].end
    rest = text[end : at.close]
    if at.has_trailing_comma:
        comma = _skip_space(text, end) + 1
        return f"{text[:comma]}{newline}{inner}{rendered}{text[comma:]}"
    tail = rest if rest.strip() or newline in rest else f"{newline}{outer}"
    return f"{text[:end]},{newline}{inner}{rendered}{tail}{text[at.close :]}"


def _indent(text: str, root: _Object) -> str:
    """Return the indentation of the first member, or two spaces."""
    if root.members:
        line = text.rfind("\n", root.open, root.members[0].start)
        found = text[line + 1 : root.members[0].start].partition('"')[0] if line >= 0 else ""
        if found and not found.strip():
            return found
    return "  "


def _skip_space(text: str, at: int) -> int:
    """Return the offset after white space and comments."""
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise BadSettings("an unclosed comment")
            at = end + 2
        else:
            break
    return at


def _read_object(text: str, at: int) -> _Object:
    if at >= len(text) or text[at] != "{":
        raise BadSettings("the settings are not a JSON object")
    open, members, has_comma = at, list[_Member](), False
    at = _skip_space(text, at + 1)
    while at < len(text) and text[at] != "}":
        if text[at] != '"' or (members and not has_comma):
            raise BadSettings(f"unexpected {text[at]!r} at character {at + 1}")
        key_end = _string_end(text, at)
        key = _decode(text[at:key_end])
        at = _skip_space(text, key_end)
        if at >= len(text) or text[at] != ":":
            raise BadSettings(f"a colon is missing after {key!r}")
        start = _skip_space(text, at + 1)
        end = _value_end(text, start)
        members.append(_Member(key, start, end))
        at = _skip_space(text, end)
        has_comma = at < len(text) and text[at] == ","
        if has_comma:
            at = _skip_space(text, at + 1)
    if at >= len(text):
        raise BadSettings("an unclosed object")
    return _Object(open, at, members, has_comma)


def _decode(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError as error:
        raise BadSettings(f"invalid text {quoted[:40]}") from error


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    if at >= len(text):
        raise BadSettings("an unclosed text")
    return at + 1


def _value_end(text: str, at: int) -> int:
    """Return the offset after the value at `at`."""
    if at >= len(text):
        raise BadSettings("a value is missing")
    if text[at] == '"':
        return _string_end(text, at)
    if text[at] not in "{[":
        start = at
        while at < len(text) and text[at] not in ",]}/" and not text[at].isspace():
            at += 1
        if at == start:
            raise BadSettings(f"a value is missing at character {at + 1}")
        return at
    depth = 0
    while at < len(text):
        if text[at] == '"':
            at = _string_end(text, at)
            continue
        depth += (text[at] in "{[") - (text[at] in "}]")
        at += 1
        if depth == 0:
            return at
        if depth > MAX_DEPTH:
            break
        at = _skip_space(text, at)
    raise BadSettings("an unclosed object or list")
