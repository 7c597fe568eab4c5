"""The write path: documents in, a transaction for each group of them, a receipt out."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from weft.config import SplitOptions
from weft.errors import BoundReached, ModelError
from weft.index.embedding_cost import EmbedPreview
from weft.index.note_facts import FactReader
from weft.index.plan import Draft, Plan, complete, make_batch, make_draft, read
from weft.index.reembed import find_new, preview_facts
from weft.models.base import BatchExtractor, Embedder, Extractor, Interruptible, Metered
from weft.records import Batch, Document, Receipt, Skipped, Usage, Vector
from weft.store.base import Store

GROUP = 64
"""Texts handed to the embedder at once: enough to keep every core busy, few enough to lose little."""

NOTHING: Mapping[str, str] = {}

AHEAD = 3 * GROUP
"""Texts that are embedded, or wait for it, while others are written: where that takes long, the model goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One document or skipped file was dealt with. Sent while indexing, for progress."""

    source: str
    chunks: int
    outcome: str
    """`added`, `changed`, `unchanged` or `skipped`."""


@dataclass
class Account:
    """Counts for the receipt."""

    start: float = field(default_factory=time.perf_counter)
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "changed", "unchanged"), 0))
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    facts: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    embedding: Usage = field(default_factory=Usage)

    def receipt(self, usage: Usage | None = None) -> Receipt:
        usage = usage or Usage()
        stopped = usage.stopped or self.embedding.stopped
        return Receipt(
            documents=sum(self.outcomes.values()),
            added=self.outcomes["added"],
            changed=self.outcomes["changed"],
            unchanged=self.outcomes["unchanged"],
            chunks=self.chunks,
            embedded=self.embedded,
            cached=self.cached,
            facts=self.facts,
            seconds=time.perf_counter() - self.start,
            skipped=tuple(self.skipped),
            usage=usage,
            embedding=self.embedding,
            notes=(stop_note(stopped),) if stopped else (),
        )


def stop_note(bound: str) -> str:
    """Return what is said of a run that a bound ended."""
    return f"stopped at {bound}; run it again to go on"


def index_documents(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    embedder: Embedder | None,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Write every document that is new or changed, a group of them in each transaction.

    Interrupted at any moment, every document is there wholly or not at all, what was reported as written stays,
    and the next run goes on from there. So it does where a bound of the extractor or the embedder ended the run: the
    receipt says so.
    """
    account = Account()
    take_usage(extractor)  # what a run that failed has used is none of this one's
    with (
        _noting_bound(account),
        _Writer(store, embedder, account=account, on_step=on_step) as writer,
    ):
        for group in _groups(
            items,
            store=store,
            options=options,
            extractor=extractor,
            fact_reader=fact_reader,
            account=account,
            on_step=on_step,
            settle=writer.settle,
        ):
            if not group:  # a bound of the extractor is reached
                break
            writer.take(group)
        writer.settle()
    return account.receipt(take_usage(extractor))


@contextmanager
def _noting_bound(account: Account) -> Iterator[None]:
    """Let a bound of the embedder end what is done, and the account say so."""
    try:
        yield
    except BoundReached as error:
        account.embedding += Usage(stopped=error.bound)


class _Writer:
    """
    Embeds groups in a thread of its own while those before are written and the next ones are read.

    Groups are written in their order. What is under way is bounded, so it does not grow with the corpus.
    """

    def __init__(
        self, store: Store, embedder: Embedder | None, *, account: Account, on_step: Callable[[Step], None]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._account = account
        self._on_step = on_step
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="weft-embed")
        self._waiting: deque[tuple[Sequence[Plan], dict[str, str], Future[list[Batch]]]] = deque()
        """Plans, the entities of facts that come with them, and what is made of both."""

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        at_work: object = self._embedder
        if isinstance(failure, (KeyboardInterrupt, ModelError)) and isinstance(at_work, Interruptible):
            at_work.interrupt()  # nobody waits for the rest of its group
        self._pool.shutdown(cancel_futures=True)

    def take(self, group: Sequence[Plan]) -> None:
        """Begin to embed a group, and write the first ones where enough is under way, or the model was idle."""
        was_idle = all(batches.done() for *_, batches in self._waiting)
        things = self._find_things(group)
        batches = self._pool.submit(make_batches, group, embedder=self._embedder, things=things)
        self._waiting.append((group, things, batches))
        while len(self._waiting) > 1 and (was_idle or self._count() > AHEAD):
            self._write_first()

    def settle(self, source: str | None = None) -> None:
        """Write what was taken; where a source is given, only as far as it is among it."""
        while self._waiting and (source is None or self._has(source)):
            self._write_first()

    def _has(self, source: str) -> bool:
        return any(plan.document.source == source for group, *_ in self._waiting for plan in group)

    def _count(self) -> int:
        """Return how many texts are under way; a document without any counts as one."""
        return sum(max(1, len(plan.texts)) for group, *_ in self._waiting for plan in group)

    def _find_things(self, group: Sequence[Plan]) -> dict[str, str]:
        """Return the entities that facts of a group are the first to name, with what is embedded of them."""
        if self._embedder is None:
            return {}
        found = find_new(self._store, [fact for plan in group for fact in plan.facts])
        return {key: text for key, text in found.items() if not any(key in things for _, things, _ in self._waiting)}

    def _write_first(self) -> None:
        group, things, batches = self._waiting.popleft()
        self._store.write(*batches.result())
        account = self._account
        account.embedded += sum(count_texts(plan) for plan in group) + len(things) if self._embedder else 0
        for plan in group:
            outcome = "added" if plan.is_new else "changed"
            account.outcomes[outcome] += 1
            account.chunks += len(plan.chunks)
            account.facts += len(plan.facts)
            self._on_step(Step(source=plan.document.source, chunks=len(plan.chunks), outcome=outcome))


