r"""
Standard input as a stream of valid JSON-RPC lines.

The SDK drops a line that it cannot parse, and the client waits forever. This module responds to every request:

    line                                          result
    {"jsonrpc": "2.0", "id": 1, "method": …}      passed on
    the same with a lone surrogate ("\ud800")     passed on with U+FFFD in its place
    {"id": 2, "method": 5}                        error -32600 with id 2
    [{"id": 3, …}, {"id": 4, …}]                  error -32600 for 3 and for 4: there are no batches
    not JSON                                      error -32700 without an id
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from mcp_types.jsonrpc import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

BLOCK_BYTES = 65_536
"""Bytes of one read from standard input."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@contextmanager
def claimed_stdin() -> Iterator[int]:
    """Yield a duplicate of standard input; other readers of standard input find it empty meanwhile."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        yield wire
    finally:
        os.dup2(wire, 0)
        os.close(nothing)


async def iter_messages(descriptor: int, reject: Callable[[JSONRPCError], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield the lines that are valid JSON-RPC messages; call `reject` with the response to any other line."""
    async for line in iter_lines(descriptor):
        if not line.strip():
            continue
        if (valid := clean_message(line)) is not None:
            yield valid
            continue
        for error in error_responses(line):
            await reject(error)


def clean_message(line: str) -> str | None:
    """Return a line that the SDK accepts, with U+FFFD for lone surrogates. None if it is not a valid message."""
    for text in (line, _without_surrogates(line)):
        with suppress(ValidationError, ValueError):
            jsonrpc_message_adapter.validate_json(text, by_name=False)
            return text
    return None


def error_responses(line: str) -> list[JSONRPCError]:
    """Return the error responses to an invalid line: one per request in it, at least one."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return [_error(PARSE_ERROR, "the line is not valid JSON", None)]
    requests = found if isinstance(found, list) and found else [found]
    return [_error(INVALID_REQUEST, "not a valid JSON-RPC message", _id(request)) for request in requests]


def _error(code: int, message: str, id: int | str | None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=message))


def _id(request: Any) -> int | str | None:
    """Return the id of a request; None if the id is missing or invalid."""
    found = request.get("id") if isinstance(request, dict) else None
    if isinstance(found, str):
        return _SURROGATE.sub("\ufffd", found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _without_surrogates(line: str) -> str:
    """Return a line of JSON with U+FFFD for each lone surrogate. The parser has already joined surrogate pairs."""
    try:
        return _SURROGATE.sub("\ufffd", json.dumps(json.loads(line), ensure_ascii=False))
    except (ValueError, RecursionError):
        return line


async def iter_lines(descriptor: int) -> AsyncIterator[str]:
    """
    Yield lines as they arrive, until the client closes the stream.

    A daemon thread reads them. A blocking read cannot be cancelled, and the reader of the SDK would keep the process
    alive until its client sends something.
    """
    loop = asyncio.get_running_loop()
    blocks: asyncio.Queue[bytes] = asyncio.Queue()

    def pump() -> None:
        block = b"more"
        with suppress(RuntimeError):  # the loop is closed
            while block:
                try:
                    block = os.read(descriptor, BLOCK_BYTES)
                except OSError:
                    block = b""
                loop.call_soon_threadsafe(blocks.put_nowait, block)

    threading.Thread(target=pump, name="weft-stdin", daemon=True).start()
    rest = b""
    while block := await blocks.get():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
