"""Values of JSON or JSON Lines with their positions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

MAX_INT_DIGITS = 300
"""Longer integers become floats, usually infinity, because Python refuses to parse very long integers."""

Skip = Callable[[str, str], None]
"""Called with position and reason for each item that cannot be read."""


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_INT_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_parse_int)


def parse_json(text: str) -> object:
    """Return the value of a JSON text. Raises `ValueError` if it is invalid or nested too deeply."""
    try:
        value: object = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def iter_values(text: str, *, skip: Skip) -> Iterator[tuple[str, object]]:
    """
    Yield the positions and values of a text.

    The text is JSON Lines or one JSON document; a list of objects or lists gives one value per item. Invalid lines are
    skipped.
    """
    lines = text.split("\n")
    values = None if _is_json_lines(lines) else _read_document(text)
    if values is not None:
        yield from values
        return
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            skip(f"line {number}", f"JSON: {error}")
            continue
        yield f"line {number}", value


def find_fault(text: str) -> str:
    """Return the JSON error of a text as the end of a message; empty if the text is valid or is not JSON."""
    if not text.lstrip().startswith(("{", "[")) or _is_json_lines(text.split("\n")):
        return ""
    try:
        parse_json(text)
    except ValueError as error:
        return f"; invalid JSON: {error}"
    return ""


def _is_json_lines(lines: Sequence[str]) -> bool:
    """Return True if the first non-blank line is valid JSON and other lines follow."""
    filled = (line for line in lines if line.strip())
    first = next(filled, "")
    try:
        parse_json(first)
    except ValueError:
        return False
    return next(filled, None) is not None


def _read_document(text: str) -> list[tuple[str, object]] | None:
    """Return the positions and values of one JSON document; None if it is invalid."""
    try:
        document = parse_json(text)
    except ValueError:
        return None
    if isinstance(document, list) and document and all(isinstance(item, dict | list) for item in document):
        return [(f"item {number}", item) for number, item in enumerate(document, start=1)]
    return [("line 1", document)]
