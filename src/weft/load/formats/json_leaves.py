"""The values inside JSON, each with the way to it and its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.load.line_map import shorten

MAX_DEPTH = 64
"""What is nested deeper is shown as `…`."""
MAX_PLACE_CHARACTERS = 300
"""Of a longer place the end is kept: it stands beside every value, and would swell the text many times over."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is not a list or an object. `place` reads `server.ports[0]`."""

    place: str
    value: str
    line: int


def iter_leaves(text: str) -> Iterator[Leaf]:
    """
    Yield the values in valid JSON, but for nulls and empty strings, in the order they are written.

    The JSON is read token by token and not by calling itself, so that nesting costs no stack.
    """
    place: list[str | int | None] = []  # None: in an object, before a key
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position, token = match.start(), match.group()
        match token:
            case "{" | "[":
                if len(place) == MAX_DEPTH:
                    yield Leaf(_join(place), "…", line)
                place.append(None if token == "{" else 0)
            case "}" | "]":
                place.pop()
            case ",":
                last = place[-1]
                place[-1] = last + 1 if isinstance(last, int) else None
            case ":":
                pass
            case _ if place and place[-1] is None:
                place[-1] = shorten(json.loads(token))
            case _ if len(place) <= MAX_DEPTH and token not in ("null", '""'):
                yield Leaf(_join(place), json.loads(token) if token[0] == '"' else token, line)


def iter_elements(text: str) -> Iterator[tuple[object, int]]:
    """Yield the elements of a valid JSON list, each with the line it begins on."""
    line, before = 1, 0
    position = _skip(text, text.index("[") + 1)
    while text[position] != "]":
        line += text.count("\n", before, position)
        before = position
        element, end = _DECODER.raw_decode(text, position)
        yield element, line
        position = _skip(text, end)


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _join(place: list[str | int | None]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    text = "".join(steps).removeprefix(".")
    return text if len(text) <= MAX_PLACE_CHARACTERS else "…" + text[1 - MAX_PLACE_CHARACTERS :]


def iter_members(text: str) -> Iterator[tuple[str, int, object, int]]:
    """
    Yield the elements of each list in a valid JSON object: its field, their place in it, themselves and their lines.

    Of JSON that is a list itself the field is empty. Values that are no lists are passed over.
    """
    position = _skip(text, 0)
    if text[position] == "[":
        for place, (element, line) in enumerate(iter_elements(text)):
            yield "", place, element, line
        return
    line, before, field = 1, 0, ""
    position = _skip(text, position + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        field = str(key)
        position = _skip(text, text.index(":", position) + 1)
        if text[position] != "[":
            _, position = _DECODER.raw_decode(text, position)
            position = _skip(text, position)
            continue
        position = _skip(text, position + 1)
        place = 0
        while text[position] != "]":
            line += text.count("\n", before, position)
            before = position
            element, position = _DECODER.raw_decode(text, position)
            yield field, place, element, line
            place += 1
            position = _skip(text, position)
        position = _skip(text, position + 1)
