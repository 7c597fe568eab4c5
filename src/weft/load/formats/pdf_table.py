"""
Tables in the text of a PDF page: rows name their columns.

A PDF has no tables, only texts at positions. Lines are a table if they have the same number of cells, the cells start
at the same positions, and the first line is a header:

    x = 37          x = 110          x = 190
    Service         Owner            Port
    Auth Service    Identity Team    8443          Service: Auth Service; Owner: Identity Team; Port: 8443
    Billing         Payments Team    90            Service: Billing; Owner: Payments Team; Port: 90

Some programs place each cell by itself, and pypdf ends it with a line break: cells at one height are one line then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from weft.load.table_rows import Row, has_implicit_header, is_numeric, render_row, to_row

MIN_ROWS = 3
"""Rows of a table, with its header. Two lines may be alike by chance."""
MAX_SHIFT = 3.0
"""Points by which the starts of a column may differ. Columns of numbers may be aligned at their end."""
MAX_RISE = 1.0
"""Points by which the heights of cells of one row may differ."""
MAX_BLANK_TEXTS = 8
"""Texts without content between two cells."""


@dataclass(slots=True)
class PageText:
    """Texts of a page in the order of reading, collected while pypdf extracts them."""

    texts: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    """Horizontal position of each text, in points."""
    heights: list[float] = field(default_factory=list)
    """Vertical position of each text, in points from the bottom."""

    def add(self, text: str, matrix: Sequence[float], text_matrix: Sequence[float]) -> None:
        """Add a text at the position that the two matrices give."""
        self.texts.append(text)
        self.starts.append(text_matrix[4] * matrix[0] + text_matrix[5] * matrix[2] + matrix[4])
        self.heights.append(text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5])

    def render(self) -> str:
        """Return the text of the page; rows of tables name their columns."""
        lines = list(self._iter_lines())
        parts: list[str] = []
        start = 0
        while start < len(lines):
            end = start + 1
            while end < len(lines) and 1 < len(lines[start]) == len(lines[end]):
                end += 1
            parts += _render(lines[start:end])
            start = end
        return "\n".join(parts)

    def _iter_lines(self) -> Iterator[list[tuple[float, str]]]:
        """
        Yield the cells of each line. A text that begins without a space continues the cell before it.

        A cell that pypdf puts on a line of its own begins with the line break, so the plain text stays the same.
        """
        cells: list[tuple[float, str]] = []
        gap = ""
        for place, (text, start) in enumerate(zip(self.texts, self.starts, strict=True)):
            for number, piece in enumerate(text.split("\n")):
                if number and number == text.count("\n") and not piece and self._row_continues(place):
                    gap = "\n"
                elif number:
                    yield cells
                    cells, gap = [], ""
                if gap and piece.strip():
                    cells.append((start, gap + piece))
                    gap = ""
                elif cells and piece and not piece[0].isspace():
                    cells[-1] = (cells[-1][0], cells[-1][1] + piece)
                elif piece.strip() or (piece and not cells):
                    cells.append((start, piece))
        yield cells

    def _row_continues(self, place: int) -> bool:
        """Return True if the next text is at the same height, to the right."""
        following = islice(range(place + 1, len(self.texts)), MAX_BLANK_TEXTS)
        later = next((index for index in following if self.texts[index].strip()), place)
        rise = abs(self.heights[later] - self.heights[place])
        return rise <= MAX_RISE and self.starts[later] > self.starts[place]


def _render(lines: Sequence[list[tuple[float, str]]]) -> list[str]:
    """Return lines with the same number of cells as text; as rows if they are a table."""
    plain = ["".join(text for _, text in cells) for cells in lines]
    rows = [to_row([text for _, text in cells], line=1) for cells in lines]
    table = [row for row in rows if row is not None]
    if len(lines) < MIN_ROWS or len(table) < len(lines) or not has_implicit_header(table):
        return plain
    if not all(_is_aligned(lines[1:], table[1:], column) for column in range(len(lines[0]))):
        return plain
    return [render_row(row, table[0].cells) for row in table[1:]]


def _is_aligned(lines: Sequence[list[tuple[float, str]]], rows: Sequence[Row], column: int) -> bool:
    starts = [cells[column][0] for cells in lines]
    return max(starts) - min(starts) <= MAX_SHIFT or is_numeric(rows, column)
