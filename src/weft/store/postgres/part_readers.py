"""
Parts of a namespace read at once: threads with connections of their own, all in the snapshot of one transaction.

A part always has the same connection in a transaction. Example: four parts and two free readers:

    connection of the transaction    part 0, then part 3
    reader 1                         part 1
    reader 2                         part 2
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Generic, TypeVar

from weft.store.postgres.part_names import part_place

Session = TypeVar("Session")
Result = TypeVar("Result")

MAX_PART_READERS = 8
"""Connections of a process that read parts, beside those of its transactions. Seven serve a question to 8 parts."""


class ReaderThreads:
    """Threads of a process that read parts. A transaction takes those that are free and never waits for one."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(MAX_PART_READERS)
        self._executor = ThreadPoolExecutor(MAX_PART_READERS, thread_name_prefix="part")

    def take(self, wanted: int) -> int:
        """Reserve at most as many threads as are wanted; return their number."""
        taken = 0
        while taken < wanted and self._free.acquire(blocking=False):
            taken += 1
        return taken

    def release(self, taken: int) -> None:
        """Give threads back."""
        if taken:
            self._free.release(taken)

    def run(self, tasks: Sequence[Callable[[], None]], own: Callable[[], None]) -> None:
        """Run tasks in reserved threads and `own` in this one; raise the first failure after all have ended."""
        futures = [self._executor.submit(task) for task in tasks]
        try:
            own()
        finally:
            wait(futures)
        for future in futures:
            future.result()

    def close(self) -> None:
        """End the threads."""
        self._executor.shutdown()


class PartReaders(Generic[Session]):
    """Readers of one transaction, opened when they are first used."""

    def __init__(
        self,
        threads: ReaderThreads,
        *,
        export_snapshot: Callable[[], str],
        open_reader: Callable[[str], AbstractContextManager[Session]],
    ) -> None:
        self._threads = threads
        self._export = export_snapshot
        self._open = open_reader
        self._snapshot = ""
        self._taken: int | None = None
        self.sessions: dict[int, Session] = {}
        """Sessions of the readers that were opened, by place from 1."""
        self._opened: dict[int, ExitStack] = {}

    def each(
        self, own: Session, parts: Sequence[str], *, count: int, read: Callable[[Session, str], Result]
    ) -> list[Result]:
        """Return what `read` returns for some parts of a namespace that has `count`, in their order."""
        if self._taken is None:
            self._taken = self._threads.take(count - 1)
            self._snapshot = self._export() if self._taken else ""
        found: dict[str, Result] = {}
        shares: dict[int, list[str]] = {}
        for part in parts:
            shares.setdefault(part_place(part) % (self._taken + 1), []).append(part)

        def run(place: int) -> None:
            session = self._session(place) if place else own
            found.update({part: read(session, part) for part in shares.get(place, ())})

        self._threads.run([partial(run, place) for place in shares if place], partial(run, 0))
        return [found[part] for part in parts]

    def close(self) -> None:
        """End the transactions of the readers and give their threads back."""
        taken, self._taken = self._taken or 0, 0
        try:
            self._threads.run([opened.close for opened in self._opened.values()], lambda: None)
        finally:
            self.sessions.clear()
            self._opened.clear()
            self._threads.release(taken)

    def _session(self, place: int) -> Session:
        if place not in self.sessions:
            opened = ExitStack()
            self.sessions[place] = opened.enter_context(self._open(self._snapshot))
            self._opened[place] = opened
        return self.sessions[place]
