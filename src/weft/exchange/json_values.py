"""JSON of unknown shape, one document or one value on each line, as a row of values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

MAX_DIGITS = 300
"""A longer whole number becomes a float, and so most likely infinity: Python refuses to read very long ones."""

Skip = Callable[[str, str], None]
"""Is told the place and the reason when something cannot be read."""


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_parse_int)


def parse_json(text: str) -> object:
    """Return what a JSON text stands for. Raises `ValueError` when it is broken or nested too deeply."""
    try:
        value: object = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def iter_values(text: str, *, skip: Skip) -> Iterator[tuple[str, object]]:
    """
    Yield each value of a text with its place.

    The text is either JSON Lines or one document, of which a list of objects or of lists counts as so many
    values. A line that is no JSON is skipped.
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
    """Return where one JSON document is broken, as the end of a message; nothing when it is whole or none."""
    if not text.lstrip().startswith(("{", "[")) or _is_json_lines(text.split("\n")):
        return ""
    try:
        parse_json(text)
    except ValueError as error:
        return f"; as JSON it is broken: {error}"
    return ""


def _is_json_lines(lines: Sequence[str]) -> bool:
    """Tell whether the first line that is not blank is a whole value, and not the last one."""
    filled = (line for line in lines if line.strip())
    first = next(filled, "")
    try:
        parse_json(first)
    except ValueError:
        return False
    return next(filled, None) is not None


def _read_document(text: str) -> list[tuple[str, object]] | None:
    """Return the values of one JSON document with their places, or None when it is none."""
    try:
        document = parse_json(text)
    except ValueError:
        return None
    if isinstance(document, list) and document and all(isinstance(item, dict | list) for item in document):
        return [(f"item {number}", item) for number, item in enumerate(document, start=1)]
    return [("line 1", document)]
