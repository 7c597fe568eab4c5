"""Thread pools for engine calls: readers, parsers, one writer, one thread for health and metrics."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from weft.config import ServerOptions
from weft.engine.parsing.parser_pool import ParserPool
from weft.server.errors import Refused

T = TypeVar("T")


class Threads:
    """
    Thread pools that live as long as the server, because each thread keeps its own store connection.

    There is one writer thread, so read-modify-write sequences never interleave. Monitoring has a separate thread, so it
    works while all readers are busy. Threads that wait for parser processes are separate too; one namespace may use
    all but one of them.
    """

    def __init__(self, options: ServerOptions, *, parsers: ParserPool) -> None:
        self._seconds = options.seconds
        self._parsers = ThreadPoolExecutor(parsers.size, thread_name_prefix="weft-parse")
        self._parse_turns: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(parsers.max_per_namespace)
        )
        self._readers = ThreadPoolExecutor(options.threads, thread_name_prefix="weft-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="weft-write")
        self._monitor = ThreadPoolExecutor(1, thread_name_prefix="weft-monitor")

    async def read(self, call: Callable[[], T]) -> T:
        """Run a read-only call; raise `Refused` (504) after the time limit."""
        return await self._run(self._readers, call)

    async def monitor(self, call: Callable[[], T]) -> T:
        """Run a short read-only call for monitoring, independent of the readers."""
        return await self._run(self._monitor, call)

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(call)), self._seconds)
        except asyncio.TimeoutError:
            message = f"no response within {self._seconds} s"
            raise Refused(504, "timeout", message, hint="request fewer results, or raise server.seconds") from None

    async def write(self, call: Callable[[], T]) -> T:
        """Run a write. A write that cannot start within the time limit is refused; a started write is completed."""
        future = self._writer.submit(call)
        await asyncio.wait([wrapped := asyncio.wrap_future(future)], timeout=self._seconds)
        if not wrapped.done() and future.cancel():
            raise Refused(
                503, "busy", "other writes are in progress; nothing was written", hint="retry in a few seconds"
            )
        return await asyncio.shield(wrapped)

    async def load(self, call: Callable[[], T]) -> T:
        """Run a call that reads a request, without a time limit."""
        return await asyncio.wrap_future(self._readers.submit(call))

    async def parse(self, call: Callable[[], T], *, namespace: str, seconds: float | None = None) -> T:
        """Run a call that waits for a parser process. Raises `Refused` (503) if it cannot start within `seconds`."""
        turn = self._parse_turns[namespace]
        try:
            await asyncio.wait_for(turn.acquire(), seconds)
        except asyncio.TimeoutError:
            message = "other documents of this namespace are being parsed; nothing was written"
            raise Refused(503, "busy", message, hint="retry in a few seconds") from None
        try:
            return await asyncio.wrap_future(self._parsers.submit(call))
        finally:
            turn.release()

    async def parse_now(self, call: Callable[[], T], *, namespace: str) -> T:
        """Run a call as `parse` does, and refuse it if it cannot start within the time limit of requests."""
        return await self.parse(call, namespace=namespace, seconds=self._seconds)

    async def store(self, call: Callable[[], T]) -> T:
        """Run a writing part of a job, without a time limit. If cancelled, it is completed first."""
        future: Future[T] = self._writer.submit(call)
        return await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Wait for started calls and cancel the others."""
        self._writer.shutdown(wait=True)
        self._parsers.shutdown(wait=True, cancel_futures=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self._monitor.shutdown(wait=True, cancel_futures=True)
