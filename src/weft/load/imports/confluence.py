"""XML export of a Confluence space: `entities.xml`, alone or in its zip file. Old versions and drafts are left out."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, too_large
from weft.load.formats.html import render_page
from weft.load.line_map import collapse
from weft.load.metadata import to_metadata
from weft.load.office.xml_events import iter_events
from weft.records import Document, Skipped
from weft.text.decode import clean

ENTITIES_NAME = "entities.xml"
PAGES = frozenset({"Page", "BlogPost"})
_PAGE_LINK = re.compile(r'<ri:page\b[^<>]{0,500}?ri:content-title="([^"<>]{1,300})"[^<>]{0,500}>')
_CDATA, _CDATA_END = "<![CDATA[", "]]>"


@dataclass(slots=True)
class _Object:
    """One `object` of the export: its class, id, properties, and the ids of objects that properties name."""

    kind: str
    id: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)


def is_confluence(head: bytes) -> bool:
    """Return True for the first bytes of an export."""
    return b"<hibernate-generic" in head


def iter_confluence_zip(archive: zipfile.ZipFile, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the pages of a zipped export. Raises `LoadError` if its XML is larger than a file may be."""
    member = archive.getinfo(ENTITIES_NAME)
    if member.file_size > options.max_expanded_bytes:
        raise too_large(member.file_size, limit=options.max_expanded_bytes)
    return iter_confluence(archive.read(member), source=source, options=options)


def iter_confluence(data: bytes, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield one document per current page, in the order of the export."""
    pages, bodies = dict[str, _Object](), dict[str, str]()
    for found in _iter_objects(data):
        if found.kind in PAGES and _is_current(found):
            pages[found.id] = found
        elif found.kind == "BodyContent" and "content" in found.references:
            bodies.setdefault(found.references["content"], found.properties.get("body", ""))
    for page in pages.values():
        yield _document(page, bodies.get(page.id, ""), source=source, options=options)


def _is_current(page: _Object) -> bool:
    is_version = "originalVersion" in page.references or "originalVersionId" in page.properties
    return not is_version and page.properties.get("contentStatus", "current") == "current"


def _document(page: _Object, body: str, *, source: str, options: LoadOptions) -> Document | Skipped:
    place = f"{source}#{page.id}"
    title = collapse(clean(page.properties.get("title", ""))) or place
    try:
        text = (
            render_page(clean(_to_html(body)), max_characters=options.max_expanded_bytes).text if body.strip() else ""
        )
    except LoadError as error:
        return Skipped(source=place, reason=error.reason, detail=error.detail)
    if not text:
        return Skipped(source=place, reason="empty")
    fields = {name: page.properties.get(key) for name, key in _DATES.items() if page.properties.get(key)}
    return Document(
        source=place, title=title, text=f"# {title}\n\n{text}", form="markdown", metadata=to_metadata(fields)
    )


_DATES = {"created": "creationDate", "modified": "lastModificationDate"}


def _to_html(body: str) -> str:
    """Return storage format as HTML: links to pages become `[[Title]]`, and text of macros becomes code."""
    linked = _PAGE_LINK.sub(r"[[\1]]", body)
    first, *rest = linked.split(_CDATA)
    parts = [first]
    for part in rest:
        inside, end, after = part.partition(_CDATA_END)
        parts += [f"<pre>{escape(inside)}</pre>", after] if end else [escape(part)]
    return "".join(parts)


def _iter_objects(data: bytes) -> Iterator[_Object]:
    """Yield the top-level objects. An `id` inside a property is a reference to another object."""
    current: _Object | None = None
    name, parts, depth = "", list[str](), 0
    for event in iter_events(data):
        if event.kind == "start" and event.name == "object" and current is None:
            current, depth = _Object(event.get("class")), 0
        elif current is None:
            continue
        elif event.kind == "end" and event.name == "object" and depth == 0:
            yield current
            current = None
        elif event.kind == "start":
            depth += 1
            if depth == 1:
                name = event.get("name") if event.name == "property" else ""
            parts = []
        elif event.kind == "text":
            parts.append(event.name)
        else:
            depth -= 1
            text = "".join(parts)
            if event.name == "id" and depth == 0:
                current.id = text.strip()
            elif event.name == "id" and depth == 1 and name:
                current.references.setdefault(name, text.strip())
            elif event.name == "property" and depth == 0 and name and name not in current.references:
                current.properties.setdefault(name, text)
