"""OpenDocument texts and presentations to documents; citations of a presentation count slides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError, read_bytes
from weft.load.file_types import file_title
from weft.load.line_map import MAX_NAME_CHARACTERS, collapse
from weft.load.metadata import Fields
from weft.load.office.office_writer import OfficeWriter, Run, is_code_style, marked_text
from weft.load.office.package import Package, read_properties
from weft.load.office.xml_events import XmlEvent, iter_events
from weft.load.table_rows import MAX_SPAN, Row, to_row, write_table
from weft.records import Document, Unit
from weft.text.decode import clean

CONTENT = "content.xml"
META = "meta.xml"
MANIFEST = "META-INF/manifest.xml"
HIDDEN = frozenset(
    {"tracked-changes", "annotation", "forms", "note-citation", "ruby-text", "sequence-decls", "binary-data"}
)
"""Elements without text of the document. Deleted text is in `tracked-changes`."""


def load_odt(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an OpenDocument text."""
    yield _load(path, source=source, options=options, unit="line")


def load_odp(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a presentation. Its `lines` are slide numbers, from 1."""
    yield _load(path, source=source, options=options, unit="slide")


def open_opendocument(data: bytes, *, options: LoadOptions) -> tuple[Package, Fields]:
    """Return an OpenDocument package with title and author. Raises `LoadError` if it has a password."""
    package = Package(data, kind="OpenDocument", options=options)
    if MANIFEST in package:
        for event in iter_events(package.read(MANIFEST)):
            if event.kind == "start" and event.name == "encryption-data":
                raise LoadError("encrypted", "the file has a password")
    return package, read_properties(package.read(META)) if META in package else {}


def repeated(event: XmlEvent, name: str) -> int:
    """Return how often a row or a cell is repeated, at least once and at most `MAX_SPAN` times."""
    value = event.get(name)
    return min(max(1, int(value)), MAX_SPAN) if value.isdecimal() and len(value) < 10 else 1


def inline_text(event: XmlEvent) -> str:
    """Return the text of an element that stands for white space."""
    match event.name:
        case "s":
            value = event.get(":c")
            return " " * min(int(value), MAX_SPAN) if value.isdecimal() and len(value) < 10 else " "
        case "tab":
            return "\t"
        case "line-break":
            return "\n"
    return ""


def _load(path: Path, *, source: str, options: LoadOptions, unit: Unit) -> Document:
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        package, properties = open_opendocument(data, options=options)
        reader = _TextReader(package.read(CONTENT), options=options)
    text, lines = reader.writer.finish()
    if not text:
        raise LoadError("no text", "the document has no paragraph with text")
    return Document(
        source=source,
        title=str(properties.get("title") or reader.first_heading or file_title(source)),
        text=text,
        form="markdown",
        metadata=properties,
        lines=lines if unit == "slide" else None,
        unit=unit,
    )


class _TextReader:
    """Writes the body of a document as Markdown."""

    def __init__(self, data: bytes, *, options: LoadOptions) -> None:
        self.writer = OfficeWriter(max_characters=options.max_file_bytes)
        self.first_heading = ""
        self._max_pages = options.max_pages
        self._slide = 0
        """Number of the current slide; 0 in a text document."""
        self._has_title = False
        """True once the current slide has a heading."""
        self._class = ""
        """Role of the current frame of a slide: `title`, `outline`, `notes`."""
        self._texts: list[list[Run]] = []
        """Text of each open paragraph; a text box or footnote is a paragraph inside another."""
        self._code_styles: set[str] = set()
        """Styles of this file that are derived from one for code."""
        self._codes: list[bool] = []
        """Whether each open paragraph and span has a style for code."""
        self._address = ""
        self._levels: list[int] = []
        """Heading level of each open paragraph, 0 for ordinary ones."""
        self._lists = 0
        self._opens_item = False
        self._tables: list[_Table] = []
        self._hidden = 0
        for event in iter_events(data):
            self._take(event)

    @property
    def _line(self) -> int:
        return max(1, self._slide)

    def _take(self, event: XmlEvent) -> None:
        is_start = event.kind == "start"
        if event.kind == "text":
            if self._texts and not self._hidden:
                self._add(event.name)
            return
        if self._hidden or event.name in HIDDEN:
            self._hidden += 1 if is_start else -1
            return
        match event.name:
            case "page" if is_start:
                self._open_slide()
            case "frame" | "notes" if is_start:
                self._class = event.get(":class") or ("notes" if event.name == "notes" else "")
            case "h" | "p" if is_start:
                self._texts.append([])
                self._codes.append(self._is_code(event))
                self._levels.append(_level(event) if event.name == "h" else 0)
            case "h" | "p":
                self._close_paragraph()
            case "s" | "tab" | "line-break" if is_start and self._texts:
                self._add(inline_text(event))
            case "span" if is_start:
                self._codes.append(self._is_code(event))
            case "span" if self._codes:
                self._codes.pop()
            case "a":
                self._address = _address(event.get(":href")) if is_start else ""
            case "style" if is_start and is_code_style(event.get(":parent-style-name")):
                self._code_styles.add(event.get(":name"))
            case "list":
                self._lists += 1 if is_start else -1
            case "list-item" | "list-header" if is_start:
                self._opens_item = True
            case "table" | "table-header-rows" | "table-row" | "table-cell" | "covered-table-cell":
                self._take_table(event, is_start=is_start)

    def _add(self, text: str) -> None:
        self._texts[-1].append(Run(text, any(self._codes[-2:]), self._address))

    def _is_code(self, event: XmlEvent) -> bool:
        name = event.get(":style-name")
        return name in self._code_styles or is_code_style(name)

    def _open_slide(self) -> None:
        self._slide += 1
        self._has_title, self._class = False, ""
        if self._slide > self._max_pages:
            raise LoadError("too large", f"more than {self._max_pages:,} slides; that is load.max_pages")

    def _close_paragraph(self) -> None:
        runs, level = self._texts.pop(), self._levels.pop()
        self._codes.pop()
        text = marked_text(runs)
        if not text.strip():
            return
        if self._tables and self._tables[-1].cell is not None:
            self._tables[-1].cell.append(text)
        elif self._slide:
            self._write_slide_text(text)
        elif not level and self.writer.add_runs(runs, line=self._line):
            return
        elif level:
            self.first_heading = self.first_heading or (clean(collapse(text)) if level == 1 else "")
            self.writer.add_heading(text, level=level, line=self._line)
        else:
            self._write_text(text)

    def _write_text(self, text: str) -> None:
        if self._lists and self._opens_item:
            self.writer.add_item(text, depth=self._lists - 1, line=self._line)
            self._opens_item = False
        else:
            self.writer.add_paragraph(text, line=self._line)

    def _write_slide_text(self, text: str) -> None:
        """Write a paragraph of a slide; without a title the slide gets a heading with its number."""
        if self._class == "title" or not self._has_title:
            is_title = self._class == "title" and not self._has_title
            heading = collapse(text) if is_title else f"Slide {self._slide}"
            if not self._has_title:
                self.writer.add_heading(heading, level=2, line=self._line)
                self._has_title = True
            self.first_heading = self.first_heading or (clean(heading) if is_title and self._slide == 1 else "")
            if is_title:
                return
        self._write_text(f"Notes: {text}" if self._class == "notes" else text)

    def _take_table(self, event: XmlEvent, *, is_start: bool) -> None:
        if event.name == "table":
            if is_start:
                self._tables.append(_Table())
            elif self._tables:
                table = self._tables.pop()
                write_table(self.writer, table.rows, has_header=table.has_header)
        elif self._tables:
            self._tables[-1].take(event, line=self._line)


class _Table:
    """Rows of a table that is being read."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.has_header: bool | None = None
        self.cell: list[str] | None = None
        """Paragraphs of the current cell."""
        self._values: list[str] = []
        self._span = 1

    def take(self, event: XmlEvent, *, line: int) -> None:
        """Take the start or end of a row or a cell."""
        is_start = event.kind == "start"
        match event.name:
            case "table-header-rows" if is_start and not self.rows:
                self.has_header = True
            case "table-row" if is_start:
                self._values = []
            case "table-row":
                if row := to_row(self._values, line=line):
                    self.rows.append(row)
            case "table-cell" | "covered-table-cell" if is_start:
                self.cell, self._span = [], repeated(event, ":number-columns-repeated")
            case "table-cell" | "covered-table-cell" if self.cell is not None:
                text = "\n".join(self.cell)
                copies = self._span if len(text) <= MAX_NAME_CHARACTERS else 1
                self._values += [text] * copies if len(self._values) < MAX_SPAN else []
                self.cell = None


def _address(target: str) -> str:
    """Return the address of a link; a relative one starts in the package, one level below the folder of the file."""
    return target.removeprefix("../")


def _level(event: XmlEvent) -> int:
    value = event.get(":outline-level")
    return int(value) if value.isdecimal() and len(value) < 3 else 1
