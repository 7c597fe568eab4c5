"""DOCX to documents with python-docx; headings, lists and tables become Markdown."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import PARSER_ERRORS, LoadError, missing_extra, read_bytes
from weft.load.file_types import file_title
from weft.load.line_map import collapse
from weft.load.metadata import Fields
from weft.load.office.office_writer import OfficeWriter, Run, is_code_font, is_code_style, marked_text
from weft.load.office.package import check_package
from weft.load.table_rows import MAX_SPAN, Row, to_row, write_table
from weft.records import Document
from weft.text.decode import clean

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

MAX_BLOCKS = 200_000
"""Maximum number of paragraphs and tables. A book of a thousand pages has about 20,000."""

_HEADING_STYLE = re.compile(r"heading (\d)", re.I)
_MAIN = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def load_docx(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a DOCX file."""
    data = read_bytes(path, options=options)
    check_package(data, kind="DOCX", options=options)
    with cpu_limit(options.max_cpu_seconds):
        text, heading, properties = _read(data)
    if not text:
        raise LoadError("no text", "the document has no paragraph with text")
    yield Document(
        source=source,
        title=str(properties.get("title") or heading or file_title(source)),
        text=text,
        form="markdown",
        metadata=properties,
    )


def _read(data: bytes) -> tuple[str, str, Fields]:
    """Return the body as Markdown, its first heading, and the properties title and author."""
    try:
        import docx
        from docx.opc.exceptions import OpcError
        from lxml.etree import LxmlError
    except ImportError as error:
        raise missing_extra("python-docx", extra="docx") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            word = docx.Document(io.BytesIO(data))
            return *_render(word), _read_properties(word)
    except (OpcError, LxmlError, zipfile.BadZipFile, *PARSER_ERRORS) as error:
        raise LoadError("broken", f"DOCX: {error}") from error


def _render(word: WordDocument) -> tuple[str, str]:
    """Return the body as Markdown, and the first heading of the first level."""
    writer, first = OfficeWriter(), ""
    styles = {style.style_id: (style.name or "") for style in word.styles}
    reader = _RunReader(
        code_styles=frozenset(id for id, name in styles.items() if is_code_style(name)),
        addresses={id: relation.target_ref for id, relation in word.part.rels.items() if relation.is_external},
        reads_fonts=not _is_all_code(word.element.body),
    )
    for line, block in enumerate(_iter_blocks(word.element.body), start=1):
        if line > MAX_BLOCKS:
            raise LoadError("too large", f"the document has more than {MAX_BLOCKS:,} paragraphs")
        if block.tag == f"{_MAIN}tbl":
            _write_table(writer, block, line=line, reader=reader)
            continue
        runs, style = reader.read(block), styles.get(block.style or "", "")
        text = marked_text(runs)
        heading = _HEADING_STYLE.match(style)
        if heading or style == "Title":
            level = int(heading[1]) if heading else 1
            first = first or (collapse(text) if level == 1 else "")
            writer.add_heading(text, level=level, line=line)
        elif writer.add_runs(runs, line=line):
            pass
        elif (depth := _list_depth(block)) is not None or style.startswith("List"):
            writer.add_item(text, depth=depth or 0, line=line)
        else:
            writer.add_paragraph(text, line=line)
    return writer.finish()[0], clean(first)


def _write_table(writer: OfficeWriter, table: Any, *, line: int, reader: _RunReader) -> None:
    rows: list[Row] = []
    has_header: bool | None = None
    for element in _iter_own(table, tag=f"{_MAIN}tr"):
        values: list[str] = []
        for cell in _iter_own(element, tag=f"{_MAIN}tc"):
            values += [marked_text(reader.read(cell)), *[""] * (_span(cell) - 1)]
        if row := to_row(values, line=line):
            if not rows and element.find(f"{_MAIN}trPr/{_MAIN}tblHeader") is not None:
                has_header = True
            rows.append(row)
    write_table(writer, rows, has_header=has_header)


def _span(cell: Any) -> int:
    """Return the number of columns of a merged cell."""
    found = cell.find(f"{_MAIN}tcPr/{_MAIN}gridSpan")
    value = found.get(f"{_MAIN}val") if found is not None else None
    return min(int(value), MAX_SPAN) if value and value.isdecimal() else 1


