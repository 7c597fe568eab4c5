"""
Insertion and removal of members and list items of a JSON settings file; no other byte changes but white space.

Comments and trailing commas are accepted, because VS Code and Zed write them.

    {                                        {
      // my servers                            // my servers
      "mcpServers": {                          "mcpServers": {
        "other": {"command": "x"} // last →      "other": {"command": "x"}, // last
      }                                          "weft": {…}
    }                                          }
                                             }

The result is read back: it must have the expected values, or the change is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

BOM = "\ufeff"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r'"|//|/\*')
"""Start of a string or of a comment."""
_TRAILING_COMMA = re.compile(r'"|,(?=[ \t\r\n]*[}\]])')
"""Start of a string, or a comma before a closing bracket."""
_STRING_STOP = re.compile(r'["\\]')


class BadSettings(ValueError):
    """The file is not a JSON object of the expected shape."""


class _Member(NamedTuple):
    key: str
    start: int
    """Offset of the value."""
    end: int
    begin: int
    """Offset of the key, or of the value of a list item."""


class _Source:
    """
    A settings file in three forms of the same length, so that offsets are valid in all of them.

        text        {"a": [1, /* , */ 2,], }
        clean       {"a": [1,         2,], }     comments are blank
        plain       {"a": [1,         2 ]  }     trailing commas too: plain JSON
    """

    def __init__(self, text: str) -> None:
        """Raises `BadSettings` if the text is not a JSON object."""
        self.text = text
        self.clean = _blank_comments(text)
        self.plain = _blank_commas(self.clean)
        try:
            value = json.loads(self.plain, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise BadSettings(f"invalid JSON: {error}") from error
        if not isinstance(value, dict):
            raise BadSettings("the settings are not a JSON object")
        self.value: dict[str, Any] = value
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.root = self._skip(0)
        """Offset of the root object."""
        self.indent = self._find_indent()
        """Indentation of the first member, or two spaces."""

    def members(self, start: int) -> tuple[list[_Member], int]:
        """Return the members of the object that begins at `start`, and the offset of its closing bracket."""
        found: list[_Member] = []
        at = self._skip(start + 1)
        while self.plain[at] != "}":
            begin = at
            key, at = _DECODER.raw_decode(self.plain, at)
            value = self._skip(self._skip(at) + 1)  # after the colon
            _, end = _DECODER.raw_decode(self.plain, value)
            found.append(_Member(key, value, end, begin))
            at = self._skip(end)
            if self.plain[at] == ",":
                at = self._skip(at + 1)
        return found, at

    def items(self, start: int) -> tuple[list[_Member], int]:
        """Return the items of the list that begins at `start`, and the offset of its closing bracket."""
        found: list[_Member] = []
        at = self._skip(start + 1)
        while self.plain[at] != "]":
            _, end = _DECODER.raw_decode(self.plain, at)
            found.append(_Member("", at, end, at))
            at = self._skip(end)
            if self.plain[at] == ",":
                at = self._skip(at + 1)
        return found, at

    def remove(self, members: list[_Member], place: int, *, close: int) -> str:
        """Return the text without a member, its line, and the comma that separates it."""
        member = members[place]
        begin, end = member.begin, member.end
        after = members[place + 1].begin if place + 1 < len(members) else close
        before = members[place - 1].end if place else begin
        if (comma := self.clean.find(",", end, after)) >= 0:
            tail = self.text[end:comma] + self.text[comma + 1 :]
            head = self.text[:begin]
        else:
            comma = self.clean.find(",", before, begin)
            head = self.text[:begin] if comma < 0 else self.text[:comma] + self.text[comma + 1 : begin]
            tail = self.text[end:]
        line = head.rstrip(" \t")
        if line.endswith("\n"):
            head = line.removesuffix("\n").removesuffix("\r")
        return head + tail

    def append(self, rendered: str, *, after: int, close: int, is_first: bool, depth: int) -> str:
        """Return the text with a member or item before `close`; the last one ends at `after`."""
        comma = "" if is_first or "," in self.clean[after:close] else ","
        between = self.text[after:close]
        kept = between.rstrip(" \t\r\n")
        space = between[len(kept) :]
        inner, outer = self.indent * depth, self.indent * (depth - 1)
        tail = space if "\n" in space else self.newline + outer
        return f"{self.text[:after]}{comma}{kept}{self.newline}{inner}{rendered}{tail}{self.text[close:]}"

    def render(self, value: Any, *, depth: int) -> str:
        """Return a value as JSON whose further lines are indented for this depth."""
        lines = json.dumps(value, indent=self.indent, ensure_ascii=False).split("\n")
        return (self.newline + self.indent * depth).join(lines)

    def _find_indent(self) -> str:
        first = self._skip(self.root + 1)
        line = self.text.rfind("\n", 0, first)
        found = self.text[line + 1 : first] if line >= 0 else ""
        return found if found and not found.strip(" \t") else "  "

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self.plain, at)
        return found.end() if found else at


def set_member(text: str, section: str, name: str, value: Any) -> str:
    """Return a JSON text with `text[section][name] = value`. Raises `BadSettings`."""
    source = _Source(_or_empty(text))
    known = source.value.get(section, {})
    if not isinstance(known, dict):
        raise BadSettings(f"{section!r} is not an object")
    expected = {**source.value, section: {**known, name: value}}
    return _check(_with_member(source, section, name, value), expected)


def append_item(text: str, section: str, name: str, item: Any) -> str:
    """Return a JSON text with `item` at the end of the list `text[section][name]`. Raises `BadSettings`."""
    known = read_list(text, section, name)
    source = _Source(_or_empty(text))
    if name not in source.value.get(section, {}):
        return set_member(text, section, name, [item])
    expected = {**source.value, section: {**source.value[section], name: [*known, item]}}
    outer = _last(source.members(source.root)[0], section)
    found = _last(source.members(outer.start)[0], name)
    close = found.end - 1
    last = len(source.plain[:close].rstrip(" \t\r\n"))
    made = source.append(source.render(item, depth=3), after=last, close=close, is_first=not known, depth=3)
    return _check(made, expected)


def remove_member(text: str, *keys: str) -> str:
    """Return a JSON text without the member at a path of one or two keys; unchanged if there is none."""
    source = _Source(_or_empty(text))
    members, close = source.members(source.root)
    expected = dict(source.value)
    if len(keys) == 2:
        known = source.value.get(keys[0])
        if not isinstance(known, dict) or keys[1] not in known:
            return text
        expected[keys[0]] = {key: value for key, value in known.items() if key != keys[1]}
        members, close = source.members(_last(members, keys[0]).start)
    elif keys[0] not in source.value:
        return text
    else:
        del expected[keys[0]]
    place = next(at for at, member in enumerate(members) if member.key == keys[-1])
    return _check(source.remove(members, place, close=close), expected)


def remove_items(text: str, section: str, name: str, is_removed: Callable[[Any], bool]) -> str:
    """Return a JSON text without some items of the list `text[section][name]`."""
    known = read_list(text, section, name)
    for place in reversed([at for at, item in enumerate(known) if is_removed(item)]):
        source = _Source(text)
        outer = _last(source.members(source.root)[0], section)
        found = _last(source.members(outer.start)[0], name)
        items, close = source.items(found.start)
        known = [*known[:place], *known[place + 1 :]]
        expected = {**source.value, section: {**source.value[section], name: known}}
        text = _check(source.remove(items, place, close=close), expected)
    return text


def is_empty(text: str, *keys: str) -> bool:
    """Return True if the value at a path is an empty object or list."""
    found: Any = _Source(_or_empty(text)).value
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found in ({}, [])


def has_member(text: str, *keys: str) -> bool:
    """Return True if there is a value at a path."""
    found: Any = _Source(_or_empty(text)).value
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


def read_list(text: str, section: str, name: str) -> list[Any]:
    """Return the list `text[section][name]`; empty if it is missing. Raises `BadSettings`."""
    known = _Source(_or_empty(text)).value.get(section, {})
    if not isinstance(known, dict):
        raise BadSettings(f"{section!r} is not an object")
    found = known.get(name, [])
    if not isinstance(found, list):
        raise BadSettings(f"{section}.{name} is not a list")
    return found


def _with_member(source: _Source, section: str, name: str, value: Any) -> str:
    members, close = source.members(source.root)
    start, depth, key, new = source.root, 1, section, {name: value}
    if section in source.value:
        start, depth, key, new = _last(members, section).start, 2, name, value
        members, close = source.members(start)
    rendered = source.render(new, depth=depth)
    if any(member.key == key for member in members):
        known = _last(members, key)
        return source.text[: known.start] + rendered + source.text[known.end :]
    after = members[-1].end if members else start + 1
    rendered = f"{json.dumps(key, ensure_ascii=False)}: {rendered}"
    return source.append(rendered, after=after, close=close, is_first=not members, depth=depth)


def _check(made: str, expected: dict[str, Any]) -> str:
    """Return a changed text whose value is the expected one. Raises `BadSettings`."""
    if _Source(made).value != expected:
        raise BadSettings("the entry cannot be added without changing other settings")
    return made


def _or_empty(text: str) -> str:
    """Return the text, or an empty object for a file without text."""
    return text if text.removeprefix(BOM).strip() else f"{BOM if text.startswith(BOM) else ''}{{}}\n"


def _last(members: list[_Member], key: str) -> _Member:
    """Return the member of a key; the last one counts if there are several."""
    return next(member for member in reversed(members) if member.key == key)


def _blank_comments(text: str) -> str:
    """Return a text of the same length with spaces for comments and a byte order mark."""
    at = len(BOM) if text.startswith(BOM) else 0
    parts = [" " * at]
    while found := _COMMENT.search(text, at):
        parts.append(text[at : found.start()])
        at = _string_end(text, found.start()) if found[0] == '"' else _comment_end(text, found.start())
        part = text[found.start() : at]
        parts.append(part if found[0] == '"' else re.sub(r"[^\r\n]", " ", part))
    return "".join([*parts, text[at:]])


def _blank_commas(clean: str) -> str:
    """Return a text of the same length with spaces for commas after the last member or item."""
    parts, at = [], 0
    while found := _TRAILING_COMMA.search(clean, at):
        parts.append(clean[at : found.start()])
        at = _string_end(clean, found.start()) if found[0] == '"' else found.end()
        is_trailing = found[0] == "," and _previous(clean, found.start()) not in "[{,"
        parts.append(" " if is_trailing else clean[found.start() : at])
    return "".join([*parts, clean[at:]])


def _previous(clean: str, at: int) -> str:
    """Return the last character before `at` that is no white space; a comma without one."""
    while at and clean[at - 1] in " \t\r\n":
        at -= 1
    return clean[at - 1] if at else ","


def _comment_end(text: str, at: int) -> int:
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    end = text.find("*/", at + 2)
    if end < 0:
        raise BadSettings("an unclosed comment")
    return end + 2


def _refuse_constant(name: str) -> None:
    raise BadSettings(f"{name} is not JSON")


def _string_end(text: str, at: int) -> int:
    """Return the offset after the string that begins at `at`."""
    stop = _STRING_STOP.search(text, at + 1)
    while stop and stop[0] == "\\":
        stop = _STRING_STOP.search(text, stop.end() + 1)
    if not stop:
        raise BadSettings("an unclosed text")
    return stop.end()
