"""MCP resources: documents and entities by URI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from weft.engine.lazy_engine import LazyEngine
from weft.errors import InputError, NotFound, StoreUnavailable, WeftError

Answer = TypeVar("Answer")

CODES: tuple[tuple[type[WeftError], int], ...] = ((InputError, INVALID_PARAMS), (NotFound, INVALID_PARAMS))
"""JSON-RPC code by error class; all others are `INTERNAL_ERROR`."""

TEMPLATES = (
    ResourceTemplate(
        uri_template="weft://document/{id}",
        name="document",
        title="Document",
        description="The text of an indexed document, by its id.",
        mime_type="text/markdown",
    ),
    ResourceTemplate(
        uri_template="weft://entity/{name}",
        name="entity",
        title="Entity",
        description="Relations, facts and mentions of a person, system or thing.",
        mime_type="application/json",
    ),
)


class Resources:
    """The resources of one server."""

    def __init__(self, standby: LazyEngine) -> None:
        self._standby = standby

    async def list(
        self, context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Return a page of documents, then entities. Empty without a store."""
        return await asyncio.to_thread(_reporting, lambda: self._list((params and params.cursor) or ""))

    async def list_templates(
        self, context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Return the URI templates."""
        return ListResourceTemplatesResult(resource_templates=[*TEMPLATES])

    async def read(
        self, context: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return the resource at a URI."""
        return await asyncio.to_thread(_reporting, lambda: self._read(params.uri))

    def _list(self, cursor: str) -> ListResourcesResult:
        from weft.tools.resources import list_resources

        try:
            engine = self._standby.reader()
        except StoreUnavailable:
            if self._standby.is_missing():
                return ListResourcesResult(resources=[])
            raise
        page, after = list_resources(engine, cursor=cursor)
        shown = [
            Resource(uri=r.uri, name=r.name, title=r.title, description=r.description or None, mime_type=r.mime_type)
            for r in page
        ]
        return ListResourcesResult(resources=shown, next_cursor=after or None)

    def _read(self, uri: str) -> ReadResourceResult:
        from weft.tools.resources import read_resource

        found = read_resource(self._standby.reader(), uri)
        text = TextResourceContents(uri=uri, mime_type=found.mime_type, text=found.text)
        return ReadResourceResult(contents=[text])


def _reporting(call: Callable[[], Answer]) -> Answer:
    """Return the result of a call; errors of Weft become protocol errors."""
    try:
        return call()
    except WeftError as error:
        code = next((code for kind, code in CODES if isinstance(error, kind)), INTERNAL_ERROR)
        raise MCPError(code, f"{error} ({error.hint})" if error.hint else str(error)) from error
