"""CSV and TSV to documents: one line of text per row."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import file_title
from weft.load.line_map import join_numbered
from weft.load.metadata import to_metadata
from weft.load.table_rows import Row, render_row, split_header, to_row
from weft.records import Document

DELIMITERS = ",;\t|"
SAMPLE_LINES = 50
MAX_METADATA_COLUMNS = 500
"""Maximum number of column names in the metadata."""
MAX_REREAD_RATIO = 10
"""Maximum number of lines read again because of unclosed quotes, as a multiple of the lines of the file."""
MAX_FIELD_LIMIT = 2**31 - 1
"""The csv module keeps its limit in a C long, which has 32 bits on Windows."""


def load_table(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """
    Yield the single document of a table. A row becomes `name: Auth Service; owner: Identity`.

    Without a header row only the values are written. Empty cells are omitted.
    """
    text = read_text(path, options=options)
    with _field_limit(options.max_file_bytes):
        rows = _read_rows(text, is_tabbed=path.suffix.lower() == ".tsv")
    _, names, body = split_header(rows)
    pieces = ((render_row(row, names), row.line) for row in body)
    content, lines = join_numbered(pieces, max_characters=options.max_expanded_bytes)
    if not content:
        raise LoadError("empty", "all cells of the table are empty")
    yield Document(
        source=source,
        title=file_title(source, with_extension=True),
        text=content,
        form="table",
        metadata=to_metadata({"columns": list(dict.fromkeys(names.values()))[:MAX_METADATA_COLUMNS]} if names else {}),
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


def _read_rows(text: str, *, is_tabbed: bool) -> list[Row]:
    lines = [*text.split("\n"), ""]  # detects an unclosed quote on the last line
    delimiter = "\t" if is_tabbed else _find_delimiter(lines)
    try:
        return list(_iter_rows(lines, delimiter=delimiter))
    except csv.Error as error:
        raise LoadError("broken", f"CSV: {error}") from error


def _iter_rows(lines: Sequence[str], *, delimiter: str) -> Iterator[Row]:
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
                yield from _to_rows(values, line=start + 1)
                start = before + reader.line_num
        except csv.Error:
            # Within one line: `"The Raven" by Poe`. Over several lines, the cell would swallow other rows.
            taken = before + reader.line_num - start
            is_one_line, spare = taken == 1, spare - taken
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if is_one_line else csv.QUOTE_NONE
            row = csv.reader(lines[start : start + 1], delimiter=delimiter, skipinitialspace=True, quoting=quoting)
            yield from _to_rows(next(row, []), line=start + 1)
            start += 1


def _iter_ended(lines: Sequence[str], start: int, end: int) -> Iterator[str]:
    return (f"{lines[index]}\n" for index in range(start, end))


def _to_rows(values: Sequence[str], *, line: int) -> Iterator[Row]:
    row = to_row(values, line=line)
    if row:
        yield row


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
        widths = Counter(row.width for row in rows if row.width > 1)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return count, width

    return max(DELIMITERS, key=evenness)
