"""OpenDocument spreadsheets to documents, one per sheet; citations count rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError, read_bytes
from weft.load.line_map import MAX_NAME_CHARACTERS, collapse
from weft.load.office.opendocument import CONTENT, HIDDEN, inline_text, open_opendocument
from weft.load.office.sheet import MAX_COLUMNS, MAX_SHEETS, SheetReader
from weft.load.office.xml_events import XmlEvent, iter_events
from weft.load.table_rows import MAX_SPAN, Row
from weft.records import Document


def load_ods(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield one document per sheet with text. Its `lines` are row numbers, from 1."""
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        package, _ = open_opendocument(data, options=options)
        reader = SheetReader(source=source, options=options)
        sheets = _iter_sheets(iter_events(package.read(CONTENT)))
        documents = [document for name, rows in sheets for document in reader.read(name, rows)]
    if not documents:
        raise LoadError("no text", "all cells of the workbook are empty")
    yield from documents


def _iter_sheets(events: Iterator[XmlEvent]) -> Iterator[tuple[str, Iterator[Row]]]:
    """Yield the name and the rows of each sheet; the rows must be read before the next sheet."""
    count = 0
    for event in events:
        if event.kind == "start" and event.name == "table" and count < MAX_SHEETS:
            count += 1
            yield event.get(":name"), _iter_rows(events)


def _iter_rows(events: Iterator[XmlEvent]) -> Iterator[Row]:
    """Yield the rows up to the end of the table that are not empty. A repeated row comes once, at its first place."""
    line, step, depth, hidden = 1, 1, 1, 0
    column, span = 0, 1
    cells: dict[int, str] = {}
    words: list[str] = []
    for event in events:
        is_start = event.kind == "start"
        if event.kind != "text" and (hidden or event.name in HIDDEN):
            hidden += 1 if is_start else -1
            continue
        match event.kind, event.name:
            case (("start" | "end"), "table"):  # a cell may hold a table
                depth += 1 if is_start else -1
                if not depth:
                    return
            case "start", "table-row" if depth == 1:
                step, column, cells = _count(event, ":number-rows-repeated"), 0, {}
            case "start", ("table-cell" | "covered-table-cell") if depth == 1:
                span, words = _count(event, ":number-columns-repeated"), []
            case "start", _:
                words.append(inline_text(event))
            case "text", text if not hidden:
                words.append(text)
            case "end", "p":
                words.append("\n")
            case "end", ("table-cell" | "covered-table-cell") if depth == 1:
                if text := collapse("".join(words)):
                    end = column + (min(span, MAX_SPAN) if len(text) <= MAX_NAME_CHARACTERS else 1)
                    cells |= dict.fromkeys(range(column, min(end, MAX_COLUMNS)), text)
                column += span
            case "end", "table-row" if depth == 1:
                if cells:
                    yield Row(line=line, cells=cells, width=max(cells) - min(cells) + 1)
                line += step


def _count(event: XmlEvent, name: str) -> int:
    value = event.get(name)
    return max(1, int(value)) if value.isdecimal() and len(value) < 10 else 1
