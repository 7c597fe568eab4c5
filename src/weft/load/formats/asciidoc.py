"""
Lines of AsciiDoc as lines of Markdown, and the fields of its header.

| AsciiDoc | Markdown |
| --- | --- |
| `== Limits`, `* one`, `** two` | `## Limits`, `- one`, `  - two` |
| `xref:pods.adoc[Pods]`, `{url-pods}[Pods^]` | `Pods` |
| `See [[max]]the maximum :bulb:`, `[.path]_pods.adoc_` | `See the maximum`, `_pods.adoc_` |
| a table with one cell per line, `[cols="1,1"]` | one row per line |
| `// comment`, `////` … `////`, `++++` … `++++` | empty lines |

A table with two columns above the first section is the header of a record: its rows are fields, as `:status: final` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STRONG = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]{0,200}[^\s*])?)\*(?![\w*])")
MAX_FIELD_WORDS = 4
"""Maximum number of words in the name of a field."""
MAX_CELL_LINES = 3
"""Maximum number of lines of a cell that is written on one line."""

_RECORD_FIELDS = frozenset({"title", "type"})
"""Rows of a record that repeat its title or sort it: `Type: Standards`."""
_HEADING = re.compile(r"(={1,6})\s+(\S.*)$")
_FIELD = re.compile(r":!?([\w-]{1,60})!?:(?:\s+(.*))?$")
_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,}|/{4,}|\+{4,})\s*$")
_HIDDEN_FENCES = ("/", "+")
_HIDDEN = re.compile(
    r"(?://|\[[^\[\]]{0,300}\]\s*$|\[\[[^\[\]]{0,200}\]\]\s*$|(?:image|include|video|toc|ifdef|ifndef|endif)::|[=*_+]{4,}\s*$)"
)
_LINK = re.compile(r"(?:xref:|link:|(?=https?://))([^\s\[\]]{1,500})\[([^\[\]\n]{0,300})\]")
_ATTRIBUTE_LINK = re.compile(r"\{[\w-]{1,60}\}(?:[^\s\[\]{}]{0,200})\[([^\[\]\n]{1,300})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,300})(?:,\s{0,9}([^<>\n]{1,300}))?>>")
_ANCHOR = re.compile(
    r"\[\[[^\[\]\n]{1,200}\]\]|anchor:[\w.-]{1,100}\[[^\[\]\n]{0,100}\]|footnote(?:ref)?:\w{0,40}\[[^\[\]\n]{0,300}\]"
)
_ROLE = re.compile(r"\[[.#][\w.#-]{1,60}\](?=[_*`#+])")
_EMOJI = re.compile(r"(?<![\w:`]):[a-z][a-z0-9_+-]{1,40}:(?![\w:`])")
_PLAIN_CODE = re.compile(r"`\+([^`\n]{1,200})\+`")
_CELL = re.compile(r"(?:(?<=\s)|^)(?:\d{1,3}(?:\.\d{1,3})?[+*]|\.\d{1,3}\+)?[<^>.]{0,3}[adehlmsv]?(?<!\\)\|")
_LIST = re.compile(r"(\*{2,5}|\.{1,5})\s+(?=\S)")
_COLUMNS = re.compile(r"\[[^\[\]]{0,200}?cols=(?:\"([^\"]{1,200})\"|(\d{1,2}\*?))")


def read_asciidoc(lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the lines as Markdown, one for each, and the fields of the header."""
    shown: list[str] = []
    fields: dict[str, str] = {}
    fence = ""
    table: list[str] | None = None
    columns = 0
    is_head = True  # fields are metadata up to the first text
    is_above_sections = True
    for line in lines:
        mark = _FENCE.match(line) if table is None else None
        if mark and (not fence or line.strip() == fence):
            shown.append("" if mark[1].startswith(_HIDDEN_FENCES) else "```")
            fence = "" if fence else line.strip()
        elif fence:
            shown.append("" if fence.startswith(_HIDDEN_FENCES) else line)
        elif line.rstrip() == "|===":
            if table is None:
                table = []
            else:
                rows = _read_rows(table, columns)
                shown += _table_lines(table, rows)
                if is_above_sections:
                    fields |= {key: value for key, value in _header_fields(rows) if key not in fields}
                table, columns = None, 0
            shown.append("")
        elif table is not None:
            table.append(line)
        elif heading := _HEADING.match(line):
            shown.append(f"{'#' * len(heading[1])} {_plain(heading[2].rstrip())}")
            is_head = is_head and len(heading[1]) == 1
            is_above_sections = is_above_sections and len(heading[1]) == 1
        elif field := _FIELD.match(line):
            if is_head and field[2]:
                fields.setdefault(field[1].lower(), field[2].strip())
            shown.append("")
        elif _HIDDEN.match(line) or line.strip() == "+":
            columns = _count_columns(line) or (columns if line.strip() else 0)
            shown.append("")
        else:
            is_head = is_head and not line.strip()
            columns = 0
            shown.append(_text_line(line))
    if table is not None:
        shown += _table_lines(table, _read_rows(table, columns))
    if fence and not fence.startswith(_HIDDEN_FENCES):
        shown.append("```")
    return shown, fields


