"""Scanner for JSON values with their path and line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.load.line_map import shorten

MAX_DEPTH = 64
"""Nesting depth below which values are replaced by `…`."""
MAX_PATH_CHARACTERS = 300
"""Maximum length of a path. A longer path is cut at its start, because it is repeated for every value."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_SEPARATORS = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar value. An example of `path` is `server.ports[0]`."""

    path: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Member:
    """An element of a list in the outermost object; `field` is empty if the JSON is itself a list."""

    field: str
    index: int
    value: object
    line: int


def iter_leaves(text: str) -> Iterator[Leaf]:
    """
    Yield the scalars of valid JSON in the order written, without nulls and empty strings.

    The JSON is scanned token by token, without recursion, so nesting depth is not limited by the stack.
    """
    path: list[str | int | None] = []  # None: inside an object, before a key
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position, token = match.start(), match.group()
        match token:
            case "{" | "[":
                if len(path) == MAX_DEPTH:
                    yield Leaf(_join(path), "…", line)
                path.append(None if token == "{" else 0)
            case "}" | "]":
                path.pop()
            case ",":
                last = path[-1]
                path[-1] = last + 1 if isinstance(last, int) else None
            case ":":
                pass
            case _ if path and path[-1] is None:
                path[-1] = shorten(json.loads(token))
            case _ if len(path) <= MAX_DEPTH and token not in ("null", '""'):
                yield Leaf(_join(path), json.loads(token) if token[0] == '"' else token, line)


def iter_elements(text: str) -> Iterator[tuple[object, int]]:
    """Yield the elements of a valid JSON list with the line each starts on."""
    line, before = 1, 0
    position = _skip_separators(text, text.index("[") + 1)
    while text[position] != "]":
        line += text.count("\n", before, position)
        before = position
        element, end = _DECODER.raw_decode(text, position)
        yield element, line
        position = _skip_separators(text, end)


def _skip_separators(text: str, position: int) -> int:
    match = _SEPARATORS.match(text, position)
    return match.end() if match else position


def _join(path: list[str | int | None]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    text = "".join(steps).removeprefix(".")
    return text if len(text) <= MAX_PATH_CHARACTERS else "…" + text[1 - MAX_PATH_CHARACTERS :]


def iter_members(text: str) -> Iterator[Member]:
    """Yield the elements of all lists in a valid JSON object, or of a JSON list. Other values are skipped."""
    position = _skip_separators(text, 0)
    if text[position] == "[":
        for index, (element, line) in enumerate(iter_elements(text)):
            yield Member("", index, element, line)
        return
    line, before = 1, 0
    position = _skip_separators(text, position + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        position = _skip_separators(text, text.index(":", position) + 1)
        if text[position] != "[":
            _, position = _DECODER.raw_decode(text, position)
            position = _skip_separators(text, position)
            continue
        position = _skip_separators(text, position + 1)
        index = 0
        while text[position] != "]":
            line += text.count("\n", before, position)
            before = position
            element, position = _DECODER.raw_decode(text, position)
            yield Member(str(key), index, element, line)
            index += 1
            position = _skip_separators(text, position)
        position = _skip_separators(text, position + 1)
