"""EPUB to documents with lxml; citations count chapters in reading order."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError, read_bytes
from weft.load.file_types import file_title
from weft.load.formats.html import decode_page, render_page
from weft.load.line_map import join_numbered
from weft.load.office.package import Package, read_properties
from weft.load.office.xml_events import iter_events
from weft.records import Document

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
_CLOSED = re.compile(r"<(a|b|div|em|h[1-6]|i|iframe|p|script|span|strong|style|td|th|title)(\s[^<>]*)?/>")
"""Elements that XHTML may close in their start tag."""
PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html"})


def load_epub(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an electronic book. Its `lines` are chapter numbers, from 1."""
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        package = Package(data, kind="EPUB", options=options)
        book = _find_book(package)
        listing = package.read(book)
        chapters = _find_chapters(listing, folder=posixpath.dirname(book))
        _check_encryption(package, chapters)
        if len(chapters) > options.max_pages:
            raise LoadError("too large", f"{len(chapters):,} chapters; load.max_pages is {options.max_pages:,}")
        pieces = (
            (_read_chapter(package.read(name), options=options), number)
            for number, name in enumerate(chapters, start=1)
            if name in package
        )
        text, lines = join_numbered(pieces, max_characters=options.max_file_bytes)
        properties = read_properties(listing)
    if not text:
        raise LoadError("no text", "no chapter has text")
    yield Document(
        source=source,
        title=str(properties.get("title") or file_title(source)),
        text=text,
        form="markdown",
        metadata=properties,
        lines=lines,
        unit="chapter",
    )


def _find_book(package: Package) -> str:
    """Return the name of the package document."""
    for event in iter_events(package.read(CONTAINER)):
        if event.kind == "start" and event.name == "rootfile" and event.get("full-path"):
            return event.get("full-path")
    raise LoadError("broken", "EPUB: the container names no package document")


def _find_chapters(listing: bytes, *, folder: str) -> list[str]:
    """Return the pages of the spine in reading order, each once, without the table of contents."""
    pages: dict[str, str] = {}
    chapters: dict[str, None] = {}
    for event in iter_events(listing):
        if event.kind != "start":
            continue
        if event.name == "item" and event.get("media-type") in PAGE_TYPES:
            if "nav" not in event.get("properties").split():
                path = unquote(event.get("href").partition("#")[0])
                pages[event.get("id")] = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
        elif event.name == "itemref" and event.get("idref") in pages:
            chapters[pages[event.get("idref")]] = None
    return list(chapters)


def _read_chapter(data: bytes, *, options: LoadOptions) -> str:
    """Return the text of a page; a page without elements is empty."""
    text = _CLOSED.sub(r"<\1\2></\1>", decode_page(data))  # `<a id="x"/>` would stay open in HTML
    try:
        return f"{render_page(text, max_characters=options.max_file_bytes).text}\n"
    except LoadError as error:
        if error.reason == "no text":
            return ""
        raise


def _check_encryption(package: Package, chapters: list[str]) -> None:
    """Raise `LoadError` if a chapter is encrypted. Fonts are often obfuscated in free books."""
    if ENCRYPTION not in package:
        return
    names = set(chapters)
    for event in iter_events(package.read(ENCRYPTION)):
        if event.kind == "start" and event.name == "CipherReference" and unquote(event.get("URI")) in names:
            raise LoadError("encrypted", "the book is protected against copying")
