"""RSS and Atom feeds, one document per entry, and OPML outlines, one document."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_bytes
from weft.load.file_types import file_title
from weft.load.formats.html import render_page
from weft.load.formats.plain import load_unknown
from weft.load.imports.confluence import is_confluence, iter_confluence
from weft.load.line_map import collapse
from weft.load.metadata import to_metadata
from weft.load.office.xml_events import iter_events
from weft.records import Document, Skipped
from weft.text.decode import clean

HEAD_BYTES = 1024
"""Bytes in which the root element of a feed or an outline begins."""
MAX_OUTLINE_DEPTH = 6
_FIELDS = {
    "title": "title", "link": "url", "guid": "id", "id": "id", "pubDate": "date", "published": "date",
    "updated": "updated", "author": "author", "name": "author", "creator": "author", "category": "category",
    "encoded": "text", "content": "text", "description": "summary", "summary": "summary",
}  # fmt: skip
"""Field of an entry by the local name of its element."""


def load_xml(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the entries of a feed, an outline or the pages of a Confluence export; other XML is a text."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if any(mark in head for mark in (b"<rss", b"<feed", b"<rdf:RDF")):
        yield from _iter_entries(read_bytes(path, options=options), source=source, options=options)
    elif b"<opml" in head:
        yield _outline(read_bytes(path, options=options), source=source)
    elif is_confluence(head):
        yield from iter_confluence(read_bytes(path, options=options), source=source, options=options)
    else:
        yield from load_unknown(path, source=source, options=options)


def _iter_entries(data: bytes, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    entry: dict[str, str] | None = None
    field, parts, count = "", list[str](), 0
    for event in iter_events(data):
        if event.kind == "start" and event.name in ("item", "entry"):
            entry, count = {}, count + 1
        elif entry is None:
            continue
        elif event.kind == "end" and event.name in ("item", "entry"):
            yield _document(entry, source=source, number=count, options=options)
            entry = None
        elif event.kind == "start" and event.name in _FIELDS:
            field, parts = _FIELDS[event.name], []
            if field == "url" and event.get("href") and event.get("rel", "alternate") == "alternate":
                entry.setdefault("url", event.get("href"))
        elif event.kind == "text" and field:
            parts.append(event.name)
        elif event.kind == "end" and _FIELDS.get(event.name) == field and field:
            if text := "".join(parts).strip():
                entry.setdefault(field, text)
            field = ""


def _document(entry: dict[str, str], *, source: str, number: int, options: LoadOptions) -> Document | Skipped:
    place = f"{source}#{collapse(entry.get('id') or entry.get('url') or str(number))}"
    text = html_text(entry.pop("text", "") or entry.get("summary", ""), options=options)
    title = collapse(clean(unescape(entry.pop("title", "")))) or text.partition("\n")[0] or place
    if not text and title == place:
        return Skipped(source=place, reason="empty")
    entry.pop("summary", None)
    entry.pop("id", None)
    return Document(source=place, title=title, text=text or title, form="markdown", metadata=to_metadata(entry))


def html_text(text: str, *, options: LoadOptions) -> str:
    """Return HTML of a field as Markdown; plain text stays as it is."""
    if "<" not in text:
        return clean(unescape(text)).strip()
    try:
        return render_page(clean(text), max_characters=options.max_expanded_bytes).text
    except LoadError as error:
        if error.reason == "missing extra":
            raise
        return clean(text).strip()


def _outline(data: bytes, *, source: str) -> Document:
    """Return an outline as a Markdown list; a node without an address that has children is a heading of the list."""
    lines, depth, title, in_title = list[str](), 0, "", False
    for event in iter_events(data):
        if event.name == "title" and event.kind != "text":
            in_title = event.kind == "start" and not lines
        elif event.kind == "text" and in_title:
            title += event.name
        elif event.kind == "start" and event.name == "outline":
            name = collapse(clean(event.get("title") or event.get("text")))
            address = event.get("htmlUrl") or event.get("xmlUrl") or event.get("url")
            note = collapse(clean(event.get("_note")))
            shown = f"[{name}]({address})" if address else name
            lines.append(f"{'  ' * min(depth, MAX_OUTLINE_DEPTH)}- {shown}{f': {note}' if note else ''}")
            depth += 1
        elif event.kind == "end" and event.name == "outline":
            depth -= 1
    if not lines:
        raise LoadError("empty")
    title = collapse(clean(title)) or file_title(source)
    return Document(source=source, title=title, text="\n".join(lines), form="markdown")
