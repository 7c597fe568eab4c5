"""
Table rows as text: each row repeats the names of its columns, so a chunk in the middle of a table is understood.

    name            owner             table of its own                       table in a page
    Auth Service    Identity          name: Auth Service; owner: Identity    | name: Auth Service | owner: Identity |
    Billing                           name: Billing                          name: Billing
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from weft.load.line_map import MarkdownWriter, collapse, shorten

SAMPLE_ROWS = 200
"""Rows below a header that are looked at to recognise it."""
MAX_ROWS_ABOVE = 10
"""Rows with a single cell above a header: title and notes of a sheet."""
MAX_SPAN = 1000
"""Maximum number of columns or rows that a merged cell covers."""

MAX_IMPLICIT_NAME = 40
"""Characters of a column name in a table of a text document that marks no header."""

_SENTENCE_ENDS = tuple(".,;:!?。，；：！？")
_VALUE = re.compile(r"[-+(]?[.,]*\d[\d.,:/%)TZ+ -]*$")
"""Numbers, dates and times. Column names do not match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table that is not empty."""

    line: int
    """Place in the source, from 1."""
    cells: Mapping[int, str]
    """Texts of the cells that are not empty, by column."""
    width: int
    """Number of columns, empty ones included."""


def to_row(values: Sequence[str], *, line: int) -> Row | None:
    """Return a row of values on one line each; None if all are empty."""
    cells = {column: text for column, value in enumerate(values) if (text := collapse(value))}
    return Row(line=line, cells=cells, width=len(values)) if cells else None


def split_header(rows: Iterable[Row], *, titled: bool = False) -> tuple[list[Row], dict[int, str], Iterator[Row]]:
    """
    Return the rows above the header, the column names, and the rows of data.

    There are no names if no row is recognised as the header. With `titled`, rows with one cell may precede it.
    """
    stream = iter(rows)
    sample = list(islice(stream, SAMPLE_ROWS))
    start = 0
    if titled:
        heads = enumerate(sample[:MAX_ROWS_ABOVE])
        start = next((index for index, row in heads if len(row.cells) > 1), 0)
    if not is_header(sample[start:]):
        return [], {}, chain(sample, stream)
    names = {column: shorten(name) for column, name in sample[start].cells.items()}
    return sample[:start], names, chain(sample[start + 1 :], stream)


def is_header(rows: Sequence[Row]) -> bool:
    """
    Return True if the first row is a header: texts without numbers, followed by other rows.

    With repeated names it is a header only if some column has numbers below its name.
    """
    if len(rows) < 2:
        return False
    names = rows[0].cells
    if len(names) < rows[0].width - 1 or any(map(_VALUE.match, names.values())):
        return False
    return len(set(names.values())) == len(names) or any(is_numeric(rows[1:], column) for column in names)


def is_numeric(rows: Sequence[Row], column: int) -> bool:
    """Return True if a column has only numbers, dates and times."""
    cells = [row.cells[column] for row in rows if column in row.cells]
    return bool(cells) and all(map(_VALUE.match, cells))


def render_row(row: Row, names: Mapping[int, str]) -> str:
    """Return `name: Auth; owner: Identity`; a cell without a column name is its value alone."""
    return "; ".join(name_cells(row, names))


def name_cells(row: Row, names: Mapping[int, str]) -> list[str]:
    """Return the cells with the names of their columns: `name: Auth`, `owner: Identity`."""
    return [f"{names[column]}: {cell}" if column in names else cell for column, cell in row.cells.items()]


def _has_short_names(row: Row) -> bool:
    return all(len(name) <= MAX_IMPLICIT_NAME and not name.endswith(_SENTENCE_ENDS) for name in row.cells.values())


def _is_wide(rows: Sequence[Row]) -> bool:
    return len(rows[0].cells) > 2 or any(is_numeric(rows[1:], column) for column in rows[0].cells)


def has_implicit_header(rows: Sequence[Row]) -> bool:
    """Return True if the first row can only be a header: short texts above three columns or above numbers."""
    return is_header(rows) and len(rows[0].cells) > 1 and _has_short_names(rows[0]) and _is_wide(rows)


def write_table(writer: MarkdownWriter, rows: Sequence[Row], *, has_header: bool | None = None) -> None:
    """
    Write the rows of a table with their column names; without a header, the cells are separated by `|`.

    `has_header` is what the source says about its first row. None: short texts above at least three columns, or above
    a column of numbers, are a header. Two columns of texts may be terms and their meanings.
    """
    if has_header is None:
        has_header = has_implicit_header(rows)
    if not has_header or len(rows) < 2 or len(rows[0].cells) < 2:
        for row in rows:
            writer.add_row(list(row.cells.values()), line=row.line)
        return
    names = {column: shorten(name) for column, name in rows[0].cells.items()}
    for row in rows[1:]:
        writer.add_row(name_cells(row, names), line=row.line)