def _iter_blocks(body: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in document order, also inside content controls."""
    stack = [body.iterchildren()]
    while stack:
        for child in stack[-1]:
            if child.tag in (f"{_MAIN}p", f"{_MAIN}tbl"):
                yield child
            elif child.tag in (f"{_MAIN}sdt", f"{_MAIN}sdtContent", f"{_MAIN}ins", f"{_MAIN}customXml"):
                stack.append(child.iterchildren())
                break
        else:
            stack.pop()


def _iter_own(element: Any, *, tag: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, without those of nested tables."""
    for found in element.iter(tag):
        if next(found.iterancestors(element.tag)) is element:
            yield found


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunReader:
    """Reads the runs of paragraphs and cells."""

    code_styles: frozenset[str]
    """Ids of the styles for code."""
    addresses: Mapping[str, str]
    """Addresses of links by the id of their relation."""
    reads_fonts: bool
    """False in a document that is written with a font of one width."""

    def read(self, element: Any) -> list[Run]:
        """Return the runs of a paragraph or cell, with tracked insertions and without deletions."""
        runs: list[Run] = []
        is_code = self._has_code_style(element.find(f"{_MAIN}pPr/{_MAIN}pStyle"))
        for part in element.iter(f"{_MAIN}t", f"{_MAIN}tab", f"{_MAIN}br", f"{_MAIN}cr", f"{_MAIN}p"):
            if any(True for _ in part.iterancestors(_FALLBACK)):
                continue  # a copy of the text for programs without text boxes
            run = part.getparent()
            if part.tag == f"{_MAIN}p":
                runs.append(Run("\n"))
            elif part.tag == f"{_MAIN}t" or run.tag == f"{_MAIN}r":  # elsewhere a tab is a tab stop, not a character
                text = part.text or "" if part.tag == f"{_MAIN}t" else "\t" if part.tag == f"{_MAIN}tab" else "\n"
                runs.append(Run(text, is_code or self._is_code(run), self._address(run)))
        return runs

    def _is_code(self, run: Any) -> bool:
        return (self.reads_fonts and _has_code_font(run)) or self._has_code_style(run.find(f"{_MAIN}rPr/{_MAIN}rStyle"))

    def _has_code_style(self, style: Any) -> bool:
        return style is not None and style.get(f"{_MAIN}val") in self.code_styles

    def _address(self, run: Any) -> str:
        link = run.getparent()
        return self.addresses.get(link.get(_RELATION) or "", "") if link.tag == f"{_MAIN}hyperlink" else ""


def _has_code_font(run: Any) -> bool:
    fonts = run.find(f"{_MAIN}rPr/{_MAIN}rFonts")
    return fonts is not None and is_code_font(fonts.get(f"{_MAIN}ascii") or "")


def _is_all_code(body: Any) -> bool:
    """Return True if most characters have a font of one width."""
    total = code = 0
    for text in body.iter(f"{_MAIN}t"):
        size = len(text.text or "")
        total += size
        code += size if _has_code_font(text.getparent()) else 0
    return 2 * code > total


def _list_depth(paragraph: Any) -> int | None:
    """Return the list depth of a paragraph, from 0; None outside a list."""
    numbering = paragraph.find(f"{_MAIN}pPr/{_MAIN}numPr")
    if numbering is None:
        return None
    level = numbering.find(f"{_MAIN}ilvl")
    value = level.get(f"{_MAIN}val") if level is not None else None
    return int(value) if value and value.isdecimal() else 0


def _read_properties(word: WordDocument) -> Fields:
    from docx.opc.constants import RELATIONSHIP_TYPE

    relations = word.part.package.rels.values()
    if not any(relation.reltype == RELATIONSHIP_TYPE.CORE_PROPERTIES for relation in relations):
        return {}  # python-docx would return default properties
    properties = word.core_properties
    found = {"title": properties.title, "author": properties.author}
    return {key: collapse(clean(value)) for key, value in found.items() if value and value.strip()}
