"""
Framing of all messages between processes of Weft: 4 bytes with the length, big-endian, then the data.

    message     JSON in UTF-8, lone surrogates included
    data        bytes such as a matrix, after a message that announces them

Child processes are reached by pipes, the daemon of hooks by a socket. Every hook of an agent host imports this module,
so it loads little.
"""

from __future__ import annotations

import json
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

HEADER_BYTES = 4

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""A longer message is refused, unless its reader names another limit."""

RECEIVED_BYTES = 64 * 1024
"""Maximum number of bytes that one call reads from a socket."""


class FrameTooLarge(ValueError):
    """The length of a message exceeds the limit of its reader."""


def frame(data: bytes | memoryview) -> bytes:
    """Return data after its length."""
    return len(data).to_bytes(HEADER_BYTES, "big") + data


def encode(value: Any) -> bytes:
    """Return the frame of a JSON value."""
    return frame(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def decode(data: bytes) -> Any:
    """Return the value of a message. Raises `ValueError`."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_frame(read: Callable[[int], bytes | None], *, max_bytes: int = MAX_MESSAGE_BYTES) -> bytes:
    """
    Return the data of the next frame. `read` returns at most as many bytes as it is asked for, and none at the end.

    Raises `FrameTooLarge`, and `EOFError` if the other process has ended.
    """
    length = int.from_bytes(_read_exactly(read, HEADER_BYTES), "big")
    if length > max_bytes:
        raise FrameTooLarge(f"{length:,} bytes")
    return _read_exactly(read, length)


def receive_frame(connection: socket.socket, *, deadline: float, max_bytes: int) -> bytes:
    """Return the data of the next frame of a socket, as `read_frame`. Raises `TimeoutError` after `deadline`."""

    def receive(count: int) -> bytes:
        connection.settimeout(seconds_left(deadline))
        return connection.recv(min(count, RECEIVED_BYTES))

    return read_frame(receive, max_bytes=max_bytes)


def seconds_left(deadline: float) -> float:
    """Return the seconds until a time of `time.monotonic`. Raises `TimeoutError` if it has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


def _read_exactly(read: Callable[[int], bytes | None], count: int) -> bytes:
    parts, missing = [], count
    while missing:
        part = read(missing)
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
