"""Turns settings into a store, models and the two paths, and offers them as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from weft.config import ContextFormat, Method, SearchOptions, Settings
from weft.config.read import changed, read_settings, source_folder
from weft.context.serialise import metadata_to_dict
from weft.engine.adapters import Progress, open_counter, open_database, open_embedder, open_extractor
from weft.engine.advice import advised
from weft.engine.contexts import build_context
from weft.engine.embedder_check import agree, check_same, find_active, find_agreed
from weft.engine.embedding import add_documents, preview_documents, preview_switch, switch
from weft.engine.entities import Entities
from weft.engine.input_checks import check_filter, check_question
from weft.engine.memory import Memory
from weft.engine.paths import find_missing, get_document, get_named, noting, read_paths
from weft.engine.reranking import OnDemand
from weft.engine.research import SOURCE as RESEARCH
from weft.engine.research import read_findings
from weft.engine.uploads import text_document
from weft.engine.warmer import warm
from weft.engine.watch import watch
from weft.errors import ConfigError
from weft.index.job_queue import Components
from weft.index.note_facts import FactReader, make_fact_reader
from weft.index.prune import iter_documents
from weft.index.run import Step
from weft.load.run import count_records, iter_sources
from weft.load.run import iter_documents as load_documents
from weft.models.base import Embedder, Extractor, Reranker
from weft.records import (
    Chunk,
    Context,
    Document,
    DocumentInfo,
    Evidence,
    Filter,
    Metadata,
    Recall,
    Receipt,
    Result,
    Skipped,
    StoreStats,
)
from weft.search.cite import cite
from weft.search.facts.blend import blend
from weft.search.facts.recall_cache import RecallCache
from weft.search.graph.relations import relations_in
from weft.search.run import find
from weft.store.base import Database, Store
from weft.text.decode import decode


class Engine:
    """One namespace of one database, ready to index and to answer. Use it as a context manager."""

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | OnDemand | None = None,
        on_fetch: Progress | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self.settings = settings
        self.database = database or open_database(settings)
        self._given_embedder = embedder
        self.reranking = reranker if isinstance(reranker, OnDemand) else OnDemand(settings, given=reranker)
        self._on_fetch = on_fetch
        self._clock = clock
        self._recalls = RecallCache(seconds=settings.memory.cache_seconds)

    @property
    def store(self) -> Store:
        """The namespace of the settings."""
        return self.database.store(self.settings.store.namespace)

    @cached_property
    def embedder(self) -> Embedder | None:
        """
        The embedder of this namespace; its weights are loaded when first used.

        Where the settings leave the choice open, it is the one the namespace was indexed with.
        """
        if self._given_embedder is not None:
            return self._given_embedder
        name = ""
        if "models.embedder" not in self.settings.origins:
            name = next((model.name for model in self.store.models() if model.active), "")
        return open_embedder(self.settings, name=name, progress=self._on_fetch)

    # ── write ───────────────────────────────────────────────────────────────────────────────────

    def index(
        self,
        *paths: str | Path,
        prune: bool = False,
        workers: int = 1,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> Receipt:
        """
        Index files and folders; unchanged documents cost nothing.

        With `prune`, documents below these paths whose file is gone are deleted afterwards; a file that is merely left
        out is not gone. With more than one of `workers`, as many processes share the work; with 0 it is left to those
        that run elsewhere (docs/workers.md).
        """
        roots, seen = read_paths(paths), set[str]()
        items = noting(load_documents(roots, options=self.settings.load, base=self.base), seen)
        receipt = self.add(items, workers=workers, on_step=on_step)
        if prune and not receipt.stopped:
            gone = find_missing(roots, base=self.base, seen=seen, skipped=receipt.skipped, store=self.store)
            receipt = replace(receipt, pruned=self.store.delete(gone))
        return advised(receipt, store=self.store, embedder=self.embedder, settings=self.settings)

    def count(self, *paths: str | Path) -> int:
        """Return about how many documents the paths hold, without reading them: for progress bars."""
        found = iter_sources(read_paths(paths), options=self.settings.load, base=self.base)
        return sum(count_records(path) for path in found)

    def preview(self, *paths: str | Path, prune: bool = False, sample: int = 0) -> Receipt:
        """
        Return what `index` would do, and what an endpoint that embeds would be asked.

        A language model is asked about a `sample` of at most so many chunks; nothing else is sent.
        """
        roots, seen = read_paths(paths), set[str]()
        items = noting(load_documents(roots, options=self.settings.load, base=self.base), seen)
        receipt = preview_documents(self, items, sample=sample)
        if prune and not receipt.stopped:
            gone = find_missing(roots, base=self.base, seen=seen, skipped=receipt.skipped, store=self.store)
            receipt = replace(receipt, pruned=len(gone))
        return receipt

    def watch(self, *paths: str | Path, on_receipt: Callable[[Receipt], None]) -> None:
        """Index again whenever a file below the paths changes, until interrupted."""
        watch(self, read_paths(paths), on_receipt=on_receipt)

    def add(
        self,
        documents: Iterable[Document | Skipped],
        *,
        workers: int = 1,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> Receipt:
        """Index documents made by the caller, each under its own source."""
        given = self._given_embedder is not None
        return add_documents(self, documents, workers=workers, given=given, on_step=on_step)

    def components(self, *, joining: bool = False) -> Components:
        """
        Return what documents are indexed with. Raises `SchemaMismatch` where the namespace has another embedder.

        A new namespace takes this one on; not so by `joining`, which goes by what is there.
        """
        if not joining:
            agree(self.store, self.embedder)
        return Components(
            store=self.store,
            embedder=self.answering_embedder(),
            options=self.settings.split,
            extractor=self._extractor,
            fact_reader=self._fact_reader,
            memory=self.settings.memory,
        )

    def add_text(self, text: str, *, source: str, title: str = "", metadata: Metadata | None = None) -> Receipt:
        """
        Index one text, replacing what was there under the same source. `metadata` is added to its front matter's.

        A source without a scheme becomes `text:source`, so that it is never taken for a file.
        """
        return self.add([text_document(text, source=source, title=title, metadata=metadata)])

    def add_bytes(self, data: bytes, *, source: str, title: str = "") -> Receipt:
        """Index one text whose encoding is not known, as it comes from standard input."""
        return self.add_text(decode(data), source=source, title=title)

    def add_research_findings(self, findings: Mapping[str, object], *, source: str = RESEARCH) -> Receipt:
        """Index papers and projects given as in a findings file, each under `source` and its id (docs/research.md)."""
        return self.add(read_findings(findings, source=source))

    def delete(self, *names: str) -> int:
        """Delete documents by id or by source; the source of a folder or file takes all that is in it."""
        return self.store.delete(get_named(names, store=self.store))

    def reembed(self, *, on_step: Callable[[int], None] = lambda count: None) -> Receipt:
        """Switch the namespace to the embedder of the settings, unless a bound on its cost is reached before."""
        embedder = self.next_embedder()
        receipt = switch(self.store, embedder, on_step=on_step)
        if not receipt.stopped:
            self.__dict__["embedder"] = embedder
        return receipt

    def preview_reembed(self) -> Receipt:
        """Return what `reembed` would embed, and what an endpoint would be asked; nothing is sent or written."""
        return preview_switch(self.store, self.next_embedder())

    # ── read ────────────────────────────────────────────────────────────────────────────────────

    def query(
        self,
        text: str,
        *,
        where: Filter | None = None,
        graph: Mapping[str, Any] | None = None,
        rerank: bool | None = None,
        **options: Any,
    ) -> Result:
        """
        Answer a question. `options` are fields of `[search]`, `graph` fields of `[graph]`, for this call only.

        They are merged field by field: what is not given, or None, stays as it is set. `rerank` says whether the
        reranker of the settings is asked for the order.
        """
        check_question(text)
        if where is not None:
            check_filter(where)
        store, search = self.store, self.search_options(options)
        walk = changed("graph", self.settings.graph, graph or {})
        embedder, at = self.answering_embedder(), self._clock()
        return find(
            text,
            store=store,
            embedder=embedder,
            options=search,
            graph=walk,
            where=where or Filter(),
            at=at,
            reranker=self.reranking.find(rerank, store=store),
            rerank=self.settings.rerank,
        )

    def retrieve(self, query: str, method: Method = "agentic", **options: Any) -> tuple[list[Evidence], dict[str, Any]]:
        """Answer a question in two parts: the evidence, best first, and all else (docs/result.schema.json)."""
        result = self.query(query, method=method, **options)
        return list(result.evidence), metadata_to_dict(result)

    def answering_embedder(self) -> Embedder | None:
        """Return the embedder the namespace was indexed with, None where it has none. Another one is refused."""
        with self.store.reading():
            active = find_active(self.store)
        if active and self.embedder:
            check_same(active, self.embedder, namespace=self.store.namespace)
        return self.embedder if active else None

    def search_options(self, changes: Mapping[str, Any]) -> SearchOptions:
        """Return the search settings with `changes` made field by field; None leaves a field as it is."""
        search: SearchOptions = changed("search", self.settings.search, changes)
        return search

    def context(
        self,
        result: Result,
        *,
        format: ContextFormat | None = None,
        budget: int | None = None,
        recall: Recall | None = None,
    ) -> Context:
        """
        Return a result as text for a model, inside a token budget; what is not given is as it is set.

        With `recall`, what is remembered stands before the evidence, inside the same budget.
        """
        options = changed("context", self.settings.context, {"format": format})
        relations, facts = relations_in(self.store, at=self._clock()), recall.facts if recall else ()
        count = self._counter.count
        return build_context(result, relations=relations, count=count, options=options, budget=budget, facts=facts)

    def query_with_facts(self, text: str, **options: Any) -> tuple[Result, Recall]:
        """Answer a question as `query` does, and recall what is remembered; the status is that of both together."""
        recall = self.memory.recall(text)
        return blend(self.query(text, **options), recall), recall

    def memory_search(self, /, query: str = "", **arguments: Any) -> dict[str, Any]:
        """Answer a `memory_search` tool call of a model. `weft.tools.memory_search.MEMORY_SEARCH` is its schema."""
        from weft.tools.memory_search import memory_search  # the one upward import, listed in the layer test

        return memory_search(self, query, **arguments)

    def get(self, name: str) -> tuple[DocumentInfo, list[Chunk]]:
        """Return a document by id or source with its chunks, or the one chunk with this id."""
        return get_document(name, store=self.store)

    def documents(self, where: Filter | None = None) -> Iterable[DocumentInfo]:
        """Yield the documents of the namespace by source."""
        if where is not None:
            check_filter(where)
        return iter_documents(self.store, where or Filter())

    @property
    def entities(self) -> Entities:
        """What can be asked and said about single entities."""
        return Entities(self.store, at=self._clock())

    @property
    def memory(self) -> Memory:
        """What is remembered: facts with source, status and time."""
        return Memory(
            self.store,
            options=self.settings.memory,
            clock=self._clock,
            cache=self._recalls,
            count=lambda text: self._counter.count(text),
            budget=self.settings.context.budget,
            embedder=self._fact_embedder,
        )

    def warm(self) -> int:
        """Load the model and read what is recalled most; return of how many entities."""
        return warm(self)

    def cite(self, chunk_id: str) -> str:
        """Return where a chunk stands. Raises `NotFound`."""
        document, chunks = self.get(chunk_id)
        return cite(document, chunks[0])

    def stats(self) -> StoreStats:
        """Return what the namespace holds."""
        return self.store.stats()

    def close(self) -> None:
        """Release the database."""
        self.reranking.close()
        self.database.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _counter(self) -> Any:
        return open_counter(self.settings)

    @cached_property
    def _extractor(self) -> Extractor | None:
        return open_extractor(self.settings, record=self.store.spending.write)

    def _fact_reader(self) -> FactReader | None:
        return make_fact_reader(namespace=self.store.namespace, options=self.settings.memory, now=self._clock())

    @property
    def base(self) -> Path:
        """The folder sources are relative to."""
        return source_folder(self.settings)

    def _fact_embedder(self, writes: bool) -> tuple[Embedder | None, str]:
        """Return the embedder for entities of facts, or why there is none: remembering does without it."""
        return find_agreed(self.store, lambda: self.embedder, writes=writes)

    def next_embedder(self) -> Embedder:
        """Return the embedder of the settings, which `reembed` switches to. Raises `ConfigError` where it is none."""
        embedder = self._given_embedder or open_embedder(self.settings, progress=self._on_fetch)
        if embedder is None:
            raise ConfigError("there is no embedder to switch to", hint="weft reembed --embedder local/granite-30m")
        return embedder


def open_engine(
    db: str | Path | None = None,
    *,
    namespace: str | None = None,
    embedder: str | Embedder | None = None,
    reranker: str | Reranker | None = None,
    config: str | Path | None = None,
    **settings: Any,
) -> Engine:
    """
    Open an engine on a file, making it where it is missing, or on a server (`postgresql://…`).

    `embedder` is a name as in the settings, or any object that is an `Embedder`; so is `reranker`. Further settings
    go by `group_field`, e.g. `search_top_k=5`. What is not given comes from environment, files and defaults.
    """
    overrides: dict[str, Any] = {"store.db": str(db) if db is not None else None, "store.namespace": namespace}
    for name, model in (("models.embedder", embedder), ("rerank.model", reranker)):
        overrides[name] = model if isinstance(model, str) else None
    overrides |= {name.replace("_", ".", 1): value for name, value in settings.items()}
    return Engine(
        read_settings(overrides, file=Path(config) if config is not None else None),
        embedder=embedder if not isinstance(embedder, str) else None,
        reranker=reranker if not isinstance(reranker, str) else None,
    )
