"""The write path: documents in, a transaction for each group of them, a receipt out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weft.config import SplitOptions
from weft.index.plan import Plan, make_batch, make_plan
from weft.index.state import State
from weft.models.base import Embedder, Extractor
from weft.records import Batch, Document, Receipt, Skipped, Vector
from weft.store.base import Store

GROUP = 64
"""Texts handed to the embedder at once: enough to keep every core busy, few enough to lose little."""


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

    def receipt(self) -> Receipt:
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
        )


def index_documents(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    embedder: Embedder | None,
    options: SplitOptions,
    extractor: Extractor | None = None,
    state: State | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Write every document that is new or changed, a group of them in each transaction.

    Interrupted at any moment, every document is there wholly or not at all, what was reported as written stays,
    and the next run goes on from there.
    """
    account = Account()
    for group in _groups(
        items, store=store, options=options, extractor=extractor, state=state, account=account, on_step=on_step
    ):
        batches = make_batches(group, embedder=embedder)
        account.embedded += sum(count_texts(plan) for plan in group) if embedder else 0
        store.write(*batches)
        for plan in group:
            outcome = "added" if plan.is_new else "changed"
            account.outcomes[outcome] += 1
            account.chunks += len(plan.chunks)
            account.facts += len(plan.facts)
            on_step(Step(source=plan.document.source, chunks=len(plan.chunks), outcome=outcome))
    return account.receipt()


def make_batches(group: Sequence[Plan], *, embedder: Embedder | None) -> list[Batch]:
    """Embed what a few plans need embedded, all of it at once, and return what is to be written."""
    texts = {id: text for plan in group for id, text in plan.texts.items()} if embedder else {}
    names = {at: text for plan in group for at, text in plan.names.items()} if embedder else {}
    vectors: dict[str, Vector] = {}
    name_vectors: dict[tuple[str, str], Vector] = {}
    if embedder and (texts or names):
        found = embedder.embed([*texts.values(), *names.values()])
        vectors = dict(zip(texts, found[: len(texts)], strict=True))
        name_vectors = dict(zip(names, found[len(texts) :], strict=True))
    model = embedder.card.fingerprint if embedder else ""
    batches = []
    for plan in group:
        mine = {at: name_vectors[at] for at in plan.names if at in name_vectors}
        batches.append(make_batch(plan, vectors=vectors, model=model, names=mine))
    return batches


def count_texts(plan: Plan) -> int:
    """Return how many texts a plan wants embedded."""
    return len(plan.texts) + len(plan.names)


def is_full(group: Sequence[Plan]) -> bool:
    """Tell whether plans bring enough texts for one transaction."""
    return sum(len(plan.texts) for plan in group) >= GROUP or len(group) >= GROUP


def preview_documents(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None = None,
    state: State | None = None,
) -> Receipt:
    """Return what `index_documents` would do, without writing or embedding anything."""
    account = Account()
    for group in _groups(
        items,
        store=store,
        options=options,
        extractor=extractor,
        state=state,
        account=account,
        on_step=lambda step: None,
    ):
        for plan in group:
            account.outcomes["added" if plan.is_new else "changed"] += 1
            account.chunks += len(plan.chunks)
            account.facts += len(plan.facts)
            account.embedded += count_texts(plan)
    return account.receipt()


def _groups(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    options: SplitOptions,
    extractor: Extractor | None,
    state: State | None,
    account: Account,
    on_step: Callable[[Step], None],
) -> Iterator[list[Plan]]:
    """Gather plans until they bring enough texts. Two plans for one document never share a group."""
    group: list[Plan] = []
    for document in note_skipped(items, account=account, on_step=on_step):
        if any(document.source == plan.document.source for plan in group):
            yield group  # before the next plan is made, so that it starts from what is stored by then
            group = []
        plan = make_plan(document, store=store, options=options, extractor=extractor, state=state)
        if plan is None:
            account.outcomes["unchanged"] += 1
            on_step(Step(source=document.source, chunks=0, outcome="unchanged"))
            continue
        group.append(plan)
        if is_full(group):
            yield group
            group = []
    if group:
        yield group


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
