"""Engine: indexes documents, searches, and stores facts in one namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timezone
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

from weft.config import ContextFormat, Method, SearchOptions, Settings, is_server
from weft.config.read import changed, source_folder
from weft.context.serialise import metadata_to_dict
from weft.engine.adapters import Progress, has_local_weights, open_counter, open_embedder, open_extractor
from weft.engine.context_builder import build_context
from weft.engine.embedder import (
    EmbedderSlot,
    find_active,
    find_name,
    find_usable,
    make_stand_in,
    require_embedder,
)
from weft.engine.embedder_choice import Choice, add_advice, choose_embedder
from weft.engine.entities import Entities
from weft.engine.indexing.runs import preview_documents, preview_switch, switch
from weft.engine.indexing.write_path import Indexing
from weft.engine.input_checks import check_filter, check_question
from weft.engine.memory import Memory
from weft.engine.opening.databases import open_database
from weft.engine.opening.federation import Federation, check_namespaces
from weft.engine.paths import (
    collect_sources,
    find_missing,
    get_defined,
    get_document,
    get_named,
    read_paths,
    watch,
)
from weft.engine.result_models import ResultModels
from weft.engine.uploads import RESEARCH_SOURCE, read_findings, text_document
from weft.engine.warmer import warm
from weft.errors import InputError, WeftError
from weft.index.progress import EmbeddingProgress, Step
from weft.index.prune import iter_documents, mark_lost
from weft.masking.masked_documents import mask_documents
from weft.models.base import Embedder, Reranker
from weft.records import (
    Answer,
    Chunk,
    Context,
    Document,
    DocumentInfo,
    Evidence,
    Filter,
    Metadata,
    Recall,
    Receipt,
    RelatedDocument,
    Result,
    Skipped,
    StoreStats,
)
from weft.search.answer.answer import SILENT, AnswerListener, answer
from weft.search.cite import cite, find_hidden_prefix
from weft.search.facts.blend import blend
from weft.search.facts.recall_cache import RecallCache
from weft.search.graph.relations import relations_in
from weft.search.related import find_related
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.store.base import READ_ONLY, READ_ONLY_HINT, Database, Store, StoreReader
from weft.system.lazy_resource import LazyResource

T = TypeVar("T")

MAX_JOINED_ENGINES = 16
"""Combinations of namespaces whose engines are kept."""


class Engine:
    """Index and search of one namespace of one database. Use it as a context manager."""

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database | None = None,
        embedder: Embedder | EmbedderSlot | None = None,
        reranker: Reranker | None = None,
        result_models: ResultModels | None = None,
        on_fetch: Progress | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        lists_namespaces: bool = False,
        federation: Federation | None = None,
    ) -> None:
        """
        Open the store of the settings. With `federation`, several namespaces are searched, and nothing is written.

        With `lists_namespaces`, results in an unknown namespace name the existing ones. Servers leave it off, because
        a client must not learn the namespaces of others.
        """
        self.settings = settings
        self._lists_namespaces = lists_namespaces
        self.database = database or open_database(settings)
        self._federation = federation
        self._joined: dict[tuple[str, ...], Engine] = {}
        self._on_fetch = on_fetch
        self._clock = clock
        self._custom_embedder = None if isinstance(embedder, EmbedderSlot) else embedder
        follows = embedder is None and "models.embedder" not in settings.origins
        slot = embedder if isinstance(embedder, EmbedderSlot) else None
        self.embedder_slot = slot or EmbedderSlot(self._open_embedder, follows=follows)
        self.result_models = result_models or ResultModels(settings, reranker=reranker)
        self._recalls = RecallCache(seconds=settings.memory.cache_seconds)
        self._token_counter = LazyResource(lambda: open_counter(settings))
        self._extractor = LazyResource(lambda: open_extractor(settings, record=self.store.spending.write))

    @property
    def store(self) -> Store:
        """The namespace of the settings. Raises `InputError` if the engine searches several namespaces."""
        if self._federation is not None:
            raise InputError(READ_ONLY, hint=READ_ONLY_HINT)
        return self.database.store(self.settings.store.namespace)

    @property
    def reader(self) -> StoreReader:
        """The namespace of the settings, or all namespaces that the engine searches."""
        return self.store if self._federation is None else self._federation.store()

    def across(self, *namespaces: str) -> Engine:
        """
        Return an engine that searches several namespaces of the same store as one. It writes nothing.

        Both share the database; closing one closes both. Raises `InputError` or `ConfigError` for an invalid name.
        """
        if (names := check_namespaces(namespaces)) == (self.settings.store.namespace,) and self._federation is None:
            return self
        if (known := self._joined.get(names)) is None:
            known = self.share(replace(self._scope, namespaces=names))
            if len(self._joined) < MAX_JOINED_ENGINES:
                self._joined[names] = known
        return known

    def share(self, federation: Federation | None, *, embedder: Embedder | None = None) -> Engine:
        """
        Return an engine with the same models and caches, which searches the namespaces of `federation` as one.

        It writes nothing; closing it closes all databases. `embedder` replaces that of the namespaces.
        """
        active = (None, find_active(self.reader))
        has_same = federation is None or find_active(federation.store()) in active
        other = Engine(
            self.settings,
            database=self.database,
            embedder=embedder or (self.embedder_slot if has_same else self._custom_embedder),
            result_models=self.result_models,
            on_fetch=self._on_fetch,
            clock=self._clock,
            lists_namespaces=self._lists_namespaces,
            federation=federation,
        )
        other._recalls, other._token_counter, other._extractor = self._recalls, self._token_counter, self._extractor
        return other

    @property
    def embedder(self) -> Embedder | None:
        """
        The embedder of this namespace, opened on first use; its weights are loaded by the first call.

        If the settings name none, the embedder that indexed the namespace is used.
        """
        return self.embedder_slot.get()

    # ── write ───────────────────────────────────────────────────────────────────────────────────

    def index(
        self,
        *paths: str | Path,
        prune: bool = False,
        workers: int = 1,
        on_step: Callable[[Step], None] = lambda step: None,
        on_texts: Callable[[EmbeddingProgress], None] = lambda progress: None,
    ) -> Receipt:
        """
        Index files and folders; unchanged documents are skipped.

        With `prune`, documents below these paths whose files no longer exist are deleted afterwards; excluded files are
        kept. More than one `workers` starts this number of processes; 0 uses workers started elsewhere
        (docs/workers.md).
        """
        roots, seen = read_paths(paths), set[str]()
        is_cold = find_active(self.store) is None and has_local_weights(self.settings)
        with self.embedder_slot.preloading() if is_cold else nullcontext():
            indexing = self.indexing
            notes = indexing.choose(indexing.sample(roots)) if indexing.may_choose else ()
            items = collect_sources(indexing.load(roots), seen)
            receipt = indexing.add(items, workers=workers, on_step=on_step, on_texts=on_texts, notes=notes)
        if prune and not receipt.stopped:
            deleted = find_missing(roots, base=self.base, seen=seen, skipped=receipt.skipped, store=self.store)
            receipt = replace(receipt, pruned=self.store.delete(deleted))
        return add_advice(receipt, store=self.store, embedder=self.embedder, settings=self.settings)

    def index_commits(
        self,
        *repositories: str | Path,
        prune: bool = False,
        on_step: Callable[[Step], None] = lambda step: None,
        on_texts: Callable[[EmbeddingProgress], None] = lambda progress: None,
    ) -> Receipt:
        """
        Index the commits of the current branch of Git repositories; commits that are indexed already are skipped.

        With `prune`, commits that are no longer in the history are deleted afterwards.
        """
        from weft.index.commits import add_commits

        add = partial(self.add, on_step=on_step, on_texts=on_texts)
        receipt = add_commits(read_paths(repositories), add, store=self.store, prune=prune)
        return add_advice(receipt, store=self.store, embedder=self.embedder, settings=self.settings)

    def preview(self, *paths: str | Path, prune: bool = False, sample: int = 0) -> Receipt:
        """
        Return the receipt that `index` would return, with the estimated usage of remote models.

        A language model reads at most `sample` chunks; nothing else is sent.
        """
        roots, seen, indexing = read_paths(paths), set[str](), self.indexing
        components = indexing.components(joining=True)
        items = mask_documents(collect_sources(indexing.load(roots), seen), self.settings.memory)
        choice = choose_embedder(indexing.sample(roots), self.settings) if indexing.may_choose else Choice()
        embedder = components.embedder if find_active(self.store) else choice.embedder or self.embedder
        receipt = preview_documents(items, components, embedder=embedder, sample=sample)
        if prune and not receipt.stopped:
            deleted = find_missing(roots, base=self.base, seen=seen, skipped=receipt.skipped, store=self.store)
            receipt = replace(receipt, pruned=len(deleted))
        return replace(receipt, notes=(choice.note, *receipt.notes)) if choice.note else receipt

    def watch(self, *paths: str | Path, on_receipt: Callable[[Receipt], None]) -> None:
        """Index changed files below the paths until interrupted."""
        watch(
            self.index,
            read_paths(paths),
            options=self.settings.load,
            base=self.base,
            store=self.store,
            on_receipt=on_receipt,
        )

    def add(
        self,
        documents: Iterable[Document | Skipped],
        *,
        workers: int = 1,
        on_step: Callable[[Step], None] = lambda step: None,
        on_texts: Callable[[EmbeddingProgress], None] = lambda progress: None,
    ) -> Receipt:
        """Index documents of the caller, each under its own source."""
        documents, notes = self.indexing.peek(documents)
        return self.indexing.add(documents, workers=workers, on_step=on_step, on_texts=on_texts, notes=notes)

    @property
    def indexing(self) -> Indexing:
        """The write path in steps, for servers and workers."""
        return Indexing(
            store=self.store,
            settings=self.settings,
            slot=self.embedder_slot,
            is_custom=self._custom_embedder is not None,
            extractor=self._extractor.get,
            now=self._clock(),
            on_fetch=self._on_fetch,
        )

    def add_text(self, text: str, *, source: str, title: str = "", metadata: Metadata | None = None) -> Receipt:
        """
        Index one text; it replaces the document of the same source. `metadata` is added to its front matter.

        A source without a scheme becomes `text:source` and can therefore not be the name of a file.
        """
        return self.add([text_document(text, source=source, title=title, metadata=metadata)])

    def add_research_findings(self, findings: Mapping[str, object], *, source: str = RESEARCH_SOURCE) -> Receipt:
        """Index the papers and projects of a findings dictionary, each under `source` and its id (docs/research.md)."""
        return self.add(read_findings(findings, source=source))

    def delete(self, *names: str) -> int:
        """Delete documents by id, or by the source of a file or folder; return how many."""
        return self.store.delete(get_named(names, store=self.store))

    def reembed(self, *, on_step: Callable[[int], None] = lambda count: None) -> Receipt:
        """Switch the namespace to the embedder of the settings, unless a cost limit stops the run."""
        embedder = self.next_embedder()
        receipt = switch(self.store, embedder, on_step=on_step)
        if not receipt.stopped:
            self.embedder_slot.replace(embedder)
        return receipt

    def preview_reembed(self) -> Receipt:
        """Return the receipt that `reembed` would return, with its estimated usage. Nothing is sent or written."""
        return preview_switch(self.store, self.next_embedder())

    # ── read ────────────────────────────────────────────────────────────────────────────────────

    def query(
        self,
        text: str,
        *,
        where: Filter | None = None,
        graph: Mapping[str, Any] | None = None,
        rerank: bool | None = None,
        namespaces: Sequence[str] | None = None,
        **options: Any,
    ) -> Result:
        """
        Search for a question. `options` override fields of `[search]`, and `graph` those of `[graph]`, for this call.

        A field that is missing or None keeps its setting. `rerank` turns the reranker of the settings on or off.
        `namespaces` are searched as one, in place of that of the settings.
        """
        if namespaces is not None:
            asked = self.across(*check_namespaces(namespaces))
            return asked.query(text, where=where, graph=graph, rerank=rerank, **options)
        check_question(text)
        check_filter(where or Filter())
        for database in self._scope.databases.values():
            database.prefetch()  # overlaps with loading the embedder
        store = self.reader
        search: SearchOptions = changed("search", self.settings.search, options)
        graph_options = changed("graph", self.settings.graph, graph or {})
        reranker = self.result_models.find_reranker(rerank, store=self.database.store(self.settings.store.namespace))
        # one transaction, unless it would stay open during a slow call
        with store.reading() if reranker is None and self.embedder_slot.is_quick else nullcontext():
            context = SearchContext(
                store=store,
                embedder=self.embedder_slot.answering(store),
                options=search,
                graph=graph_options,
                where=where or Filter(),
                at=self._clock(),
                reranker=reranker,
                rerank=self.settings.rerank,
            )
            result = find(text, context)
            if len(self._scope.databases) == 1 and not is_server(self.settings.store.db):  # else on another machine
                result = mark_lost(result, store=store, base=self.base)
        names = self._federation.namespaces if self._federation else ()
        note = self.namespace_note() if self._lists_namespaces and (names or not result.evidence) else ""
        notes = (*(result.notes if result.evidence else ()), note) if note else result.notes
        return replace(result, namespaces=names, notes=notes)

    def ask(self, text: str, *, write: bool | None = None, to: AnswerListener = SILENT, **options: Any) -> Answer:
        """Return the result of `query` with a quote, and with `write` a written answer; `to` gets the parts."""
        writer = self.result_models.find_writer(write, store=self.database.store(self.settings.store.namespace))
        result = self.query(text, **options)
        # a remote embedder would cost a second request
        embedder = self.embedder_slot.answering(self.reader) if self.embedder_slot.is_quick else None
        return answer(result, embedder=embedder, writer=writer, to=to)

    def retrieve(self, query: str, method: Method = "agentic", **options: Any) -> tuple[list[Evidence], dict[str, Any]]:
        """Return the evidence for a question, best first, and the metadata of the result (docs/result.schema.json)."""
        result = self.query(query, method=method, **options)
        return list(result.evidence), metadata_to_dict(result)

    def without_embedder(self, error: WeftError) -> Engine:
        """
        Return an engine on the same namespace that searches by keywords and graph; embedding fails with `error`.

        Both share the database and the caches; closing one closes both.
        """
        stand_in = make_stand_in(find_active(self.reader), name=self.settings.models.embedder, error=error)
        return self.share(self._federation, embedder=stand_in)

    def context(
        self,
        result: Result,
        *,
        format: ContextFormat | None = None,
        budget: int | None = None,
        recall: Recall | None = None,
    ) -> Context:
        """
        Return a result as text for a model within a token budget, by default that of the settings.

        With `recall`, the recalled facts come before the evidence, within the same budget.
        """
        options, count = changed("context", self.settings.context, {"format": format}), self._token_counter.get().count
        asked = self.across(*result.namespaces) if result.namespaces and self._federation is None else self
        relations, facts = relations_in(asked.reader, at=self._clock()), recall.facts if recall else ()
        return build_context(result, relations=relations, count=count, options=options, budget=budget, facts=facts)

    def query_with_facts(
        self, text: str, *, as_of: datetime | None = None, namespaces: Sequence[str] | None = None, **options: Any
    ) -> tuple[Result, Recall]:
        """Return the result of `query` and the facts valid `as_of` a time; the status of the result covers both."""
        if namespaces is not None:
            return self.across(*check_namespaces(namespaces)).query_with_facts(text, as_of=as_of, **options)
        recall = self.memory.recall(text, as_of=as_of)
        return blend(self.query(text, **options), recall), recall

    def memory_search(self, /, query: str = "", **arguments: Any) -> dict[str, Any]:
        """Answer a `memory_search` tool call of a model; `weft.tools.memory_search.MEMORY_SEARCH` is its schema."""
        from weft.tools.memory_search import memory_search  # the one upward import, listed in the layer test

        return memory_search(self, query, **arguments)

    def get(self, name: str) -> tuple[DocumentInfo, list[Chunk]]:
        """Return a document by id or source with its chunks, or those of a chunk id or citation. Raises `NotFound`."""
        return get_document(name, store=self.reader)

    def related(self, name: str, *, limit: int = 10) -> list[RelatedDocument]:
        """
        Return the documents related to a document (id, source), a chunk (id, citation) or an entity (name), best first.

        Raises `NotFound`.
        """
        document, chunks = get_defined(name, store=self.reader)
        embedder, _ = self._fact_embedder(None)
        return find_related(document, chunks, store=self.reader, embedder=embedder, limit=limit)

    def documents(self, where: Filter | None = None) -> Iterable[DocumentInfo]:
        """Yield the documents of the namespace in the order of their sources."""
        check_filter(where or Filter())
        return iter_documents(self.reader, where or Filter())

    @property
    def entities(self) -> Entities:
        """The entities of the namespace: lookup and edits."""
        return Entities(cast("Store", self.reader), at=self._clock())

    @property
    def memory(self) -> Memory:
        """The facts of the namespace, with source, status and time."""
        return Memory(
            cast("Store", self.reader),
            options=self.settings.memory,
            clock=self._clock,
            cache=self._recalls,
            count=lambda text: self._token_counter.get().count(text),
            budget=self.settings.context.budget,
            embedder=self._fact_embedder,
        )

    def warm(self) -> int:
        """Load the embedder and prefetch the most recalled facts; return the number of entities."""
        return warm(self.embedder_slot, self.memory)

    def cite(self, chunk_id: str) -> str:
        """Return the citation of a chunk. Raises `NotFound`."""
        document, chunks = self.get(chunk_id)
        return cite(document, chunks[0], hidden=find_hidden_prefix(self.reader, [document.source]))

    def stats(self) -> StoreStats:
        """Return the counts of the namespace."""
        return self.reader.stats()

    def namespace_note(self) -> str:
        """Return a note that the namespace does not exist, with those that do; empty if it exists."""
        return self._scope.describe_unknown()

    def close(self) -> None:
        """Close the database."""
        self.result_models.close()
        for database in self._scope.databases.values():
            database.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def base(self) -> Path:
        """The folder that sources are relative to."""
        return source_folder(self.settings)

    def next_embedder(self) -> Embedder:
        """Return the embedder that `reembed` switches to. Raises `ConfigError` if the settings name none."""
        return require_embedder(self._custom_embedder or open_embedder(self.settings, progress=self._on_fetch))

    # ── private ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _scope(self) -> Federation:
        """The namespaces that the engine reads, in their databases."""
        name = self.settings.store.namespace
        return self._federation or Federation(databases={"": self.database}, namespaces=(name,))

    def _open_embedder(self) -> Embedder | None:
        if self._custom_embedder is not None:
            return self._custom_embedder
        return open_embedder(self.settings, name=find_name(self.reader, self.settings), progress=self._on_fetch)

    def _fact_embedder(self, written: Sequence[str] | None) -> tuple[Embedder | None, str]:
        """Return the embedder for facts, or None and the reason. The first facts of a namespace choose it."""
        store = cast("Store", self.reader)
        if written and self.embedder_slot.follows and find_active(store) is None:
            self.indexing.choose(written)
        return find_usable(store, self.embedder_slot.get, writes=written is not None)
