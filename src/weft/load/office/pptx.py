"""PPTX to documents; citations count slides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError, read_bytes
from weft.load.file_types import file_title
from weft.load.line_map import MarkdownWriter, collapse
from weft.load.office.package import Package
from weft.load.office.xml_events import XmlEvent, iter_events
from weft.load.table_rows import Row, to_row, write_table
from weft.records import Document
from weft.text.decode import clean

PRESENTATION = "ppt/presentation.xml"
TITLES = frozenset({"title", "ctrTitle"})
IGNORED = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Placeholders that repeat on every slide: number, date, footer, header, picture of the slide."""


def load_pptx(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a presentation. Its `lines` are slide numbers, from 1."""
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        package = Package(data, kind="PPTX", options=options)
        properties = package.properties()
        writer = MarkdownWriter(max_characters=options.max_file_bytes)
        first = _write_slides(package, writer, options=options)
    text, lines = writer.finish()
    if not text:
        raise LoadError("no text", "no slide has text")
    title = str(properties.get("title") or "")
    yield Document(
        source=source,
        title=first if title in ("", "PowerPoint Presentation") and first else title or file_title(source),
        text=text,
        form="markdown",
        metadata=properties,
        lines=lines,
        unit="slide",
    )


def _write_slides(package: Package, writer: MarkdownWriter, *, options: LoadOptions) -> str:
    """Write all slides with their notes; return the title of the first slide."""
    first = ""
    for number, part in enumerate(_iter_parts(package), start=1):
        if number > options.max_pages:
            raise LoadError("too large", f"more than {options.max_pages:,} slides; that is load.max_pages")
        slide = _Slide(package.read(part))
        if not slide.has_text:
            continue
        first = first or (slide.title if number == 1 else "")
        slide.write(writer, number=number)
        for relation in package.relations(part).values():
            if relation.kind == "notesSlide" and relation.target in package:
                _Slide(package.read(relation.target)).write_notes(writer, number=number)
    return clean(first)


def _iter_parts(package: Package) -> Iterator[str]:
    """Yield the parts of the slides in the order of the presentation; a slide that is listed twice comes once."""
    relations, seen = package.relations(PRESENTATION), set[str]()
    for event in iter_events(package.read(PRESENTATION)):
        if event.kind == "start" and event.name == "sldId":
            relation = relations.get(event.get(":id"))
            if relation and relation.kind == "slide" and relation.target in package and relation.target not in seen:
                seen.add(relation.target)
                yield relation.target


class _Table(NamedTuple):
    rows: list[Row]
    has_header: bool | None


class _Slide:
    """Texts and tables of a slide in the order of its shapes."""

    def __init__(self, data: bytes) -> None:
        self.title = ""
        self._blocks: list[tuple[str, int] | _Table] = []
        """Paragraphs with their list depth, -1 outside lists, and tables."""
        self._notes: list[str] = []
        self._placeholder: str | None = None
        self._words: list[str] = []
        self._in_text = False
        self._depth = 0
        self._cells: list[str] | None = None
        """Cells of the current row; None outside tables."""
        self._rows: list[Row] = []
        self._has_header: bool | None = None
        self._hidden = 0
        """Depth inside copies for other programs and fields that repeat."""
        for event in iter_events(data):
            self._take(event)

    @property
    def has_text(self) -> bool:
        """Return True if the slide has a title, a paragraph or a table."""
        return bool(self.title or self._blocks)

    def write(self, writer: MarkdownWriter, *, number: int) -> None:
        """Write the slide under its title."""
        writer.add_heading(self.title or f"Slide {number}", level=2, line=number)
        for block in self._blocks:
            if isinstance(block, _Table):
                write_table(writer, [replace(row, line=number) for row in block.rows], has_header=block.has_header)
            elif block[1] < 0:
                writer.add_paragraph(block[0], line=number)
            else:
                writer.add_item(block[0], depth=block[1], line=number)

    def write_notes(self, writer: MarkdownWriter, *, number: int) -> None:
        """Write the text of a notes page."""
        if self._notes:
            writer.add_paragraph("Notes: " + "\n".join(self._notes), line=number)

    def _take(self, event: XmlEvent) -> None:
        is_start = event.kind == "start"
        if event.kind == "text":
            if self._in_text and not self._hidden:
                self._words.append(event.name)
            return
        if self._hidden or event.name == "Fallback" or (event.name == "fld" and event.get("type") == "slidenum"):
            self._hidden += 1 if is_start else -1
            return
        match event.name:
            case "sp" | "graphicFrame" if is_start:
                self._placeholder = None
            case "ph" if is_start:
                self._placeholder = event.get("type") or "body"
            case "p":
                self._take_paragraph(is_start=is_start)
            case "pPr" if is_start:
                self._depth = int(event.get("lvl")) if event.get("lvl").isdecimal() else 0
            case "t":
                self._in_text = is_start
            case "br" if is_start:
                self._words.append("\n")
            case "tblPr" if is_start:
                self._has_header = True if event.get("firstRow") == "1" else None
            case "tbl" | "tr" | "tc":
                self._take_table(event.name, is_start=is_start)

    def _take_paragraph(self, *, is_start: bool) -> None:
        if is_start:
            self._words, self._depth = [*(self._words if self._cells is not None else ())], 0
            return
        if self._cells is not None:
            self._words.append("\n")
            return
        text = "".join(self._words)
        if not text.strip() or self._placeholder in IGNORED:
            return
        if self._placeholder in TITLES:
            self.title = collapse(f"{self.title} {text}")
            return
        if self._placeholder == "body":
            self._notes.append(text)
        self._blocks.append((text, -1 if self._placeholder is None else self._depth))

    def _take_table(self, name: str, *, is_start: bool) -> None:
        match name:
            case "tbl" if is_start:
                self._rows, self._has_header = [], None
            case "tbl":
                self._blocks.append(_Table(self._rows, self._has_header))
                self._cells = None
            case "tr" if is_start:
                self._cells = []
            case "tr":
                if self._cells and (row := to_row(self._cells, line=1)):
                    self._rows.append(row)
                self._cells = None
            case "tc" if is_start:
                self._words = []
            case "tc" if self._cells is not None:
                self._cells.append("".join(self._words))
                self._words = []
