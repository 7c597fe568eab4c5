"""
Embedding and writing of planned documents, overlapped with planning the next ones.

    caller:        plan 1 │ plan 2  │ plan 3  │ write 1 and 2 │ plan 4  │ write 3 │ …
    embed thread:         │ embed 1 ┴ embed 2 ┴ embed 3 ┴ …

A number stands for one group of documents: one call of the embedder unless a document is large. One transaction writes
all groups that were embedded since the last one: a name that they share is resolved once. The first load of a namespace
has larger transactions.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from weft.errors import ModelError
from weft.index.plan import Draft, Plan, make_batch
from weft.index.progress import ReceiptBuilder
from weft.index.reembed import find_new_fact_entities
from weft.models.base import BulkEmbedder, Embedder, Interruptible
from weft.records import Batch, Filter, Vector
from weft.store.base import Store

TEXTS_PER_GROUP = 64
"""
Maximum number of texts, and of documents, in one call of the embedder.

A group is large enough to use all cores, and small enough that progress is reported often.
"""

MAX_PENDING_TEXTS = 16 * TEXTS_PER_GROUP
"""
Maximum number of texts that are submitted but not embedded, and of one transaction into a namespace with documents.

The embedder works while a slow transaction is written.
"""

COMMIT_SECONDS = 1.0
"""Least number of seconds between two transactions, if embedding is faster."""

COMMIT_SHARE = 0.1
"""Share of a run between two transactions, at most. An interruption loses no more than the work of this time."""

MAX_FIRST_LOAD_TEXTS = 2 * MAX_PENDING_TEXTS
"""
Maximum number of texts of one transaction if the namespace was empty at the start of the run.

