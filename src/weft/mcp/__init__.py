"""MCP server over stdio or streamable HTTP. Start at `weft.mcp.serve`."""
