"""
Text assembled from pieces that keep their source line.

    call                                      text        line
    add_heading("Setup", level=2, line=7)     ## Setup       7
    add_paragraph("Run it.", line=9)                         9
                                              Run it.        9
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from weft.load.file_reader import too_large
from weft.text.decode import clean

MAX_NAME_CHARACTERS = 100
"""Maximum length of column names and keys, which are repeated on many lines."""
BAR = "\\|"
"""A `|` inside a cell."""
MAX_INDENT = 8
"""Maximum indentation depth of list items, because hostile nesting could inflate the text."""

_Kind = Literal["block", "item", "row"]
_MARKUP = re.compile(r"(?=#{1,6}(?:\s|$)|```|~~~)")
_BACKTICKS = re.compile(r"`{3,}")


def join_numbered(pieces: Iterable[tuple[str, int]], *, max_characters: int | None = None) -> tuple[str, list[int]]:
    """
    Return the cleaned text of the pieces, joined by line breaks, and the source line of each line.

    All lines of a piece get its number. Blank lines at both ends are removed. Raises `LoadError` after
    `max_characters`.
    """
    lines: list[tuple[str, int]] = []
    total = 0
    for text, number in pieces:
        total += len(text)
        if max_characters is not None and total > max_characters:
            raise too_large(total, limit=max_characters)
        lines.extend((line.rstrip(), number) for line in clean(text).split("\n"))
    while lines and not lines[-1][0]:
        lines.pop()
    start = next((index for index, (line, _) in enumerate(lines) if line), 0)
    return "\n".join(line for line, _ in lines[start:]), [number for _, number in lines[start:]]


def collapse(text: str) -> str:
    """Return the text on one line, with single spaces."""
    return " ".join(text.split())


def shorten(text: str, *, limit: int = MAX_NAME_CHARACTERS) -> str:
    """Return the text, cut with `…` to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


class MarkdownWriter:
    """
    Builds Markdown from headings, paragraphs, list items, table rows and code, each with its source line.

    Adding more than `max_characters` raises `LoadError`: names of table columns are repeated on every row.
    """

    def __init__(self, *, max_characters: int | None = None) -> None:
        self._pieces: list[tuple[str, int]] = []
        self._max_characters = max_characters
        self._characters = 0
        self._last_kind: _Kind | None = None

    def add_heading(self, text: str, *, level: int, line: int) -> None:
        """Add a heading; levels below 6 become 6."""
        if text := collapse(text):
            self._add(f"{'#' * min(level, 6)} {text}", kind="block", line=line)

    def add_paragraph(self, text: str, *, line: int, step: int = 0) -> None:
        """Add a paragraph; line ends in the text stay, and each further line adds `step`."""
        if text := _clean_paragraph(text):
            self._add_stepped(text, kind="block", line=line, step=step)

    def add_item(self, text: str, *, depth: int, line: int, step: int = 0) -> None:
        """Add a list item; the outermost list has depth 0."""
        if text := _clean_paragraph(text):
            indent = "  " * min(depth, MAX_INDENT)
            shown = f"{indent}- " + text.replace("\n", f"\n{indent}  ")
            self._add_stepped(shown, kind="item", line=line, step=step)

    def add_row(self, cells: Sequence[str], *, line: int) -> None:
        """Add a table row as `| a | b |`; a row of empty cells is omitted, and one cell is a line of text."""
        cells = [collapse(cell) for cell in cells]
        if len(cells) > 1 and any(cells):
            self._add(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |", kind="row", line=line)
        elif any(cells):
            self._add(cells[0], kind="row", line=line)

    def add_code(self, text: str, *, line: int, step: int = 1) -> None:
        """Add a fenced block whose text starts on `line`; each further line adds `step`."""
        if not text.strip():
            return
        fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
        self.add_lines(f"{fence}\n{text.rstrip()}\n{fence}", line=line, step=step, fenced=1)

    def add_lines(self, text: str, *, line: int, step: int = 1, fenced: int = 0) -> None:
        """Add Markdown unchanged. The first and last `fenced` lines are not in the source."""
        lines = text.rstrip().split("\n")
        last = len(lines) - 1 - 2 * fenced
        for index, text_line in enumerate(lines if any(lines) else ()):
            number = line + step * min(max(0, index - fenced), last)
            if index:
                self._pieces.append((text_line, number))
            else:
                self._add(text_line, kind="block", line=number)

    def finish(self) -> tuple[str, list[int]]:
        """Return the Markdown and the source line of each line."""
        return join_numbered(self._pieces)

    def _add_stepped(self, text: str, *, kind: _Kind, line: int, step: int) -> None:
        first, *rest = text.split("\n") if step else [text]
        self._add(first, kind=kind, line=line)
        self._characters += sum(map(len, rest))
        self._pieces += ((row, line + step * index) for index, row in enumerate(rest, start=1))

    def _add(self, text: str, *, kind: _Kind, line: int) -> None:
        if self._last_kind is not None and (kind == "block" or kind != self._last_kind):
            self._pieces.append(("", line))
        self._characters += len(text)
        if self._max_characters is not None and self._characters > self._max_characters:
            raise too_large(self._characters, limit=self._max_characters)
        self._pieces.append((text, line))
        self._last_kind = kind


def _clean_paragraph(text: str) -> str:
    """Collapse white space in each line and escape a leading heading or fence mark."""
    lines = filter(None, (collapse(line) for line in text.split("\n")))
    return "\n".join(f"\\{line}" if _MARKUP.match(line) else line for line in lines)
