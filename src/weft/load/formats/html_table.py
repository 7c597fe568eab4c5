"""
Tables of HTML pages: column names and merged cells.

    <th>name<th>owner                  names: name, owner
    <td rowspan=2>Auth<td>Ann          | name: Auth | owner: Ann |
    <td>Bob                            | name: Auth | owner: Bob |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.load.line_map import MAX_NAME_CHARACTERS, MarkdownWriter, collapse, shorten
from weft.load.table_rows import MAX_SPAN, Row, name_cells


class HtmlCell(NamedTuple):
    """A cell as written."""

    text: str
    columns: int
    rows: int
    is_header: bool


class HtmlTable:
    """Writes the rows of one table. Rows of `th` cells at the start are the column names."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._names_line = 0
        self._has_rows = False
        self._merged: dict[int, tuple[int, str]] = {}
        """Cells that reach down into the next rows: their remaining rows and text, by column."""

    def add(self, cells: Sequence[HtmlCell], *, line: int, writer: MarkdownWriter) -> None:
        """Write a row, or keep it as column names."""
        placed = self._place(cells)
        if not self._has_rows and len(cells) > 1 and all(cell.is_header for cell in cells):
            for column, text in placed.items():
                above = self._names.get(column, "")
                self._names[column] = shorten(text if above in ("", text) else f"{above} {text}")
            self._names_line = self._names_line or line
            return
        if not placed:
            return
        self._has_rows = True
        if self._names:
            row = Row(line=line, cells=placed, width=len(placed))
            writer.add_row(name_cells(row, self._names), line=line)
        else:
            writer.add_row([cell.text for cell in cells], line=line)

    def end(self, writer: MarkdownWriter) -> None:
        """Write the column names if no row followed them."""
        if self._names and not self._has_rows:
            writer.add_row(list(self._names.values()), line=self._names_line)

    def _place(self, cells: Sequence[HtmlCell]) -> dict[int, str]:
        """Return the texts by column, with cells merged over columns and rows."""
        placed = {column: text for column, (_, text) in self._merged.items()}
        merged = {column: (rows - 1, text) for column, (rows, text) in self._merged.items() if rows > 1}
        column = 0
        for cell in cells:
            while column in placed:
                column += 1
            text = collapse(cell.text)
            for number in range(column, min(column + cell.columns, MAX_SPAN)):
                shown = text if number == column or cell.is_header else ""
                placed[number] = shown
                if cell.rows > 1:
                    merged[number] = (cell.rows - 1, shown if len(shown) <= MAX_NAME_CHARACTERS else "")
            column += cell.columns
        self._merged = merged
        return {column: placed[column] for column in sorted(placed) if placed[column]}


def span(value: str | None) -> int:
    """Return the number of columns or rows of a cell, from 1 to `MAX_SPAN`."""
    value = (value or "").strip()
    return min(max(1, int(value)), MAX_SPAN) if value.isdecimal() and len(value) < 10 else 1
