"""Documents and entities as MCP resources: URIs, pages and contents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote, unquote

from weft.engine.engine import Engine
from weft.errors import InputError, NotFound
from weft.records import DocumentInfo, Entity, Filter
from weft.tools.calls import call_tool, whole_text

PAGE_RESOURCES = 50
"""Number of resources per page."""

DOCUMENT = "weft://document/"
ENTITY = "weft://entity/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResource:
    """A document or an entity that can be read by its URI."""

    uri: str
    name: str
    title: str
    description: str = ""
    mime_type: str = "text/markdown"
    text: str = ""
    """Text of the resource; empty in lists."""


def list_resources(engine: Engine, *, cursor: str = "", limit: int = PAGE_RESOURCES) -> tuple[list[ToolResource], str]:
    """
    Return a page of resources and the cursor of the next page, empty on the last one. Raises `InputError`.

    The order is: documents by source, entities of the graph by key, entities that occur in facts only by key.
    """
    kind, _, after = cursor.partition(":")
    if cursor and kind not in ("document", "entity", "fact"):
        raise InputError(f"invalid cursor {cursor[:80]!r}", hint="pass the cursor of the previous page, or omit it")
    store = engine.reader
    page: list[ToolResource] = []
    if kind in ("", "document"):
        documents = store.find_documents(Filter(), after=after, limit=limit)
        page += [_document_resource(document) for document in documents]
        if len(documents) == limit:
            return page, f"document:{documents[-1].source}"
        after = ""
    if kind != "fact":
        entities = store.graph.entities_after(after, limit=limit - len(page))
        page += [_entity_resource(entity) for entity in entities]
        if len(page) == limit:
            return page, f"entity:{entities[-1].key}"
        after = ""
    remembered = list(islice(engine.entities.remembered(after=after), limit - len(page)))
    page += [_entity_resource(entity) for entity in remembered]
    return page, f"fact:{remembered[-1].key}" if remembered and len(page) == limit else ""


def read_resource(engine: Engine, uri: str) -> ToolResource:
    """Return a document or an entity by its URI. Raises `InputError`, `NotFound`."""
    if uri.startswith(DOCUMENT):
        document, chunks = engine.get(unquote(uri.removeprefix(DOCUMENT)))
        found = _document_resource(document)
        return ToolResource(uri=uri, name=found.name, title=found.title, text=whole_text(engine, document, chunks))
    if uri.startswith(ENTITY):
        name = unquote(uri.removeprefix(ENTITY))
        if not name.strip():
            raise NotFound("missing name of the entity in the URI", hint="append a name: weft://entity/NAME")
        answer = call_tool(engine, "entity_lookup", {"name": name})
        return ToolResource(uri=uri, name=name, title=name, mime_type="application/json", text=answer.text)
    raise InputError(f"unknown resource URI {uri[:80]!r}", hint=f"use {DOCUMENT}ID or {ENTITY}NAME")


def _document_resource(document: DocumentInfo) -> ToolResource:
    uri = DOCUMENT + quote(document.id, safe="")
    return ToolResource(uri=uri, name=document.source, title=document.title, description=document.source)


def _entity_resource(entity: Entity) -> ToolResource:
    return ToolResource(
        uri=ENTITY + quote(entity.name, safe=""),
        name=entity.name,
        title=entity.name,
        description=entity.description or entity.type,
        mime_type="application/json",
    )
