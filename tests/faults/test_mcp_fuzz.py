"""Random MCP tool calls and resource reads: each one is answered or refused, and the server keeps running."""

import asyncio
from collections import Counter
from urllib.parse import quote

import pytest
from fault_settings import chance, count
from hostile_values import EVERYTHING, SURROGATES, TEXTS, nested
from mcp_driving import Client, MCPError, connect, fill, parameters, settings_for

CALL_SECONDS = 120
"""A call that takes longer has no answer."""
WORDS = ("OAuth Provider", "Auth Service", "what depends on it", "token", "docs/0.md", "Soup", "confirmed", "1", "")


def any_value(random, known, texts):
    """Return a value: known ids and words, or anything hostile."""
    kind = random.random()
    if kind < 0.4:
        return random.choice(known)
    return random.choice(texts) if kind < 0.7 else random.choice((*EVERYTHING, nested(60)))


def valid_value(schema, random, known):
    """Return a value that a schema roughly allows."""
    match schema.get("type"):
        case "integer" | "number":
            return random.randrange(1, 9)
        case "boolean":
            return random.random() < 0.5
        case "array":
            return [valid_value(schema.get("items", {}), random, known) for _ in range(random.randrange(3))]
        case "object":
            return {name: valid_value(part, random, known) for name, part in schema.get("properties", {}).items()}
        case _:
            return random.choice(schema.get("enum") or known)


def make_arguments(schema, random, known, texts):
    """Return arguments of a call: valid, damaged in some places, or of any shape."""
    properties = schema.get("properties", {})
    arguments = {name: valid_value(part, random, known) for name, part in properties.items() if random.random() < 0.7}
    style = random.random()
    if style < 0.3:
        return arguments
    for name in [name for name in properties if random.random() < 0.4]:
        arguments[name] = any_value(random, known, texts)
    if style > 0.8:
        arguments[str(random.choice(texts))[:200]] = any_value(random, known, texts)
    return arguments


async def call_once(client, tools, random, known, texts):
    """Call a tool or read a resource; return how it was answered."""
    if random.random() < 0.2:
        name = str(any_value(random, known, texts))[:2000]
        name = quote(name, safe="", errors="replace") if random.random() < 0.7 else name
        uri = random.choice(["weft://document/", "weft://entity/", "weft://", "file:///", ""]) + name
        await client.read_resource(uri)
        return "resource"
    tool = random.choice(tools)
    result = await client.call_tool(tool.name, make_arguments(tool.input_schema, random, known, texts))
    for item in result.content:
        known.append(item.text[:30])
    del known[60:]
    return "refused" if result.is_error else "answered"


async def fuzz(client, calls, random, texts):
    """Send random calls; every one ends within `CALL_SECONDS`. Return the outcomes."""
    tools, outcomes, known = (await client.list_tools()).tools, Counter(), list(WORDS)
    for number in range(calls):
        try:
            outcome = await asyncio.wait_for(call_once(client, tools, random, known, texts), CALL_SECONDS)
        except MCPError as error:
            outcome = f"error {error.error.code}"
            assert error.error.code != -32603, f"call {number}: internal error: {error.error.message}"
        except (UnicodeEncodeError, ValueError) as error:  # the client cannot encode it
            outcome = f"client: {type(error).__name__}"
        outcomes[outcome] += 1
    result = await client.call_tool("memory_search", {"query": "OAuth Provider"})
    assert not result.is_error
    return outcomes


@pytest.mark.parametrize("transport, calls", [("stdio", 4000), ("memory", 1000)])
def test_every_random_call_is_answered_or_refused(tmp_path, transport, calls):
    """Over pipes to a process of its own; lone surrogates, which a client cannot write to a pipe, in memory."""
    random = chance("mcp", transport)
    fill(tmp_path / "weft.db")

    async def steps():
        if transport == "stdio":
            async with Client(parameters(tmp_path, "--db", "weft.db")) as client:
                return await fuzz(client, count(calls), random, TEXTS)
        async with connect(settings_for(tmp_path / "weft.db")) as client:
            return await fuzz(client, count(calls), random, (*TEXTS, *SURROGATES * 4))

    outcomes = asyncio.run(steps())

    print(f"\nMCP over {transport}: {dict(outcomes)}")
    assert outcomes.total() == count(calls)
    assert outcomes["answered"] > 0 and outcomes["refused"] > 0
