"""MCP server: dispatches requests to tools, resources and prompts; starts before the models are loaded."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Literal, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server

from weft.engine.lazy_engine import LazyEngine
from weft.mcp.prompts import INSTRUCTIONS, MEMORY_INSTRUCTIONS, Prompts
from weft.mcp.resources import Resources
from weft.mcp.tools import Tools

Compat: TypeAlias = Literal["memory"]

GREETINGS = ("initialize", "server/discover", "ping")
"""Requests that are answered without opening the store."""


def make_server(standby: LazyEngine, *, compat: Compat | None = None) -> Server[Any]:
    """
    Return a server on the namespace of the settings.

    With `compat="memory"` it has the tools of the reference memory server. Store and models are opened in the
    background after the `initialize` request.
    """
    tools, resources, prompts = Tools(standby, compat=compat), Resources(standby), Prompts()
    server: Server[Any] = Server(
        "weft",
        version=version("weft-search"),
        title="Weft",
        description="Memory: documents, a knowledge graph of their entities, and facts.",
        instructions=MEMORY_INSTRUCTIONS if compat else INSTRUCTIONS,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=resources.list,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
    )

    async def start_standby(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in GREETINGS:
            standby.start()
        return await call_next(ctx)

    # The default middleware of the SDK reports every request to OpenTelemetry; Weft has no telemetry.
    server.middleware[:] = [start_standby]
    return server
