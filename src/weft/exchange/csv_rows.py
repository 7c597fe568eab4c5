"""Rows of CSV and TSV. A malformed row does not affect the following rows."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from weft.exchange.json_values import Skip

DELIMITERS = ",;\t|"
SAMPLE_LINES = 20
MAX_ROW_LINES = 1000
"""Maximum number of lines of a row; a longer row has an unclosed quote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row that is not empty."""

    line: int
    """First line of the row, from 1. A quoted cell may span several lines."""
    cells: tuple[str, ...]


def iter_rows(text: str, *, delimiter: str, skip: Skip) -> Iterator[Row]:
    """
    Yield the rows of a table.

    A row of several lines must have closed quotes and as many cells as the first row. Otherwise its first line is
    skipped, and reading continues with its second line.
    """
    lines = text.split("\n")
    start = width = 0
    while start < len(lines):
        try:
            cells, end = _read_row(lines, start=start, delimiter=delimiter)
        except csv.Error as error:
            skip(f"line {start + 1}", f"CSV: {error}")
            start += 1
            continue
        if end - start > 1 and _is_broken(lines[start:end], cells=cells, width=width):
            skip(f"line {start + 1}", "unclosed quote")
            start += 1
            continue
        if any(cell.strip() for cell in cells):
            width = width or len(cells)
            yield Row(line=start + 1, cells=tuple(cells))
        start = end


def find_delimiter(text: str, *, is_header: Callable[[Sequence[str]], bool]) -> str:
    """
    Return the delimiter that makes the first row a header, or else gives most rows the same number of cells.

    Ties go to the earlier of `, ; tab |`.

    """
    sample = list(islice((line for line in text.split("\n") if line.strip()), SAMPLE_LINES))
    for delimiter in DELIMITERS:
        if sample and is_header(_split_line(sample[0], delimiter=delimiter)):
            return delimiter
    return max(DELIMITERS, key=lambda delimiter: _evenness(sample, delimiter=delimiter))


def _read_row(lines: Sequence[str], *, start: int, delimiter: str) -> tuple[list[str], int]:
    """Return the cells of the row at line `start`, and the first line of the next row."""
    stop = min(start + MAX_ROW_LINES, len(lines))
    # skipinitialspace: otherwise a quote after `, ` would be an ordinary character.
    reader = csv.reader((f"{lines[i]}\n" for i in range(start, stop)), delimiter=delimiter, skipinitialspace=True)
    return next(reader, []), start + max(1, reader.line_num)


def _is_broken(lines: Sequence[str], *, cells: Sequence[str], width: int) -> bool:
    quotes = sum(line.count('"') for line in lines)
    return quotes % 2 == 1 or (width > 0 and len(cells) != width)


def _split_line(line: str, *, delimiter: str) -> list[str]:
    try:
        return _read_row([line], start=0, delimiter=delimiter)[0]
    except csv.Error:
        return []


def _evenness(lines: Sequence[str], *, delimiter: str) -> int:
    """Return the size of the largest group of lines with the same number of cells, from three cells."""
    widths = Counter(len(_split_line(line, delimiter=delimiter)) for line in lines)
    return max((count for width, count in widths.items() if width >= 3), default=0)
