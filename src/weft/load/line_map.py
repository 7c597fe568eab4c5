"""Text put together from pieces, each of which remembers the line it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from weft.load.file_reader import too_large
from weft.text.decode import clean

MAX_NAME_CHARACTERS = 100
"""Column names and keys are repeated on many lines, so a long one would be too much of itself."""
MAX_INDENT = 8
"""List items nested deeper are indented no further, so that hostile nesting cannot swell the text."""

_Kind = Literal["block", "item", "row"]
_MARKUP = re.compile(r"(?=#{1,6}(?:\s|$)|```|~~~)")
_BACKTICKS = re.compile(r"`{3,}")


def join_numbered(pieces: Iterable[tuple[str, int]], *, max_characters: int | None = None) -> tuple[str, list[int]]:
    """
    Return the clean text of the pieces, one under the other, and the source line of each line.

    Each line of a piece has the piece's number. Blank lines at both ends are left out. Raises
    `Unloadable` as soon as there are more characters than allowed.
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
    """Return the text, or its beginning and `…`, in at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


class MarkdownWriter:
    """Collects headings, paragraphs, lists and tables and joins them as Markdown."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, int]] = []
        self._last: _Kind | None = None

    def add_heading(self, text: str, *, level: int, line: int) -> None:
        """Add a heading; levels below 6 become 6."""
        if text := collapse(text):
            self._add(f"{'#' * min(level, 6)} {text}", kind="block", line=line)

    def add_paragraph(self, text: str, *, line: int) -> None:
        """Add a paragraph; line ends in the text stay."""
        if text := _tidy(text):
            self._add(text, kind="block", line=line)

    def add_item(self, text: str, *, depth: int, line: int) -> None:
        """Add an item of a list; the outermost list has depth 0."""
        if text := _tidy(text):
            indent = "  " * min(depth, MAX_INDENT)
            self._add(f"{indent}- " + text.replace("\n", f"\n{indent}  "), kind="item", line=line)

    def add_row(self, cells: Sequence[str], *, line: int) -> None:
        """Add a row of a table, as `a | b`; a row of empty cells is left out."""
        if any(cells := [collapse(cell) for cell in cells]):
            self._add(" | ".join(cells), kind="row", line=line)

    def add_code(self, text: str, *, line: int, step: int = 1) -> None:
        """Add a fenced block, whose text begins on `line` of the source; each of its lines is `step` further."""
        if not text.strip():
            return
        fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
        self.add_lines(f"{fence}\n{text.rstrip()}\n{fence}", line=line, step=step, fenced=1)

    def add_lines(self, text: str, *, line: int, step: int = 1, fenced: int = 0) -> None:
        """Add Markdown as it stands, with `fenced` lines around it that the source does not have."""
        lines = text.rstrip().split("\n")
        last = len(lines) - 1 - 2 * fenced
        for index, text_line in enumerate(lines if any(lines) else ()):
            number = line + step * min(max(0, index - fenced), last)
            if index:
                self._pieces.append((text_line, number))
            else:
                self._add(text_line, kind="block", line=number)

    def finish(self) -> tuple[str, list[int]]:
        """Return the Markdown and the source line of each of its lines."""
        return join_numbered(self._pieces)

    def _add(self, text: str, *, kind: _Kind, line: int) -> None:
        if self._last is not None and (kind == "block" or kind != self._last):
            self._pieces.append(("", line))
        self._pieces.append((text, line))
        self._last = kind


def _tidy(text: str) -> str:
    """Collapse the white space of each line and keep it from being read as Markdown structure."""
    lines = filter(None, (collapse(line) for line in text.split("\n")))
    return "\n".join(f"\\{line}" if _MARKUP.match(line) else line for line in lines)
