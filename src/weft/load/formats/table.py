"""CSV and TSV to documents: one line of text per row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import file_title
from weft.load.line_map import collapse, join_numbered, shorten
from weft.load.metadata import to_metadata
from weft.records import Document

DELIMITERS = ",;\t|"
SAMPLE_LINES = 50
MAX_METADATA_COLUMNS = 500
"""Maximum number of column names in the metadata."""
MAX_REREAD_RATIO = 10
"""Maximum number of lines read again because of unclosed quotes, as a multiple of the lines of the file."""
MAX_FIELD_LIMIT = 2**31 - 1
"""The csv module keeps its limit in a C long, which has 32 bits on Windows."""

_VALUE = re.compile(r"[-+(]?[.,]*\d[\d.,:/%)TZ+ -]*$")
"""Numbers, dates and times. Column names do not match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    """First line of the row, from 1. A quoted cell may span several lines."""
    cells: tuple[str, ...]


def load_table(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """
    Yield the single document of a table. A row becomes `name: Auth Service; owner: Identity`.

    Without a header row only the values are written. Empty cells are omitted.
    """
    text = read_text(path, options=options)
    with _field_limit(options.max_file_bytes):
        rows = _read_rows(text, is_tabbed=path.suffix.lower() == ".tsv")
    header = [shorten(name) for name in rows[0].cells] if _is_header(rows) else []
    body = rows[1:] if header else rows
    pieces = ((_render(row.cells, header=header), row.line) for row in body)
    content, lines = join_numbered(pieces, max_characters=options.max_expanded_bytes)
    if not content:
        raise LoadError("empty", "all cells of the table are empty")
    yield Document(
        source=source,
        title=file_title(source, with_extension=True),
        text=content,
        form="table",
        metadata=to_metadata(
            {"columns": list(dict.fromkeys(filter(None, header)))[:MAX_METADATA_COLUMNS]} if header else {}
        ),
        lines=lines,
    )


@contextmanager
def _field_limit(limit: int) -> Iterator[None]:
    """Allow cells of up to `limit` characters in the block; the csv module has one global limit."""
    before = csv.field_size_limit()
    csv.field_size_limit(min(max(before, limit), MAX_FIELD_LIMIT))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_rows(text: str, *, is_tabbed: bool) -> list[_Row]:
    lines = [*text.split("\n"), ""]  # detects an unclosed quote on the last line
    delimiter = "\t" if is_tabbed else _find_delimiter(lines)
    try:
        return list(_iter_rows(lines, delimiter=delimiter))
    except csv.Error as error:
        raise LoadError("broken", f"CSV: {error}") from error


def _iter_rows(lines: Sequence[str], *, delimiter: str) -> Iterator[_Row]:
    """
    Yield the rows that are not empty.

    A quote that is not closed, or only in the middle of a later row, is an ordinary character. For each such quote the
    following lines are read again. After `MAX_REREAD_RATIO` cells no longer span lines, so the time is linear.
    """
    start, spare = 0, MAX_REREAD_RATIO * len(lines)
    while start < len(lines):
        before, end = start, len(lines) if spare > 0 else start + 1
        reader = csv.reader(_iter_ended(lines, start, end), delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for values in reader:
                yield from _to_row(values, line=start + 1)
                start = before + reader.line_num
        except csv.Error:
            # Within one line: `"The Raven" by Poe`. Over several lines, the cell would swallow other rows.
            taken = before + reader.line_num - start
            is_one_line, spare = taken == 1, spare - taken
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if is_one_line else csv.QUOTE_NONE
            row = csv.reader(lines[start : start + 1], delimiter=delimiter, skipinitialspace=True, quoting=quoting)
            yield from _to_row(next(row, []), line=start + 1)
            start += 1


def _iter_ended(lines: Sequence[str], start: int, end: int) -> Iterator[str]:
    return (f"{lines[index]}\n" for index in range(start, end))


def _to_row(values: Sequence[str], *, line: int) -> Iterator[_Row]:
    cells = tuple(map(collapse, values))
    if any(cells):
        yield _Row(line=line, cells=cells)


def _find_delimiter(lines: Sequence[str]) -> str:
    """
    Return the delimiter that gives most of the first rows the same width; ties go to the earlier of `, ; tab |`.

    `csv.Sniffer` also accepts letters as delimiters, and its regular expressions may take very long.
    """

    def evenness(delimiter: str) -> tuple[int, int]:
        try:
            rows = list(_iter_rows(lines[:SAMPLE_LINES], delimiter=delimiter))
        except csv.Error:
            return 0, 0
        widths = Counter(len(row.cells) for row in rows if len(row.cells) > 1)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return count, width

    return max(DELIMITERS, key=evenness)


def _is_header(rows: Sequence[_Row]) -> bool:
    """
    Return True if the first row is a header: texts without numbers, followed by other rows.

    With repeated names it is a header only if some column has numbers below its name.
    """
    if len(rows) < 2:
        return False
    names = rows[0].cells
    filled = [name for name in names if name]
    if len(filled) < len(names) - 1 or any(_VALUE.match(name) for name in filled):
        return False
    return len(set(filled)) == len(filled) or any(_is_numeric(rows[1:], column) for column in range(len(names)))


def _is_numeric(rows: Sequence[_Row], column: int) -> bool:
    """Return True if a column has only numbers, dates and times."""
    cells = [row.cells[column] for row in rows if column < len(row.cells) and row.cells[column]]
    return bool(cells) and all(map(_VALUE.match, cells))


def _render(cells: Sequence[str], *, header: Sequence[str]) -> str:
    names = [*header, *[""] * len(cells)]
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
