"""
Tolerant parser for the JSON object in a reply.

    reply                                        result                      form
    {"facts": []}                                {"facts": []}               whole
    Here it is: ```json {"facts": []} ```        {"facts": []}               found
    {"facts": [{"value": 1}, {"val               {"facts": [{"value": 1}]}   salvaged
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

Form: TypeAlias = Literal["whole", "found", "salvaged"]

MAX_REPLY_CHARACTERS = 1_000_000
"""Maximum number of characters of a reply that are parsed."""
MAX_TRIES = 50
"""Maximum number of braces tried as the start of an object, and maximum nesting depth of a truncated object."""


def read_json(text: str) -> tuple[dict[str, Any], Form]:
    """
    Return the JSON object in a reply, and its form: the whole reply, surrounded by text, or truncated.

    All complete items of a truncated object are kept. Raises `ValueError` if there is no object.
    """
    text = text[:MAX_REPLY_CHARACTERS].strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        if not isinstance(value, dict):
            raise ValueError(f"the reply is a JSON {type(value).__name__}, not an object")
        return value, "whole"
    if (inside := _find_object(text)) is not None:
        return inside, "found"
    start = text.find("{")
    if start < 0:
        raise ValueError("the reply contains no JSON object")
    return _close(text[start:]), "salvaged"


def _find_object(text: str) -> dict[str, Any] | None:
    """Return the first complete object in a text that is not empty."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(MAX_TRIES):
        if at < 0:
            return None
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            # An object inside a truncated object is not the answer.
            if text[at + 1 :].lstrip()[:1] == '"':
                return None
            end = at + 1
        else:
            if isinstance(value, dict) and value:
                return value
        at = text.find("{", end)
    return None


def _close(text: str) -> dict[str, Any]:
    """Return the truncated object at the start of a text, without its incomplete last item."""
    open_ends: list[str] = []
    is_string = is_escaped = False
    kept = ""
    for at, character in enumerate(text):
        if is_string:
            is_string = is_escaped or character != '"'
            is_escaped = character == "\\" and not is_escaped
        elif character == '"':
            is_string = True
        elif character in "{[":
            open_ends.append("}" if character == "{" else "]")
        elif character in "}]":
            if not open_ends or open_ends.pop() != character:
                break
            if len(open_ends) <= MAX_TRIES:
                kept = str(at + 1) + " " + "".join(reversed(open_ends))
    if not kept:
        raise ValueError("the JSON of the reply ends inside the first item")
    end, _, ends = kept.partition(" ")
    try:
        value = json.loads(text[: int(end)] + ends)
    except RecursionError as error:
        raise ValueError("the JSON of the reply is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("the JSON of the reply is not an object")
    return value
