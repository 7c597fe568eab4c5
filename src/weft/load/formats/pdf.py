"""PDF to documents, through pypdf: text page by page."""

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
from weft.load.file_reader import PARSER_ERRORS, LoadError, missing_extra, read_bytes, too_large
from weft.load.file_types import file_title
from weft.load.line_map import collapse, join_numbered
from weft.load.metadata import Fields
from weft.records import Document
from weft.text.decode import clean

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

logger = logging.getLogger(__name__)

MAX_TITLE_CHARACTERS = 200

MAX_REPEATED = 1 << 22
"""Bytes of drawing that pages may have in common: read again for each, a small file could take hours."""

_NO_TITLE = re.compile(r"untitled|microsoft word|powerpoint|slide 1$|\.(?:docx?|pptx?|tex|dvi|indd|qxd|pdf)$", re.I)
"""What programs write into the title field when nobody gave one."""


def load_pdf(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the one document of a PDF. Its `lines` are page numbers, from 1."""
    data = read_bytes(path, options=options)
    with _quiet():
        reader = _open(data, options=options)
        pages = list(_iter_pages(reader, source=source, options=options))
        info = _read_info(reader)
    text, lines = join_numbered(pages)
    if not text:
        detail = f"none on {len(reader.pages)} pages; a scanned PDF needs OCR first"
        raise LoadError("no text", detail)
    title = info.pop("title", "")
    yield Document(
        source=source,
        title=str(title) or file_title(source),
        text=text,
        metadata=info,
        lines=lines,
        unit="page",
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pypdf's many remarks on odd files to itself."""
    theirs = logging.getLogger("pypdf")
    level = theirs.level
    theirs.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        theirs.setLevel(level)


def _open(data: bytes, *, options: LoadOptions) -> PdfReader:
    """Return a reader that has been unlocked and whose pages can be counted."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as error:
        raise missing_extra("pypdf", extra="pdf") from error
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError("encrypted", "it opens with a password only")
        count = len(reader.pages)
    except DependencyError as error:
        raise LoadError("encrypted", str(error)) from error
    except (PyPdfError, *PARSER_ERRORS) as error:
        raise LoadError("broken", f"PDF: {error}") from error
    if count > options.max_pages:
        raise LoadError("too large", f"{count:,} pages; the limit is {options.max_pages:,}")
    return reader


def _iter_pages(reader: PdfReader, *, source: str, options: LoadOptions) -> Iterator[tuple[str, int]]:
    """Yield the text and number of each page that can be read."""
    from pypdf.errors import PyPdfError

    total = 0
    seen: set[tuple[int, int]] = set()
    spare, left_out = MAX_REPEATED, 0
    for number in range(1, len(reader.pages) + 1):
        try:
            page = reader.pages[number - 1]
            repeated = _count_repeated(page, seen)
            spare -= repeated
            if repeated and spare < 0:
                left_out += 1
                continue
            text = page.extract_text()
        except (PyPdfError, *PARSER_ERRORS) as error:
            logger.warning("page %d of %s is left out: %s", number, source, error)
            continue
        total += len(text)
        if total > options.max_expanded_bytes:
            raise too_large(total, limit=options.max_expanded_bytes)
        if text.strip():
            yield text.strip("\n") + "\n", number
    if left_out:
        logger.warning("%d pages of %s are left out: they draw what pages before them drew", left_out, source)


def _count_repeated(page: PageObject, seen: set[tuple[int, int]]) -> int:
    """Return how many bytes of what a page draws were drawn by pages before it; note what it draws."""
    from pypdf.generic import ArrayObject, IndirectObject, StreamObject

    given = page.raw_get("/Contents") if "/Contents" in page else ArrayObject()
    items = given.get_object()
    repeated = 0
    for item in items if isinstance(items, ArrayObject) else [given]:
        if isinstance(item, IndirectObject):
            at, stream = (item.idnum, item.generation), item.get_object()
            repeated += len(stream.get_data()) if at in seen and isinstance(stream, StreamObject) else 0
            seen.add(at)
    return repeated


def _read_info(reader: PdfReader) -> Fields:
    """Return title and author where the file names them sensibly."""
    from pypdf.errors import PyPdfError

    try:
        found = reader.metadata
        fields = {"title": found.title, "author": found.author} if found else {}
    except (PyPdfError, *PARSER_ERRORS):
        return {}
    # A broken file may hold objects of any kind here, whatever pypdf promises.
    info = {key: collapse(clean(value)) for key, value in fields.items() if isinstance(value, str)}
    title = info.get("title", "")
    if _NO_TITLE.search(title) or len(title) > MAX_TITLE_CHARACTERS:
        info["title"] = ""
    return {key: value for key, value in info.items() if value}
