"""Steps of the write path: loading, choice of the embedder, parsing in other processes, and writing."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from weft.config import Settings
from weft.config.read import source_folder
from weft.engine.adapters import Progress
from weft.engine.embedder import EmbedderSlot, adopt_embedder
from weft.engine.embedder_choice import adopt_choice, may_choose
from weft.engine.indexing.runs import add_all, add_documents
from weft.engine.parsing.parser_messages import Input, make_recipe
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.paths import load_files, peek_documents, read_paths, sample_files
from weft.index.job_queue import Components
from weft.index.note_facts import make_fact_reader
from weft.index.plan import Prepared
from weft.index.progress import Step
from weft.models.base import Extractor
from weft.records import Document, Receipt, Skipped
from weft.store.base import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexing:
    """The write path of an engine in steps, for servers and workers that parse and write at different times."""

    store: Store
    settings: Settings
    slot: EmbedderSlot
    is_custom: bool
    """True if the caller passed an embedder, which other processes cannot open by name."""
    extractor: Callable[[], Extractor | None]
    now: datetime
    on_fetch: Progress | None

    def components(self, *, joining: bool = False) -> Components:
        """
        Return the components of the write path. Raises `SchemaMismatch` if the namespace has another embedder.

        A new namespace records the embedder. With `joining`, the embedder of the namespace is used, or none.
        """
        if not joining:
            adopt_embedder(self.store, self.slot.get())
        return Components(
            store=self.store,
            embedder=self.slot.answering(self.store),
            options=self.settings.split,
            extractor=self.extractor(),
            fact_reader=partial(
                make_fact_reader, namespace=self.store.namespace, options=self.settings.memory, now=self.now
            ),
            memory=self.settings.memory,
        )

    def prepare(
        self, items: Iterable[Input | Skipped], *, parsers: ParserPool
    ) -> Generator[Prepared | Skipped, None, None]:
        """Yield files and texts, parsed in other processes. A document that exceeds a limit is skipped."""
        recipe = make_recipe(self.settings, extractor=self.extractor(), now=self.now)
        for item in items:
            yield from [item] if isinstance(item, Skipped) else parsers.prepare(item, recipe)

    def add_prepared(
        self, items: Iterable[Prepared | Skipped], *, on_step: Callable[[Step], None] = lambda step: None
    ) -> Receipt:
        """Index documents that `prepare` parsed."""
        items, notes = self.peek(items)
        receipt = add_documents(items, self.components(), on_step=on_step)
        return replace(receipt, notes=(*notes, *receipt.notes))

    def add(
        self, documents: Iterable[Document | Skipped], *, workers: int, notes: tuple[str, ...], **listeners: Any
    ) -> Receipt:
        """Index documents in this process or by workers, without their secrets; `notes` are added to the receipt."""
        receipt = add_all(
            documents,
            self.components(),
            self.settings,
            workers=workers,
            now=self.now,
            is_custom=self.is_custom,
            **listeners,
        )
        return replace(receipt, notes=(*notes, *receipt.notes))

    def count(self, *paths: str | Path) -> int:
        """Return the approximate number of documents below the paths without reading them, for progress bars."""
        from weft.load.run import count_records, iter_sources

        files = iter_sources(read_paths(paths), options=self.settings.load, base=source_folder(self.settings))
        return sum(map(count_records, files))

    def load(self, roots: Sequence[Path]) -> Iterator[Document | Skipped]:
        """Yield the documents of files and folders, and skipped files with the reason."""
        options, base = self.settings.load, source_folder(self.settings)
        return load_files(roots, options=options, base=base, db=self.settings.store.db)

    def sample(self, roots: Sequence[Path]) -> Iterator[str]:
        """Yield the texts of some documents, by which the embedder of a new namespace is chosen."""
        return sample_files(roots, options=self.settings.load, base=source_folder(self.settings))

    @property
    def may_choose(self) -> bool:
        """True if the namespace is new and the settings name no embedder."""
        return may_choose(self.store, self.slot)

    def choose(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Choose the embedder of a new namespace by texts; return notes about the choice."""
        return adopt_choice(texts, store=self.store, slot=self.slot, settings=self.settings, progress=self.on_fetch)

    def peek(self, items: Iterable[T]) -> tuple[Iterable[T], tuple[str, ...]]:
        """Choose the embedder of a new namespace by the first items; return all items, and notes."""
        if not self.may_choose:
            return items, ()
        first, items = peek_documents(items)
        return items, self.choose(first)