A name that becomes an entity is searched in all chunks of earlier transactions, but is known when the chunks of its own
transaction are read. So a first load has few large transactions. Other writers of the file wait for a transaction,
about five seconds for this many texts; they are likely in a namespace that has been used before.
"""

FIRST_LOAD_SECONDS = 5.0
"""`COMMIT_SECONDS` of a first load. The first group is written at once."""

FIRST_LOAD_SHARE = 0.5
"""`COMMIT_SHARE` of a first load, whose transactions are bounded by `MAX_FIRST_LOAD_TEXTS` as well."""

MAX_TEXTS_PER_CALL = 4 * TEXTS_PER_GROUP
"""Maximum number of texts in one call of the embedder, so that the progress within a large document is known."""

NO_TEXTS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingGroup:
    """A group of documents that is being embedded."""

    plans: Sequence[Plan]
    sources: frozenset[str]
    fact_entities: Mapping[str, str]
    """Texts to embed, by key, for entities in facts of these documents that are not stored yet."""
    batches: Future[list[Batch]]
    size: int
    """Number of texts; a document without texts counts as one."""


class BatchWriter:
    """
    Embeds groups of documents in a thread and writes them in the order of submission.

    The number of pending texts is bounded, so memory does not grow with the corpus.
    """

    def __init__(self, store: Store, embedder: Embedder | None, *, counts: ReceiptBuilder) -> None:
        self._store = store
        self._embedder = embedder
        self._counts = counts
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="weft-embed")
        self._pending: deque[_PendingGroup] = deque()
        self._pending_texts = 0
        self._pending_sources: set[str] = set()
        self._is_first_load = not store.find_documents(Filter(), limit=1)
        self._start = time.monotonic()
        self._written = -math.inf
        """Time of the last transaction. The first group is written as soon as it is embedded and the second planned."""

    def __enter__(self) -> BatchWriter:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        embedder: object = self._embedder
        if isinstance(error, (KeyboardInterrupt, ModelError)) and isinstance(embedder, Interruptible):
            embedder.interrupt()  # vectors of the current group are not needed any more
        self._pool.shutdown(cancel_futures=True)
        if error is None or isinstance(error, (KeyboardInterrupt, ModelError)):
            self._store.finish_load()  # a second Ctrl-C ends it, and the next run does it again

    def submit(self, plans: Sequence[Plan]) -> None:
        """Start to embed a group; write earlier groups if that is due or too many texts are pending."""
        fact_entities = self._find_fact_entities(plans)
        self._counts.add_planned(len(plans), sum(count_texts(plan) for plan in plans) + len(fact_entities))
        batches = self._pool.submit(
            make_batches,
            plans,
            embedder=self._embedder,
            fact_entities=fact_entities,
            on_texts=self._counts.add_texts,
        )
        sources = frozenset(plan.document.source for plan in plans)
        size = sum(max(1, len(plan.texts)) for plan in plans)
        self._pending.append(
            _PendingGroup(plans=plans, sources=sources, fact_entities=fact_entities, batches=batches, size=size)
        )
        self._pending_texts += size
        self._pending_sources |= sources
        while len(self._pending) > 1 and self._is_write_due():
            self._write_embedded()

    def flush(self, source: str | None = None) -> None:
        """Write all pending groups; with a `source`, stop when no pending document has this source."""
        while self._pending and (source is None or source in self._pending_sources):
            self._write_embedded()

    def _is_write_due(self) -> bool:
        if self._written == -math.inf:
            return True  # the embedder has the next group; planning more would only delay the first document
        if self._pending_texts > MAX_PENDING_TEXTS and (
            not self._is_first_load
            or self._pending_texts > MAX_FIRST_LOAD_TEXTS
            or sum(group.size for group in self._pending if not group.batches.done()) > MAX_PENDING_TEXTS
        ):
            return True
        seconds = FIRST_LOAD_SECONDS if self._is_first_load else COMMIT_SECONDS
        share = FIRST_LOAD_SHARE if self._is_first_load else COMMIT_SHARE
        now = time.monotonic()
        interval = max(seconds, share * (now - self._start))
        return self._pending[0].batches.done() and now - self._written >= interval

    def _find_fact_entities(self, plans: Sequence[Plan]) -> dict[str, str]:
        """Return the texts of entities in facts of these plans that are not stored yet, by key."""
        if self._embedder is None:
            return {}
        found = find_new_fact_entities(self._store, [fact for plan in plans for fact in plan.facts])
        return {
            key: text for key, text in found.items() if not any(key in group.fact_entities for group in self._pending)
        }

    def _write_embedded(self) -> None:
        """Wait for the first group; write it and all groups after it that are embedded, in one transaction."""
        groups = [self._pending.popleft()]
        batches = list(groups[0].batches.result())
        while self._pending and self._pending[0].batches.done() and self._pending[0].batches.exception() is None:
            groups.append(self._pending.popleft())
            batches += groups[-1].batches.result()
        self._store.write(*batches, defer_indexes=self._is_first_load)
        self._written = time.monotonic()
        for group in groups:
            self._count_written(group)

    def _count_written(self, group: _PendingGroup) -> None:
        self._pending_texts -= group.size
        self._pending_sources -= group.sources
        self._counts.pending_documents -= len(group.plans)
        if self._embedder:
            self._counts.embedded += sum(count_texts(plan) for plan in group.plans) + len(group.fact_entities)
        for plan in group.plans:
            self._counts.add_document(
                plan.document.source, plan.outcome, chunks=len(plan.chunks), facts=len(plan.facts)
            )


def make_batches(
    plans: Sequence[Plan],
    *,
    embedder: Embedder | None,
    fact_entities: Mapping[str, str] = NO_TEXTS,
    on_texts: Callable[[int], None] = lambda count: None,
) -> list[Batch]:
    """
    Embed the texts of a group; return one batch per plan.

    `fact_entities` are texts of fact entities, by key. `on_texts` is called with the number of texts of each call of
    the embedder: a large document takes several calls.
    """
    texts, entities = collect_texts(plans)
    vectors: dict[str, Vector] = {}
    entity_vectors: dict[tuple[str, str], Vector] = {}
    fact_vectors: dict[str, Vector] = {}
    if embedder and (texts or entities or fact_entities):
        rows = _embed([*texts.values(), *entities.values(), *fact_entities.values()], embedder, on_texts=on_texts)
        entities_start, facts_start = len(texts), len(texts) + len(entities)
        vectors = dict(zip(texts, rows[:entities_start], strict=True))
        entity_vectors = dict(zip(entities, rows[entities_start:facts_start], strict=True))
        fact_vectors = dict(zip(fact_entities, rows[facts_start:], strict=True))
    elif texts or entities:
        on_texts(len(texts) + len(entities))
    model = embedder.card.fingerprint if embedder else ""
    return [
        make_batch(
            plan,
            model=model,
            vectors=vectors,
            entity_vectors={at: entity_vectors[at] for at in plan.entity_texts if at in entity_vectors},
            fact_vectors=fact_vectors,
        )
        for plan in plans
    ]


def _embed(texts: Sequence[str], embedder: Embedder, *, on_texts: Callable[[int], None]) -> list[Vector]:
    """Return the vectors of texts; each call of the embedder gets at most four groups of them."""
    rows: list[Vector] = []
    size = 4 * _preferred_size(embedder) or MAX_TEXTS_PER_CALL
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        rows.extend(embedder.embed(part))
        on_texts(len(part))
    return rows


def collect_texts(plans: Sequence[Plan]) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Return the texts to embed: of chunks by id, of entities by chunk id and key."""
    texts = {id: text for plan in plans for id, text in plan.texts.items()}
    entities = {at: text for plan in plans for at, text in plan.entity_texts.items()}
    return texts, entities


def count_texts(plan: Plan) -> int:
    """Return the number of texts to embed for a plan."""
    return len(plan.texts) + len(plan.entity_texts)


def group_size(embedder: Embedder | None) -> int:
    """Return the number of chunks of one group: `TEXTS_PER_GROUP`, or what the embedder prefers."""
    return _preferred_size(embedder) or TEXTS_PER_GROUP


def _preferred_size(embedder: Embedder | None) -> int:
    model: object = embedder
    return model.texts_per_call if isinstance(model, BulkEmbedder) else 0


def is_full(group: Sequence[Plan | Draft], *, size: int) -> bool:
    """Return True if a group has `size` chunks or documents, enough for one transaction."""
    return sum(len(plan.texts) for plan in group) >= size or len(group) >= size
