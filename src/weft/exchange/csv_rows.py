"""CSV and TSV as rows of cells, in which one broken row does not swallow those beneath it."""

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
"""A row that runs on for longer has a quote that was never closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row that holds anything."""

    line: int
    """Where it begins, from 1: a quoted cell may run over several lines."""
    cells: tuple[str, ...]


def iter_rows(text: str, *, delimiter: str, skip: Skip) -> Iterator[Row]:
    """
    Yield the rows of a table.

    A row of several lines must be as wide as the first one and close its quotes; otherwise its first line is
    skipped and reading goes on with the second.
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
            skip(f"line {start + 1}", "a quote is not closed")
            start += 1
            continue
        if any(cell.strip() for cell in cells):
            width = width or len(cells)
            yield Row(line=start + 1, cells=tuple(cells))
        start = end


def find_delimiter(text: str, *, is_header: Callable[[Sequence[str]], bool]) -> str:
    """
    Return the delimiter that makes a header of the first row, or else cuts the first rows most evenly.

    Ties go to the earlier of `, ; tab |`.
    """
    sample = list(islice((line for line in text.split("\n") if line.strip()), SAMPLE_LINES))
    for delimiter in DELIMITERS:
        if sample and is_header(_cut(sample[0], delimiter=delimiter)):
            return delimiter
    return max(DELIMITERS, key=lambda delimiter: _evenness(sample, delimiter=delimiter))


def _read_row(lines: Sequence[str], *, start: int, delimiter: str) -> tuple[list[str], int]:
    """Return the cells of the row that begins at a line, and where the next one begins."""
    stop = min(start + MAX_ROW_LINES, len(lines))
    # A space after the delimiter would make the quote behind it a mere character.
    reader = csv.reader((f"{lines[i]}\n" for i in range(start, stop)), delimiter=delimiter, skipinitialspace=True)
    return next(reader, []), start + max(1, reader.line_num)


def _is_broken(lines: Sequence[str], *, cells: Sequence[str], width: int) -> bool:
    quotes = sum(line.count('"') for line in lines)
    return quotes % 2 == 1 or (width > 0 and len(cells) != width)


def _cut(line: str, *, delimiter: str) -> list[str]:
    try:
        return _read_row([line], start=0, delimiter=delimiter)[0]
    except csv.Error:
        return []


def _evenness(lines: Sequence[str], *, delimiter: str) -> int:
    """Return how many of the lines have the same number of cells, of those with three or more."""
    widths = Counter(len(_cut(line, delimiter=delimiter)) for line in lines)
    return max((count for width, count in widths.items() if width >= 3), default=0)
