"""Threads that the engine's calls run in: some for reading, one for writing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from weft.config import ServerOptions
from weft.server.errors import Refused

T = TypeVar("T")


class Workers:
    """
    A bounded number of threads that live as long as the server, since each keeps its own connection to the store.

    There is one writer, so writes happen one after the other and none gets lost between reading and writing.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._seconds = options.seconds
        self._readers = ThreadPoolExecutor(options.threads, thread_name_prefix="weft-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="weft-write")

    async def read(self, call: Callable[[], T]) -> T:
        """Run a call that changes nothing; after the time limit it is given up."""
        future = self._readers.submit(call)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except asyncio.TimeoutError:
            raise Refused(504, "timeout", f"no answer in {self._seconds} s", hint="ask for less") from None

    async def write(self, call: Callable[[], T]) -> T:
        """Run a call that writes. One whose turn does not come in time is not run; one that has begun is finished."""
        future = self._writer.submit(call)
        await asyncio.wait([wrapped := asyncio.wrap_future(future)], timeout=self._seconds)
        if not wrapped.done() and future.cancel():
            raise Refused(503, "busy", "others are writing; nothing was written", hint="try again")
        return await asyncio.shield(wrapped)

    async def load(self, call: Callable[[], T]) -> T:
        """Run a part of a job that reads, however long it takes."""
        return await asyncio.wrap_future(self._readers.submit(call))

    async def store(self, call: Callable[[], T]) -> T:
        """Run a part of a job that writes, however long its turn takes to come; cancelled, it is finished first."""
        future: Future[T] = self._writer.submit(call)
        return await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Wait for what has begun, and drop what has not."""
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
