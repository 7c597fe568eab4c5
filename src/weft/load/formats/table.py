"""CSV and TSV to documents: one line of text for each row."""

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
SAMPLE_ROWS = 50
MAX_COLUMNS = 500
"""How many column names go into the metadata."""
MAX_REREADS = 10
"""How often as many lines as a file has are read once more, since quotes opened there led nowhere."""
MAX_FIELD_LIMIT = 2**31 - 1
"""The csv module keeps its limit in a C long, which has 32 bits on Windows."""

_VALUE = re.compile(r"[-+(]?[.,]*\d[\d.,:/%)TZ+ -]*$")
"""Numbers, dates and times: what a row of column names does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    """Where the row begins, from 1: a quoted cell may run over several lines."""
    cells: tuple[str, ...]


def load_table(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """
    Yield the one document of a table, in which a row reads `name: Auth Service; owner: Identity`.

    Without a row of column names the values stand alone. Empty cells are left out.
    """
    text = read_text(path, options=options)
    with _field_limit(options.max_file_bytes):
        rows = _read_rows(text, is_tabbed=path.suffix.lower() == ".tsv")
    header = [shorten(name) for name in rows[0].cells] if _is_header(rows) else []
    body = rows[1:] if header else rows
    pieces = ((_render(row.cells, header=header), row.line) for row in body)
    content, lines = join_numbered(pieces, max_characters=options.max_expanded_bytes)
    if not content:
        raise LoadError("empty", "no cell holds anything")
    yield Document(
        source=source,
        title=file_title(source, with_extension=True),
        text=content,
        form="table",
        metadata=to_metadata({"columns": list(dict.fromkeys(filter(None, header)))[:MAX_COLUMNS]} if header else {}),
        lines=lines,
    )


@contextmanager
def _field_limit(limit: int) -> Iterator[None]:
    """Allow cells of up to `limit` characters; the csv module has one limit for all of its readers."""
    before = csv.field_size_limit()
    csv.field_size_limit(min(max(before, limit), MAX_FIELD_LIMIT))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_rows(text: str, *, is_tabbed: bool) -> list[_Row]:
    lines = [*text.split("\n"), ""]  # so that a quote left open on the last line runs on as well
    delimiter = "\t" if is_tabbed else _find_delimiter(lines)
    try:
        return list(_iter_rows(lines, delimiter=delimiter))
    except csv.Error as error:
        raise LoadError("broken", f"CSV: {error}") from error


def _iter_rows(lines: Sequence[str], *, delimiter: str) -> Iterator[_Row]:
    """
    Yield the rows that hold anything.

    A quote that nothing closes, or only one in the middle of a later row, is a character like any other. Where that
    happens all the time, no cell runs over its line any more, or time would grow with the square of the lines.
    """
    start, spare = 0, MAX_REREADS * len(lines)
    while start < len(lines):
        before, end = start, len(lines) if spare > 0 else start + 1
        reader = csv.reader(_iter_ended(lines, start, end), delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for values in reader:
                yield from _to_row(values, line=start + 1)
                start = before + reader.line_num
        except csv.Error:
            # On one line it is `"The Raven" by Poe`; beyond it, the row would swallow others.
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
    Return the delimiter that cuts the first rows most evenly; ties go to the earlier of `, ; tab |`.

    `csv.Sniffer` also takes letters for delimiters and has regular expressions without a time limit.
    """

    def evenness(delimiter: str) -> tuple[int, int]:
        try:
            rows = list(_iter_rows(lines[:SAMPLE_ROWS], delimiter=delimiter))
        except csv.Error:
            return 0, 0
        widths = Counter(len(row.cells) for row in rows if len(row.cells) > 1)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return count, width

    return max(DELIMITERS, key=evenness)


def _is_header(rows: Sequence[_Row]) -> bool:
    """
    Tell whether the first row names the columns: words, no numbers, and rows beneath.

    Names that come more than once may be values as well, unless some column has numbers below its word.
    """
    if len(rows) < 2:
        return False
    names = rows[0].cells
    filled = [name for name in names if name]
    if len(filled) < len(names) - 1 or any(_VALUE.match(name) for name in filled):
        return False
    return len(set(filled)) == len(filled) or any(_is_measured(rows[1:], place) for place in range(len(names)))


def _is_measured(rows: Sequence[_Row], place: int) -> bool:
    """Tell whether a column holds nothing but numbers, dates and times."""
    cells = [row.cells[place] for row in rows if place < len(row.cells) and row.cells[place]]
    return bool(cells) and all(map(_VALUE.match, cells))


def _render(cells: Sequence[str], *, header: Sequence[str]) -> str:
    names = [*header, *[""] * len(cells)]
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
