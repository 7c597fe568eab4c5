"""
Extraction in processes beside this one, for large index runs on several cores.

    documents ─┬─ as they are ───────────────────────────────┬─→ `index_documents`, in the same order
               └─ parser process: split, analyse, extract ───┘

Processes read ahead of this one. A document that they have not begun when its turn comes is extracted here, so that all
cores are busy. Documents that are stored already, and documents that a process fails to read, are passed on unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from weft.engine.parsing.parser_messages import FULL_PRIORITY, PayloadInput, Recipe
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.parsing.parser_process import COMMAND
from weft.errors import WeftError
from weft.index.job_queue import Components, write_payload
from weft.index.plan import Plan, Prepared, describe_document
from weft.records import Document, Skipped

Item: TypeAlias = Document | Prepared | Skipped

MIN_DOCUMENTS = 256
"""Documents of a run before processes start. A start takes as long as the extraction of 300 documents."""

MAX_AHEAD = 512
"""Documents that are loaded ahead of the one that is indexed: as many as one transaction writes in a second."""

MAX_AHEAD_CHARACTERS = 4_000_000
"""Characters of the documents that are loaded ahead, for the memory."""

LEAD = 16
"""Documents between the one that is indexed and the first one that is sent, so that it is ready in its turn."""

REQUESTS_PER_PROCESS = 256
"""Documents that wait for one process, or are read by it. With fewer it would wait during a transaction of this one."""

MAX_UNEXAMINED = 8
"""Documents that are not examined after one that is stored already: the others are probably stored too."""

MAX_DOCUMENT_CHARACTERS = 100_000
"""A longer document is extracted here: the others would wait for it."""

MAX_WAIT_SECONDS = 0.2
"""Longest wait for a process. Then the document is extracted here: other programs may keep the cores busy."""

MAX_DOCUMENTS_PER_PROCESS = 50_000
"""The documents come from the loaders of this process, so that a parser process does not load files and leak memory."""


@dataclass(slots=True)
class _Pending:
    item: Item
    result: Future[Item] | None = None

    @property
    def size(self) -> int:
        return len(self.item.text) if isinstance(self.item, Document) else 0


def extract_ahead(
    items: Iterable[Item], components: Components, recipe: Recipe, *, cores: int
) -> Generator[Item, None, None]:
    """Yield the items in order; on several cores, some documents as plans that other processes made."""
    rest = iter(items)
    if cores < 2 or not recipe.extracts:
        yield from rest
        return
    yield from islice(rest, MIN_DOCUMENTS)
    pool = ParserPool(cores, command=(*COMMAND, FULL_PRIORITY), max_documents=MAX_DOCUMENTS_PER_PROCESS)
    threads = ThreadPoolExecutor(cores - 1, thread_name_prefix="weft-extract")
    try:
        yield from _Ahead(pool, threads, components, recipe, limit=REQUESTS_PER_PROCESS * (cores - 1)).run(rest)
    finally:
        pool.close()
        threads.shutdown(cancel_futures=True)


class _Ahead:
    """Items that were read ahead, in order."""

    def __init__(
        self, pool: ParserPool, threads: ThreadPoolExecutor, components: Components, recipe: Recipe, *, limit: int
    ) -> None:
        self._pool = pool
        self._threads = threads
        self._components = components
        self._recipe = recipe
        self._limit = limit
        """Maximum number of documents at the processes."""
        self._pending: deque[_Pending] = deque()
        self._characters = 0
        """Size of the pending documents."""
        self._next = 0
        """Place of the first pending document that was not examined."""
        self._sent: deque[Future[Item]] = deque()
        """Results of documents at the processes, and of some that are done."""
        self._unexamined = 0
        """Documents to pass on before the next one is examined."""

    def run(self, items: Iterator[Item]) -> Iterator[Item]:
        """Yield all items, the first ones while later ones are at the processes."""
        while True:
            while len(self._pending) < MAX_AHEAD and self._characters < MAX_AHEAD_CHARACTERS:
                item = next(items, None)
                if item is None:
                    break
                self._pending.append(_Pending(item))
                self._characters += self._pending[-1].size
            if not self._pending:
                return
            self._send()
            entry = self._pending.popleft()
            self._characters -= entry.size
            self._next = max(0, self._next - 1)
            yield self._receive(entry)

    def _send(self) -> None:
        """Send documents to the processes until they have enough."""
        while self._sent and self._sent[0].done():
            self._sent.popleft()
        self._next = max(self._next, LEAD)
        while len(self._sent) < self._limit and self._next < len(self._pending):
            entry = self._pending[self._next]
            if self._unexamined:
                self._unexamined -= 1
            elif isinstance(entry.item, Document) and (content_hash := self._find_change(entry.item)):
                self._pool.start()
                if not self._pool.is_ready:
                    return
                entry.result = self._threads.submit(self._prepare, entry.item, content_hash)
                self._sent.append(entry.result)
            self._next += 1

    def _receive(self, entry: _Pending) -> Item:
        if entry.result is None or entry.result.cancel():  # no process has begun
            return entry.item
        if not entry.result.done():  # give the processes a lead again, instead of waiting for each of the next ones
            for other in islice(self._pending, LEAD):
                if other.result and other.result.cancel():
                    other.result = None
        try:
            return entry.result.result(MAX_WAIT_SECONDS)
        except TimeoutError:
            return entry.item

    def _find_change(self, document: Document) -> str:
        """Return the content hash of a new or changed document; empty if it is stored, too long or invalid."""
        if len(document.text) > MAX_DOCUMENT_CHARACTERS:
            return ""
        components, recipe = self._components, self._recipe
        reader = components.fact_reader()
        try:
            info = describe_document(
                document,
                namespace=recipe.namespace,
                options=recipe.split,
                extractor=components.extractor,
                facts=reader(document, ()) if reader else (),
            )
        except WeftError:  # raised again in its turn
            return ""
        known = components.store.documents([info.id])
        if known and known[0].content_hash == info.content_hash:
            self._unexamined = MAX_UNEXAMINED
            return ""
        return info.content_hash

    def _prepare(self, document: Document, content_hash: str) -> Item:
        """Return the plan that a process makes of a document; the document itself if it fails or reads otherwise."""
        try:
            request = PayloadInput(source=document.source, payload=write_payload(document))
            found = list(self._pool.prepare(request, self._recipe))
        except (WeftError, TypeError, ValueError):
            return document
        plan = found[0] if len(found) == 1 else None
        return plan if isinstance(plan, Plan) and plan.document.content_hash == content_hash else document