# ── tables ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Cell:
    """A cell, with its first line and the number of its lines."""

    line: int
    text: str
    lines: int = 1


def _count_columns(line: str) -> int:
    """Return the number of columns of `[cols="1h,1"]`, `[cols="3*,2"]` or `[cols=3*]`; 0 for another line."""
    match = _COLUMNS.match(line)
    if match is None:
        return 0
    parts = (match[1] or match[2]).split(",")
    repeats = (re.match(r"\s*(\d{1,2})\*", part) for part in parts)
    count = sum(int(found[1]) if found else 1 for found in repeats)
    return count if count <= 100 else 0


def _read_rows(lines: Sequence[str], columns: int) -> list[list[_Cell]]:
    """Return the rows of a table. Without a number of columns, the first line with cells has a whole row."""
    cells: list[_Cell] = []
    first_line = 0
    for index, line in enumerate(lines):
        if line.startswith("//"):
            continue
        before, *others = _CELL.split(line)
        if before.strip() and cells:
            cells[-1].text = f"{cells[-1].text} {_plain(before.strip())}".strip()
            cells[-1].lines += 1
        if others and not cells:
            first_line = len(others)
        cells += [_Cell(index, _plain(cell.strip())) for cell in others]
    width = columns or first_line
    return [cells[at : at + width] for at in range(0, len(cells), width)] if width else []


def _table_lines(lines: Sequence[str], rows: Sequence[Sequence[_Cell]]) -> list[str]:
    """Return the lines of a table: each row on its first line; the lines of a long cell stay where they are."""
    shown = [""] * len(lines)
    if any(cell.lines > MAX_CELL_LINES for row in rows for cell in row) or not rows:
        return [_row_line(line) for line in lines]
    for row in rows:
        before, at = shown[row[0].line], row[0].line
        shown[at] = f"{before or '|'} {' | '.join(cell.text for cell in row)} |"
    below = rows[0][-1].line + 1  # a blank line below a row on one line makes it the header
    if len(rows[0]) > 1 and rows[0][0].line == below - 1 < len(lines) - 1 and not lines[below].strip():
        shown[below] = f"|{' --- |' * len(rows[0])}"
    return shown


def _row_line(line: str) -> str:
    if line.startswith("//"):
        return ""
    first, *others = [_plain(cell.strip()) for cell in _CELL.split(line)]
    return " ".join(filter(None, (first, f"| {' | '.join(others)} |" if others else "")))


def _header_fields(rows: Sequence[Sequence[_Cell]]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a table with two columns whose first cells are names of fields."""
    if len(rows) > 1 and all(len(row) == 2 and _is_field_name(row[0].text) for row in rows):
        for name, value in rows:
            if value.text and name.text.lower() not in _RECORD_FIELDS:
                yield name.text.lower(), value.text


def _is_field_name(text: str) -> bool:
    return 0 < len(text.split()) <= MAX_FIELD_WORDS and all(part.isalpha() for part in re.split(r"[\s-]", text))


# ── text ────────────────────────────────────────────────────────────────────────────────────────


def _text_line(line: str) -> str:
    if item := _LIST.match(line):
        return f"{'  ' * (len(item[1]) - 1)}- {_plain(line[item.end() :])}"
    if line.startswith(".") and line[1:2].isalnum():  # the title of a block
        line = line[1:]
    return _plain(line)


def _plain(line: str) -> str:
    """Return a line with the labels of its links, without anchors, roles and symbols."""
    if "[" in line:
        line = _LINK.sub(lambda match: _label(match[2]) or _stem(match[1]), line)
        line = _ATTRIBUTE_LINK.sub(lambda match: _label(match[1]), line)
        line = _ROLE.sub("", _ANCHOR.sub("", line))
    if "<<" in line:
        line = _CROSS.sub(lambda match: match[2] or _stem(match[1]), line)
    if "{nbsp}" in line:
        line = line.replace("{nbsp}", " ")
    if ":" in line:
        line = _EMOJI.sub("", line).rstrip()
    if "`+" in line:
        line = _PLAIN_CODE.sub(r"`\1`", line)
    mark, rest = ("- ", line[2:]) if line.startswith("* ") else ("", line)
    return mark + STRONG.sub(r"**\1**", rest)


def _label(text: str) -> str:
    return text.partition(",")[0].rstrip("^")


def _stem(address: str) -> str:
    """Return the text of a link without label: the name of the page or part."""
    if "://" in address:
        return address
    path, _, part = address.partition("#")
    return part or path.rpartition("/")[2].removesuffix(".adoc").removesuffix(".asciidoc")
