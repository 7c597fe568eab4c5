r"""
Standard input as a stream of valid JSON-RPC lines.

The SDK drops a line that it cannot parse, and the client waits forever. This module responds to every request:

    line                                          result
    {"jsonrpc": "2.0", "id": 1, "method": …}      passed on
    the same with a lone surrogate ("\ud800")     passed on with U+FFFD in its place
    {"id": 2, "method": 5}                        error -32600 with id 2
    {"id": 1.5, "method": "ping"}                 error -32600 with id null: an id is a text or a whole number
    [{"id": 3, …}, {"id": 4, …}]                  error -32600 for 3 and for 4: there are no batches
    a line of more than 10 MiB                    error -32600 with id null
    not JSON                                      error -32700 with id null
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

from mcp_types.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from weft.config import MEBIBYTE

BLOCK_BYTES = 65_536
"""Bytes of one read from standard input."""
MAX_LINE_BYTES = 10 * MEBIBYTE
"""Longer lines are answered with an error and not kept in memory."""
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
        if line is None:
            await reject(_error(INVALID_REQUEST, f"the line is longer than {MAX_LINE_BYTES:,} bytes", None))
            continue
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
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
            # The SDK reads a request with an invalid id as a notification, which nobody answers.
            return None if isinstance(message, JSONRPCNotification) and "id" in json.loads(text) else text
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


async def iter_lines(descriptor: int) -> AsyncIterator[str | None]:
    """
    Yield lines as they arrive, until the client closes the stream; None for a line that is too long.

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
    rest = _Line()
    while block := await blocks.get():
        *ends, begin = block.split(b"\n")
        for end in ends:
            rest.add(end)
            yield rest.take()
        rest.add(begin)
    if rest.size:
        yield rest.take()


class _Line:
    """Parts of a line whose end has not arrived; parts beyond the maximum size are only counted."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        """Add the next part."""
        self.size += len(part)
        if self.size <= MAX_LINE_BYTES:
            self._parts.append(part)
        else:
            self._parts.clear()

    def take(self) -> str | None:
        """Return the line, or None if it is too long, and begin the next one."""
        line = None if self.size > MAX_LINE_BYTES else b"".join(self._parts).decode("utf-8", "replace")
        self.size, self._parts = 0, []
        return line
