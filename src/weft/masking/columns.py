"""
Secrets in the columns of tables: a row of names, then rows of values.

    user,password           | user | api key |
    app,x9!k                | --- | --- |
    → the second field      | app | 9f86d081884c7d65 |

A row belongs to the table if it follows it without a gap and has as many fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weft.masking.assigned_values import AssignedValue, is_secret
from weft.masking.assignments import KINDS
from weft.masking.names import TRIGGERS, NameKind, kind_of_name
from weft.masking.spans import SecretSpan

MAX_FIELDS = 40
_HEADER = re.compile(r"^[\w .\"'|,;\t-]{5,400}$", re.MULTILINE)
_LINE = re.compile(r"[^\n]{1,4000}(?=\n|\Z)")
_NAME = re.compile(r"[\w .-]{1,40}")
_RULE = re.compile(r"[|: -]{3,4000}")
"""Line between names and values in Markdown."""
_SEPARATORS = ("|", "\t", ";", ",")


def find_columns(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield the secrets below the names of columns; `folded` is the text in lower case, of the same length."""
    end = 0
    for header in _HEADER.finditer(text):
        if header.start() < end or not any(map(folded[header.start() : header.end()].__contains__, TRIGGERS)):
            continue
        separator, names, named = _read_names(header[0])
        end = header.end() + 1
        while named and (line := _LINE.match(text, end)):
            fields = _split(line[0], separator)
            if len(fields) != len(names):
                break
            if not _RULE.fullmatch(line[0].strip()):
                yield from _read_row(text, end, fields, names, named)
            end = line.end() + 1


def _read_names(line: str) -> tuple[str, list[str], dict[int, NameKind]]:
    """Return the separator, the names, and the kinds of secrets by column."""
    separator = next((mark for mark in _SEPARATORS if mark in line), "")
    names = [line[first:last].strip("\"' ") for first, last in _split(line, separator)] if separator else []
    if len(names) < 2 or not all(map(_NAME.fullmatch, names)):
        return "", [], {}
    kinds = {place: kind_of_name(name.replace(" ", "_")) for place, name in enumerate(names)}
    return separator, names, {place: kind for place, kind in kinds.items() if kind}


def _split(line: str, separator: str) -> list[tuple[int, int]]:
    """Return the bounds of the fields of a line; none for a line without fields or with too many."""
    rest = line.strip()
    if not rest or separator not in rest:
        return []
    start = line.index(rest[0])
    if separator == "|":
        start, rest = start + rest.startswith("|"), rest.strip("|")
    bounds = []
    for field in rest.split(separator)[:MAX_FIELDS]:
        bounds.append((start, start + len(field)))
        start += len(field) + 1
    return bounds


def _read_row(
    text: str, start: int, fields: Sequence[tuple[int, int]], names: Sequence[str], named: dict[int, NameKind]
) -> Iterator[SecretSpan]:
    for place, kind in named.items():
        first, last = start + fields[place][0], start + fields[place][1]
        while first < last and text[first] in " \"'`":
            first += 1
        while last > first and text[last - 1] in " \"'`":
            last -= 1
        if first < last and is_secret(text, AssignedValue(first, last, "cell"), kind=kind, name=names[place]):
            yield SecretSpan(first, last, KINDS[kind])