def take_usage(extractor: Extractor | None) -> Usage:
    """Return what an extractor asked of a language model; nothing where it asks none."""
    return extractor.take_usage() if isinstance(extractor, Metered) else Usage()


def make_batches(
    group: Sequence[Plan], *, embedder: Embedder | None, things: Mapping[str, str] = NOTHING
) -> list[Batch]:
    """
    Embed what a few plans need embedded, all of it at once, and return what is to be written.

    `things` are entities of facts by key, with what is embedded of them.
    """
    texts, names = _gather(group)
    vectors: dict[str, Vector] = {}
    name_vectors: dict[tuple[str, str], Vector] = {}
    thing_vectors: dict[str, Vector] = {}
    if embedder and (texts or names or things):
        found = embedder.embed([*texts.values(), *names.values(), *things.values()])
        named, last = len(texts) + len(names), len(texts)
        vectors = dict(zip(texts, found[:last], strict=True))
        name_vectors = dict(zip(names, found[last:named], strict=True))
        thing_vectors = dict(zip(things, found[named:], strict=True))
    model = embedder.card.fingerprint if embedder else ""
    batches = []
    for plan in group:
        mine = {at: name_vectors[at] for at in plan.names if at in name_vectors}
        batches.append(make_batch(plan, vectors=vectors, model=model, names=mine, things=thing_vectors))
    return batches


def _gather(group: Sequence[Plan]) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Return what a few plans need embedded: chunks by id, names by chunk id and key."""
    texts = {id: text for plan in group for id, text in plan.texts.items()}
    names = {at: text for plan in group for at, text in plan.names.items()}
    return texts, names


def count_texts(plan: Plan) -> int:
    """Return how many texts a plan wants embedded."""
    return len(plan.texts) + len(plan.names)


def is_full(group: Sequence[Plan | Draft]) -> bool:
    """Tell whether plans bring enough texts for one transaction."""
    return sum(len(plan.texts) for plan in group) >= GROUP or len(group) >= GROUP


def preview_documents(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    fact_reader: FactReader | None = None,
    sample: int = 0,
    embedding: EmbedPreview,
) -> Receipt:
    """
    Return what `index_documents` would do, without writing or embedding anything; `embedding` counts what it would.

    A language model is asked about a `sample` of so many chunks at most, so that its replies are known.
    """
    account, named = Account(), set[str]()
    if isinstance(extractor, BatchExtractor):
        extractor = extractor.offline(sample=sample)
    for group in _groups(
        items,
        store=store,
        options=options,
        extractor=extractor,
        fact_reader=fact_reader,
        account=account,
        on_step=lambda step: None,
    ):
        for plan in group:
            account.outcomes["added" if plan.is_new else "changed"] += 1
            account.chunks += len(plan.chunks)
            account.facts += len(plan.facts)
        texts, names = _gather(group)
        things = find_new(store, [fact for plan in group for fact in plan.facts])
        embedding.add([*texts.values(), *names.values(), *(things[key] for key in things if key not in named)])
        named |= things.keys()
    if fact_reader:
        preview_facts(store, embedding=embedding)
    account.embedded, account.cached, account.embedding = embedding.embedded, embedding.cached, embedding.usage
    return account.receipt(take_usage(extractor))


def _groups(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None,
    fact_reader: FactReader | None,
    account: Account,
    on_step: Callable[[Step], None],
    settle: Callable[[str], None] = lambda source: None,
) -> Iterator[list[Plan]]:
    """
    Gather plans until they bring enough texts. Two plans for one document never share a group.

    Before a document is looked up, `settle` is told its source, so that what is under way of it is written.
    """
    group: list[Draft] = []
    for document in note_skipped(items, account=account, on_step=on_step):
        if any(document.source == draft.info.source for draft in group):
            # before the next draft is made, so that it starts from what is stored by then
            yield (plans := _read(group, extractor, fact_reader))
            if len(plans) < len(group):
                return
            group = []
        settle(document.source)
        draft = make_draft(document, store=store, options=options, extractor=extractor, fact_reader=fact_reader)
        if draft is None:
            account.outcomes["unchanged"] += 1
            on_step(Step(source=document.source, chunks=0, outcome="unchanged"))
            continue
        group.append(draft)
        if is_full(group):
            yield (plans := _read(group, extractor, fact_reader))
            if len(plans) < len(group):
                return
            group = []
    if group:
        yield _read(group, extractor, fact_reader)


def _read(group: Sequence[Draft], extractor: Extractor | None, fact_reader: FactReader | None) -> list[Plan]:
    """Return the plans of the documents that could be read; fewer where a bound of the extractor is reached."""
    if not isinstance(extractor, BatchExtractor):
        return [complete(draft, read(draft, extractor), fact_reader=fact_reader) for draft in group]
    readings = extractor.extract_all([(draft.given, draft.chunks) for draft in group])
    return [
        complete(draft, reading, fact_reader=fact_reader, read_by=extractor.name)
        for draft, reading in zip(group, readings, strict=True)
        if reading is not None
    ]


def note_skipped(
    items: Iterable[Document | Skipped], *, account: Account, on_step: Callable[[Step], None]
) -> Iterator[Document]:
    """Yield the documents; what was not loaded goes into the account."""
    for item in items:
        if isinstance(item, Document):
            yield item
        else:
            account.skipped.append(item)
            on_step(Step(source=item.source, chunks=0, outcome="skipped"))
