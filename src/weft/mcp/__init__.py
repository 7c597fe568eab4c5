"""The door for MCP clients, over standard input and output or HTTP."""
