"""DOCX to documents, through python-docx: the block structure becomes Markdown."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.config import MEBIBYTE, LoadOptions
from weft.load.file_reader import PARSER_ERRORS, LoadError, missing_extra, read_bytes, too_large
from weft.load.file_types import file_title
from weft.load.line_map import MarkdownWriter, collapse
from weft.load.metadata import Fields
from weft.records import Document
from weft.text.decode import clean

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

MAX_RATIO = 200
"""Text packs about 20 to 1. What packs better than this, and is not small, was made to harm."""
SMALL_BYTES = 10 * MEBIBYTE
MAX_MEMBERS = 20_000

_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Word keeps a protected DOCX inside an old-style container, which also is what a .doc is."""
_HEADING_STYLE = re.compile(r"heading (\d)", re.I)
_MAIN = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def load_docx(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the one document of a DOCX file."""
    data = read_bytes(path, options=options)
    _check_package(data, options=options)
    text, heading, properties = _read(data)
    if not text:
        raise LoadError("no text")
    yield Document(
        source=source,
        title=str(properties.get("title") or heading or file_title(source)),
        text=text,
        form="markdown",
        metadata=properties,
    )


def _check_package(data: bytes, *, options: LoadOptions) -> None:
    """Raise `LoadError` unless the bytes are a zip file that unpacks to a bearable size."""
    if data.startswith(_OLE_MARK):
        raise LoadError("encrypted", "protected by a password, or a .doc under another name")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = package.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise LoadError("broken", f"DOCX: {error}") from error
    # Sizes that lie do no harm: zipfile hands out no more bytes than a member claims to have.
    size = sum(member.file_size for member in members)
    if size > options.max_expanded_bytes:
        raise too_large(size, limit=options.max_expanded_bytes)
    if len(members) > MAX_MEMBERS or (size > SMALL_BYTES and size > MAX_RATIO * len(data)):
        raise LoadError("too large", f"unpacks from {len(data):,} to {size:,} bytes")


def _read(data: bytes) -> tuple[str, str, Fields]:
    """Return the body as Markdown, its first heading, and title and author where given."""
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
    writer, first = MarkdownWriter(), ""
    styles = {style.style_id: (style.name or "") for style in word.styles}
    for line, block in enumerate(_iter_blocks(word.element.body), start=1):
        if block.tag == f"{_MAIN}tbl":
            for row in _iter_own(block, tag=f"{_MAIN}tr"):
                writer.add_row([_read_text(cell) for cell in _iter_own(row, tag=f"{_MAIN}tc")], line=line)
            continue
        text, style = _read_text(block), styles.get(block.style or "", "")
        heading = _HEADING_STYLE.match(style)
        if heading or style == "Title":
            level = int(heading[1]) if heading else 1
            first = first or (collapse(text) if level == 1 else "")
            writer.add_heading(text, level=level, line=line)
        elif (depth := _list_depth(block)) is not None or style.startswith("List"):
            writer.add_item(text, depth=depth or 0, line=line)
        else:
            writer.add_paragraph(text, line=line)
    return writer.finish()[0], clean(first)


def _iter_blocks(body: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in their order, those inside content controls too."""
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
    """Yield the rows of a table or the cells of a row, but not those of a table inside a cell."""
    for found in element.iter(tag):
        if next(found.iterancestors(element.tag)) is element:
            yield found


def _read_text(element: Any) -> str:
    """Return the words of a paragraph or cell, with tracked insertions and without deletions."""
    words: list[str] = []
    for part in element.iter(f"{_MAIN}t", f"{_MAIN}tab", f"{_MAIN}br", f"{_MAIN}cr", f"{_MAIN}p"):
        if any(True for _ in part.iterancestors(_FALLBACK)):
            continue  # the same words once more, for programs that cannot show a text box
        if part.tag == f"{_MAIN}t":
            words.append(part.text or "")
        elif part.tag == f"{_MAIN}p":
            words.append("\n")
        elif part.getparent().tag == f"{_MAIN}r":  # elsewhere a tab is a position, not a character
            words.append("\t" if part.tag == f"{_MAIN}tab" else "\n")
    return "".join(words)


def _list_depth(paragraph: Any) -> int | None:
    """Return how deep in a list the paragraph stands, from 0; None outside a list."""
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
        return {}  # python-docx would make properties up
    properties = word.core_properties
    found = {"title": properties.title, "author": properties.author}
    return {key: collapse(clean(value)) for key, value in found.items() if value and value.strip()}
