"""Handlers of the MCP methods `tools/list` and `tools/call`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from weft.engine.lazy_engine import LazyEngine
from weft.errors import InputError, NotFound, WeftError

if TYPE_CHECKING:
    from weft.tools.calls import ToolAnswer
    from weft.tools.definitions import ToolDefinition

logger = logging.getLogger(__name__)

CALLER_ERRORS: tuple[type[WeftError], ...] = (InputError, NotFound)
"""Errors that the caller can correct with another call. All others are failures of the system."""


class Tools:
    """The tools of one server."""

    def __init__(self, standby: LazyEngine, *, compat: str | None) -> None:
        self._standby = standby
        self._compat = compat

    async def list(
        self, context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the tools; a read-only key sees those that write nothing."""
        definitions = (await asyncio.to_thread(self._definitions)).values()
        writes = may_write(context)
        return ListToolsResult(tools=[to_tool(tool) for tool in definitions if writes or not tool.writes])

    async def call(self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        """Call a tool. Errors become tool results."""
        definition = (await asyncio.to_thread(self._definitions)).get(params.name)
        if definition is None:
            raise MCPError(INVALID_PARAMS, f"unknown tool {params.name[:80]!r}; tools/list returns all tools")
        if definition.writes and not may_write(context):
            return _failure(error="the key is read-only", action="use a key made with weft keys create NAME --write")
        return await asyncio.to_thread(self._call, definition, params.arguments or {})

    def _call(self, definition: ToolDefinition, arguments: Mapping[str, Any]) -> CallToolResult:
        try:
            # The reference memory server treats a missing file as an empty graph, so the store is created.
            is_own = definition.writes or bool(self._compat)
            engine = self._standby.engine(writes=True) if is_own else self._standby.reader()
            answer = self._caller()(engine, definition.name, arguments)
        except CALLER_ERRORS as error:
            return _memory_failure(error) if self._compat else _failure(error=str(error), action=error.hint)
        except WeftError as error:
            logger.warning("%s: %s", definition.name, error)
            return _failure(warning=str(error), action=error.hint or "tell the user to run `weft doctor`")
        except Exception as error:  # the server continues; the log has the traceback
            logger.exception("%s failed", definition.name)
            return _failure(warning=f"internal error: {type(error).__name__}", action="tell the user to see the log")
        texts = [TextContent(text=text) for text in (answer.text, *answer.notes)]
        return CallToolResult(content=[*texts], structured_content=dict(answer.values))

    def _definitions(self) -> dict[str, ToolDefinition]:
        from weft.tools.definitions import TOOLS
        from weft.tools.reference_memory_definitions import MEMORY_TOOLS

        return {tool.name: tool for tool in (MEMORY_TOOLS if self._compat else TOOLS)}

    def _caller(self) -> Callable[..., ToolAnswer]:
        from weft.tools.calls import call_tool
        from weft.tools.reference_memory import call_memory_tool

        return call_memory_tool if self._compat else call_tool


def may_write(context: ServerRequestContext[Any, Any]) -> bool:
    """Return False if the request has a key that is read-only. Over stdio there is no request and no key."""
    user = getattr(context.request, "scope", {}).get("user")
    return not isinstance(user, AuthenticatedUser) or "read" not in user.access_token.scopes


def to_tool(definition: ToolDefinition) -> Tool:
    """Return a definition as a tool of the protocol."""
    return Tool(
        name=definition.name,
        title=definition.title,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        annotations=ToolAnnotations.model_validate(definition.annotations),
    )


def _failure(**values: str) -> CallToolResult:
    """Return an error result with the problem and the remedy, as text and as structured content."""
    said = {name: value for name, value in values.items() if value}
    text = "\n".join(f"{name}: {value}" for name, value in said.items())
    return CallToolResult(content=[TextContent(text=text)], structured_content=said, is_error=True)


def _memory_failure(error: WeftError) -> CallToolResult:
    """Return an error like the reference memory server: text only, followed by the remedy."""
    texts = [str(error), *([f"action: {error.hint}"] if error.hint else [])]
    return CallToolResult(content=[TextContent(text=text) for text in texts], is_error=True)
