"""
Extraction in processes beside this one, for large index runs on several cores.

    documents ─┬─ as they are ───────────────────────────────┬─→ `index_documents`, in the same order
               └─ parser process: mask, split, extract ──────┘

Processes read ahead of this one, so that they have work while a transaction is written. If the document whose turn it
is has not come back, this process extracts documents that no process has taken. Documents that are stored already, and
documents that a process fails to read, are passed on unchanged.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from weft.engine.parsing.parser_messages import FULL_PRIORITY, BatchInput, Recipe, to_request
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.parsing.parser_process import MODULE, ParserProcess
from weft.errors import WeftError
from weft.index.job_queue import Components, write_payload
from weft.index.note_facts import FactReader
from weft.index.plan import Plan, Prepared, prepare
from weft.load.file_reader import LoadError
from weft.masking.masked_documents import mask_documents
from weft.processes.child import python_command
from weft.records import Document, Skipped
from weft.text.ids import document_id

Item: TypeAlias = Document | Prepared | Skipped

MIN_DOCUMENTS = 256
"""Documents that are loaded before processes start. A start takes as long as the extraction of 300 documents."""

MAX_AHEAD = 8192
"""Documents that are loaded ahead of the one that is indexed: as many as processes extract during a transaction."""

MAX_AHEAD_CHARACTERS = 16_000_000
"""Characters of the documents that are loaded ahead, for the memory."""

LOADED_PER_STEP = 4
"""Documents loaded for each one that is passed on, so that the first ones do not wait for thousands of others."""

DOCUMENTS_PER_REQUEST = 16
"""Documents that a process gets at once. Their extractions, 2.5 KB each, fit into the buffer of a pipe."""

REQUESTS_PER_PROCESS = 2
"""Requests at a process: the next one waits there while the thread of this one waits for the interpreter lock."""

MAX_UNEXAMINED = 8
"""Groups of documents not examined after one with a stored document: the others are probably stored too."""

MAX_DOCUMENT_CHARACTERS = 100_000
"""A longer document is extracted here: the others would wait for it."""

MAX_WAIT_SECONDS = 0.2
"""Longest wait for a process. Then the document is extracted here: other programs may keep the cores busy."""

MAX_DOCUMENTS_PER_PROCESS = 50_000
"""The documents come from the loaders of this process, so that a parser process does not load files and leak memory."""


@dataclass(slots=True, eq=False)
class _Pending:
    item: Item
    size: int
    """Number of characters."""
    is_for_process: bool = False
    """New or changed."""
    is_taken: bool = False
    """A process has it, or it was passed on."""
    is_done: bool = False
    """The process has answered; `item` is its plan, or the document if it failed."""


def extract_ahead(
    items: Iterable[Item], components: Components, recipe: Recipe, *, cores: int
) -> Generator[Item, None, None]:
    """
    Yield the items in order, without secrets; on several cores, some as plans that other processes made.

    Processes mask the documents that they extract.
    """
    if cores < 2 or not recipe.extracts:
        yield from mask_documents(items, recipe.memory)
        return
    pool = ParserPool(cores, command=python_command(MODULE, FULL_PRIORITY), max_documents=MAX_DOCUMENTS_PER_PROCESS)
    ahead = _Ahead(pool, components, recipe)
    threads = ThreadPoolExecutor(cores - 1, thread_name_prefix="weft-extract")
    try:
        for _ in range(cores - 1):
            threads.submit(ahead.serve)
        yield from mask_documents(ahead.run(iter(items)), recipe.memory)
    finally:
        ahead.end()
        pool.close()
        threads.shutdown(cancel_futures=True)


class _Ahead:
    """Items that were read ahead, in order, and those of them that wait for a process."""

    def __init__(self, pool: ParserPool, components: Components, recipe: Recipe) -> None:
        self._pool = pool
        self._components = components
        self._recipe = recipe
        self._facts: FactReader | None = components.fact_reader()
        self._pending: deque[_Pending] = deque()
        self._characters = 0
        """Size of the pending documents."""
        self._loaded = 0
        """Items loaded so far."""
        self._unexamined: list[_Pending] = []
        """The last pending documents, which no process gets yet."""
        self._skipped_groups = 0
        """Groups to pass on before the next one is examined."""
        self._changed = threading.Condition()
        self._waiting: deque[_Pending] = deque()
        """Documents for the processes; some were taken back."""
        self._has_ended = False

    # ── this thread ─────────────────────────────────────────────────────────────────────────────

    def run(self, items: Iterator[Item]) -> Iterator[Item]:
        """Yield all items, the first ones while later ones are at the processes."""
        while True:
            is_last = not self._load(items)
            while len(self._unexamined) >= (1 if is_last else DOCUMENTS_PER_REQUEST) and self._loaded >= MIN_DOCUMENTS:
                self._submit(self._unexamined[:DOCUMENTS_PER_REQUEST])
                del self._unexamined[:DOCUMENTS_PER_REQUEST]
            if not self._pending:
                return
            entry = self._pending.popleft()
            self._characters -= entry.size
            yield self._receive(entry)

    def end(self) -> None:
        """Let the threads end."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _load(self, items: Iterator[Item]) -> bool:
        """Load a few more items; return False at the end."""
        for _ in range(LOADED_PER_STEP):
            if len(self._pending) >= MAX_AHEAD or self._characters >= MAX_AHEAD_CHARACTERS:
                break
            item = next(items, None)
            if item is None:
                return False
            entry = _Pending(item, len(item.text) if isinstance(item, Document) else 0)
            self._pending.append(entry)
            self._unexamined.append(entry)
            self._characters += entry.size
            self._loaded += 1
        return True

    def _submit(self, entries: Sequence[_Pending]) -> None:
        """Let the processes have the new and changed documents of a group that were not passed on."""
        if self._skipped_groups:
            self._skipped_groups -= 1
            return
        self._find_changes([at for at in entries if at.size <= MAX_DOCUMENT_CHARACTERS and not at.is_taken])
        found = [entry for entry in entries if entry.is_for_process]
        with self._changed:
            self._waiting.extend(found)
            self._changed.notify()

    def _receive(self, entry: _Pending) -> Item:
        """Return an item; until its process has answered, extract other documents."""
        while True:
            with self._changed:
                if entry.is_done or not entry.is_taken:
                    entry.is_taken = True
                    return entry.item
                other = self._take(1)
                if not other and not self._changed.wait_for(lambda: entry.is_done, MAX_WAIT_SECONDS):
                    return entry.item
            for stolen in other:
                stolen.item = self._extract(stolen.item)
                stolen.is_done = True

    def _extract(self, item: Item) -> Item:
        assert isinstance(item, Document)
        return prepare(
            self._mask(item),
            namespace=self._recipe.namespace,
            options=self._components.options,
            extractor=self._components.extractor,
            fact_reader=self._facts,
        )

    def _mask(self, document: Document) -> Document:
        return next(mask_documents([document], self._recipe.memory))

    def _find_changes(self, entries: Sequence[_Pending]) -> None:
        """Mark the documents that the store does not have in this form. New ones are not hashed here."""
        components = self._components
        found = {
            document_id(self._recipe.namespace, entry.item.source): (entry, entry.item)
            for entry in entries
            if isinstance(entry.item, Document)
        }
        known = {info.id: info.content_hash for info in components.store.documents(list(found))}
        for id, (entry, document) in found.items():
            try:
                if id in known and components.describe(self._mask(document), self._facts).content_hash == known[id]:
                    self._skipped_groups = MAX_UNEXAMINED
                else:
                    entry.is_for_process = True
            except WeftError:  # raised again in its turn
                continue

    # ── threads of the processes ────────────────────────────────────────────────────────────────

    def serve(self) -> None:
        """Exchange documents with one process until the end; with another one if it dies."""
        while not self._has_ended and self._wait():
            try:
                with self._pool.lease(self._recipe.namespace) as process:
                    self._exchange(process)
            except WeftError:  # no process can be started
                return

    def _wait(self) -> bool:
        """Wait for documents; return False at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._has_ended)
            return not self._has_ended

    def _exchange(self, process: ParserProcess) -> None:
        sent: deque[list[_Pending]] = deque()
        try:
            while True:
                while len(sent) < REQUESTS_PER_PROCESS and (entries := self._take(DOCUMENTS_PER_REQUEST)):
                    sent.append(entries)
                    if not process.send(self._to_request(entries)):
                        return
                if not sent and not self._wait():
                    return
                if sent:
                    self._finish(sent[0], process)
                    sent.popleft()
                    if process.is_busy:  # it must be replaced
                        return
        except (LoadError, TypeError, ValueError):
            process.kill()
        finally:
            with self._changed:  # its documents are extracted here
                for entry in (entry for entries in sent for entry in entries):
                    entry.is_done = True
                self._changed.notify_all()

    def _take(self, count: int) -> list[_Pending]:
        """Return the next documents that nobody has taken."""
        taken: list[_Pending] = []
        with self._changed:
            while self._waiting and len(taken) < count:
                entry = self._waiting.popleft()
                if not entry.is_taken:
                    entry.is_taken = True
                    taken.append(entry)
        return taken

    def _to_request(self, entries: Sequence[_Pending]) -> dict[str, object]:
        documents = [entry.item for entry in entries if isinstance(entry.item, Document)]
        payloads = [write_payload(document) for document in documents]
        return to_request(BatchInput(source=documents[0].source, payloads=payloads), self._recipe)

    def _finish(self, entries: Sequence[_Pending], process: ParserProcess) -> None:
        """Replace documents by the plans that a process made of them, in the same order."""
        plans: list[Prepared | Skipped] = []
        try:
            plans.extend(process.receive(cpu_seconds=self._recipe.load.max_cpu_seconds))
        except LoadError:
            raise
        except WeftError:
            pass  # an invalid document; it is raised again in its turn
        with self._changed:
            for entry, plan in zip(entries, plans, strict=False):
                assert isinstance(entry.item, Document)
                if isinstance(plan, Plan) and plan.document.source == entry.item.source:
                    entry.item = plan
            for entry in entries:
                entry.is_done = True
            self._changed.notify_all()
