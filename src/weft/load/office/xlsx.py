"""XLSX to documents, one per sheet; citations count rows."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError, read_bytes
from weft.load.line_map import collapse
from weft.load.office.package import Package
from weft.load.office.sheet import MAX_COLUMNS, MAX_SHEETS, SheetReader
from weft.load.office.xml_events import XmlEvent, iter_events
from weft.load.table_rows import Row
from weft.records import Document

WORKBOOK = "xl/workbook.xml"
MAX_FORMAT_CHARACTERS = 255
"""Length of a number format in Excel."""

_REFERENCE = re.compile(r"([A-Z]{1,3})\d{1,7}$")
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\[\]]*\]')
"""Parts of a number format that are not format characters."""
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_DATE_FORMATS = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
"""Ids of the built-in formats of dates and times."""
_PERCENT_FORMATS = frozenset({9, 10})
_EPOCHS = {False: datetime.datetime(1899, 12, 30), True: datetime.datetime(1904, 1, 1)}
"""Day 0 by `date1904`. Excel counts 1900 as a leap year, so day 0 is not December 31."""


@dataclass(slots=True)
class _Workbook:
    """What the cells of all sheets refer to."""

    strings: Sequence[str] = ()
    dates: frozenset[int] = frozenset()
    """Indexes of cell styles that show a date."""
    percents: frozenset[int] = frozenset()
    epoch: datetime.datetime = _EPOCHS[False]
    sheets: list[tuple[str, str]] = field(default_factory=list)
    """Name and part of each sheet."""


def load_xlsx(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield one document per sheet with text. Its `lines` are row numbers, from 1."""
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        documents = list(_read(Package(data, kind="XLSX", options=options), source=source, options=options))
    if not documents:
        raise LoadError("no text", "all cells of the workbook are empty")
    yield from documents


def _read(package: Package, *, source: str, options: LoadOptions) -> Iterator[Document]:
    book = _read_workbook(package)
    reader = SheetReader(source=source, options=options)
    for name, part in book.sheets[:MAX_SHEETS]:
        if part in package:
            yield from reader.read(name, _iter_rows(package.read(part), book=book))


def _read_workbook(package: Package) -> _Workbook:
    book = _Workbook()
    relations = package.relations(WORKBOOK)
    for event in iter_events(package.read(WORKBOOK)):
        if event.kind == "start" and event.name == "workbookPr":
            book.epoch = _EPOCHS[event.get("date1904") in ("1", "true")]
        elif event.kind == "start" and event.name == "sheet":
            found = relations.get(event.get(":id"))
            if found and found.kind == "worksheet":  # a chart sheet has no cells
                book.sheets.append((event.get("name"), found.target))
    for relation in relations.values():
        if relation.kind == "sharedStrings" and relation.target in package:
            book.strings = list(_iter_strings(package.read(relation.target)))
        elif relation.kind == "styles" and relation.target in package:
            book.dates, book.percents = _read_styles(package.read(relation.target))
    return book


def _iter_strings(data: bytes) -> Iterator[str]:
    """Yield the shared strings, without their phonetic readings."""
    words: list[str] = []
    in_text, phonetic = False, 0
    for event in iter_events(data):
        match event.kind, event.name:
            case "start", "si":
                words = []
            case "end", "si":
                yield collapse("".join(words))
            case (("start" | "end"), "rPh"):
                phonetic += 1 if event.kind == "start" else -1
            case (("start" | "end"), "t"):
                in_text = event.kind == "start" and not phonetic
            case "text", text if in_text:
                words.append(text)


def _read_styles(data: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Return the indexes of the cell styles that show dates and percentages."""
    date_formats, percent_formats = set(map(str, _DATE_FORMATS)), set(map(str, _PERCENT_FORMATS))
    dates, percents = set[int](), set[int]()
    index, in_styles = 0, False
    for event in iter_events(data):
        if event.name == "cellXfs":
            in_styles = event.kind == "start"
        elif event.kind != "start":
            continue
        elif event.name == "numFmt":
            code = _LITERAL.sub("", event.get("formatCode")[:MAX_FORMAT_CHARACTERS])
            number = event.get("numFmtId")
            (date_formats.add if _DATE_LETTERS.search(code) else date_formats.discard)(number)
            (percent_formats.add if "%" in code else percent_formats.discard)(number)
        elif event.name == "xf" and in_styles:
            number = event.get("numFmtId")
            dates |= {index} if number in date_formats else set()
            percents |= {index} if number in percent_formats else set()
            index += 1
    return frozenset(dates), frozenset(percents)


def _iter_rows(data: bytes, *, book: _Workbook) -> Iterator[Row]:
    """Yield the rows that are not empty. Rows and cells without a reference follow the one before."""
    line, column = 0, -1
    cells: dict[int, str] = {}
    cell: Mapping[str, str] = {}
    words: list[str] = []
    in_value = False
    for event in iter_events(data):
        match event.kind, event.name:
            case "start", "row":
                line, column, cells = _row_number(event, after=line), -1, {}
            case "start", "c":
                cell, words, column = event.attributes, [], _column(event.get("r"), after=column)
            case (("start" | "end"), ("v" | "t")):
                in_value = event.kind == "start"
            case "text", text if in_value:
                words.append(text)
            case "end", "c":
                if column < MAX_COLUMNS and (text := _read_value("".join(words), cell, book=book)):
                    cells[column] = text
            case "end", "row":
                if cells:
                    width = max(cells) - min(cells) + 1
                    yield Row(line=line, cells=dict(sorted(cells.items())), width=width)


def _row_number(event: XmlEvent, *, after: int) -> int:
    written = event.get("r")
    return int(written) if written.isdecimal() and len(written) <= 7 and int(written) > after else after + 1


def _column(reference: str, *, after: int) -> int:
    """Return the column of `AB12`, from 0."""
    found = _REFERENCE.match(reference)
    if not found:
        return after + 1
    column = 0
    for letter in found[1]:
        column = 26 * column + ord(letter) - 64
    return column - 1


def _read_value(text: str, cell: Mapping[str, str], *, book: _Workbook) -> str:
    """Return the text that a cell shows; errors such as `#DIV/0!` are empty."""
    match cell.get("t", "n"):
        case "s":
            index = int(text) if text.isdecimal() and len(text) < 10 else len(book.strings)
            return book.strings[index] if index < len(book.strings) else ""
        case "b":
            return "TRUE" if text.strip() == "1" else "FALSE"
        case "e":
            return ""
        case "n":
            style = cell.get("s", "0")
            return _read_number(text, style=int(style) if style.isdecimal() and len(style) < 10 else 0, book=book)
        case _:
            return collapse(text)


def _read_number(text: str, *, style: int, book: _Workbook) -> str:
    try:
        value = float(text)
    except ValueError:
        return collapse(text)
    if style in book.dates:
        return _to_date(value, epoch=book.epoch)
    return f"{100 * value:.15g}%" if style in book.percents else f"{value:.15g}"


def _to_date(value: float, *, epoch: datetime.datetime) -> str:
    """Return a date, a time or both: `2026-03-02`, `14:30:00`, `2026-03-02 14:30:00`."""
    try:
        moment = epoch + datetime.timedelta(seconds=round(value * 86_400))
    except (OverflowError, ValueError):
        return f"{value:.15g}"
    if 0 <= value < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if moment.time() == datetime.time() else moment.isoformat(sep=" ")
