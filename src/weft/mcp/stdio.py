"""Standard input as lines, in a way that an interrupt can end."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

BLOCK = 65536


@contextmanager
def claimed_stdin() -> Iterator[int]:
    """Give a descriptor of what standard input was; whoever reads standard input itself meanwhile finds it empty."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        yield wire
    finally:
        os.dup2(wire, 0)
        os.close(nothing)


async def iter_lines(descriptor: int) -> AsyncIterator[str]:
    """
    Yield lines as they come, until the other side closes.

    They are read by a thread that nobody waits for: a read that blocks cannot be called off, and the SDK's own reader
    would hold the process until its client sends something.
    """
    loop = asyncio.get_running_loop()
    blocks: asyncio.Queue[bytes] = asyncio.Queue()

    def pump() -> None:
        block = b"something"
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while block:
                try:
                    block = os.read(descriptor, BLOCK)
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
