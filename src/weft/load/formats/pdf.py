"""PDF to documents with pypdf; the lines of a document are its pages."""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import PARSER_ERRORS, LoadError, missing_extra, read_bytes, too_large
from weft.load.file_types import file_title
from weft.load.formats.ocr import OcrLine, boxes_field, page_text, recognise
from weft.load.formats.pdf_table import PageText
from weft.load.line_map import collapse, join_numbered
from weft.load.metadata import Fields
from weft.records import Document
from weft.text.decode import clean
from weft.text.plurals import counted

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

logger = logging.getLogger(__name__)

MAX_TITLE_CHARACTERS = 200

MAX_REPEATED_BYTES = 1 << 20
"""
Bytes of content streams shared by several pages that are parsed again. pypdf parses them per page, which takes 3 s.

Beyond it, there may be as many as bytes of streams that only one page has: a header on each page is read.
"""

MAX_PAGE_RATIO = 100
MIN_CHECKED_PAGE_BYTES = 1 << 20
"""A page whose content streams expand to more than this, and to over 100 times the file, is skipped."""

_NO_TITLE = re.compile(
    r"untitled|^\(anonymous\)$|microsoft word|powerpoint|slide 1$|\.(?:docx?|pptx?|tex|dvi|indd|qxd|pdf)$", re.I
)
"""Titles that programs write if the author entered none."""


def load_pdf(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a PDF. Its `lines` are page numbers, from 1."""
    data = read_bytes(path, options=options)
    with _silence_pypdf(), cpu_limit(options.max_cpu_seconds):
        reader = _open(data, options=options)
        largest = max(MIN_CHECKED_PAGE_BYTES, MAX_PAGE_RATIO * len(data))
        scanned: list[tuple[int, OcrLine]] = []
        pages = list(_iter_pages(reader, source=source, options=options, max_page_bytes=largest, scanned=scanned))
        info = _read_info(reader)
    text, lines = join_numbered(pages)
    if not text:
        detail = f"no text on {counted(len(reader.pages), 'page')}; load.ocr recognises the text of scanned pages"
        raise LoadError("no text", detail)
    title = info.pop("title", "")
    if scanned:
        info |= {"ocr": True, **boxes_field(scanned)}
    yield Document(
        source=source,
        title=str(title) or file_title(source),
        text=text,
        metadata=info,
        lines=lines,
        unit="page",
    )


@contextmanager
def _silence_pypdf() -> Iterator[None]:
    """Suppress log messages and warnings of pypdf."""
    pypdf_logger = logging.getLogger("pypdf")
    level = pypdf_logger.level
    pypdf_logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        pypdf_logger.setLevel(level)


def _open(data: bytes, *, options: LoadOptions) -> PdfReader:
    """Return a decrypted reader whose pages can be counted."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as error:
        raise missing_extra("pypdf", extra="pdf") from error
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError("encrypted", "the PDF has a password")
        count = len(reader.pages)
    except DependencyError as error:
        raise LoadError("encrypted", str(error)) from error
    except (PyPdfError, *PARSER_ERRORS) as error:
        raise LoadError("broken", f"PDF: {error}") from error
    if count > options.max_pages:
        raise LoadError("too large", f"{count:,} pages; load.max_pages is {options.max_pages:,}")
    return reader


def _iter_pages(
    reader: PdfReader,
    *,
    source: str,
    options: LoadOptions,
    max_page_bytes: int,
    scanned: list[tuple[int, OcrLine]],
) -> Iterator[tuple[str, int]]:
    """Yield text and number of the readable pages; add recognised lines to `scanned`."""
    from pypdf.errors import PyPdfError

    total = 0
    seen: set[tuple[int, int]] = set()
    repeats_left, skipped = MAX_REPEATED_BYTES, 0
    for number in range(1, len(reader.pages) + 1):
        try:
            page = reader.pages[number - 1]
            size, repeated = _count_bytes(page, seen)
            if size > max_page_bytes:
                logger.warning("skipped page %d of %s: %d bytes of drawing", number, source, size)
                continue
            repeats_left += size - 2 * repeated
            if repeated and repeats_left < 0:
                skipped += 1
                continue
            text = _read_page(page)
            if options.ocr and not text.strip():
                text = _recognise_page(page, number=number, scanned=scanned)
        except (PyPdfError, *PARSER_ERRORS) as error:
            logger.warning("skipped page %d of %s: %s", number, source, error)
            continue
        total += len(text)
        if total > options.max_expanded_bytes:
            raise too_large(total, limit=options.max_expanded_bytes)
        if text.strip():
            yield text.strip("\n") + "\n", number
    if skipped:
        logger.warning("skipped %d pages of %s: they repeat the content of earlier pages", skipped, source)


def _read_page(page: PageObject) -> str:
    """Return the text of a page; rows of tables name their columns."""
    found = PageText()
    text = page.extract_text(visitor_text=lambda part, matrix, place, _font, _size: found.add(part, matrix, place))
    # A text without a position is only in the return value of pypdf.
    return found.render() if "".join(found.texts) == text else text


def _recognise_page(page: PageObject, *, number: int, scanned: list[tuple[int, OcrLine]]) -> str:
    """Return the text in the largest image of a page, which is the scan; its lines are added to `scanned`."""
    images = [file.image for file in page.images if file.image is not None]
    if not images:
        return ""
    lines = recognise(max(images, key=lambda image: image.size[0] * image.size[1]))
    scanned += [(number, line) for line in lines]
    return page_text(lines)


def _count_bytes(page: PageObject, seen: set[tuple[int, int]]) -> tuple[int, int]:
    """Return the bytes of the content streams, in all and shared with earlier pages; add the streams to `seen`."""
    from pypdf.generic import ArrayObject, IndirectObject, StreamObject

    contents = page.raw_get("/Contents") if "/Contents" in page else ArrayObject()
    items = contents.get_object()
    size = repeated = 0
    for item in items if isinstance(items, ArrayObject) else [contents]:
        if isinstance(item, IndirectObject):
            key, stream = (item.idnum, item.generation), item.get_object()
            length = len(stream.get_data()) if isinstance(stream, StreamObject) else 0
            size += length
            repeated += length if key in seen else 0
            seen.add(key)
    return size, repeated


def _read_info(reader: PdfReader) -> Fields:
    """Return title and author of the file, without titles generated by a program."""
    from pypdf.errors import PyPdfError

    try:
        found = reader.metadata
        fields = {"title": found.title, "author": found.author} if found else {}
    except (PyPdfError, *PARSER_ERRORS):
        return {}
    # In a broken file the values may have any type.
    info = {key: collapse(clean(value)) for key, value in fields.items() if isinstance(value, str)}
    title = info.get("title", "")
    if _NO_TITLE.search(title) or len(title) > MAX_TITLE_CHARACTERS:
        info["title"] = ""
    return {key: value for key, value in info.items() if value}
