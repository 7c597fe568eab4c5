"""The write path: documents in, one transaction each, a receipt out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from weft.config import SplitOptions
from weft.index.plan import Plan, make_batch, make_plan
from weft.models.base import Embedder
from weft.records import Document, Receipt, Skipped, Vector
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
class _Account:
    """Counts for the receipt."""

    start: float = field(default_factory=time.perf_counter)
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "changed", "unchanged"), 0))
    chunks: int = 0
    embedded: int = 0
    skipped: list[Skipped] = field(default_factory=list)

    def receipt(self) -> Receipt:
        return Receipt(
            documents=sum(self.outcomes.values()),
            added=self.outcomes["added"],
            changed=self.outcomes["changed"],
            unchanged=self.outcomes["unchanged"],
            chunks=self.chunks,
            embedded=self.embedded,
            seconds=time.perf_counter() - self.start,
            skipped=tuple(self.skipped),
        )


def index_documents(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    embedder: Embedder | None,
    options: SplitOptions,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Receipt:
    """
    Write every document that is new or changed, each in a transaction of its own.

    Interrupted at any moment, what was reported as written stays, and the next run goes on from there.
    """
    account = _Account()
    for group in _groups(_plans(items, store=store, options=options, account=account, on_step=on_step)):
        texts = {id: text for plan in group for id, text in plan.texts.items()} if embedder else {}
        vectors: dict[str, Vector] = {}
        if embedder and texts:
            vectors = dict(zip(texts, embedder.embed(list(texts.values())), strict=True))
            account.embedded += len(texts)
        for plan in group:
            store.write(make_batch(plan, vectors=vectors, model=embedder.card.fingerprint if embedder else ""))
            outcome = "added" if plan.is_new else "changed"
            account.outcomes[outcome] += 1
            account.chunks += len(plan.chunks)
            on_step(Step(source=plan.document.source, chunks=len(plan.chunks), outcome=outcome))
    return account.receipt()


def preview_documents(items: Iterable[Document | Skipped], *, store: Store, options: SplitOptions) -> Receipt:
    """Return what `index_documents` would do, without writing or embedding anything."""
    account = _Account()
    for plan in _plans(items, store=store, options=options, account=account, on_step=lambda step: None):
        account.outcomes["added" if plan.is_new else "changed"] += 1
        account.chunks += len(plan.chunks)
        account.embedded += len(plan.texts)
    return account.receipt()


def _plans(
    items: Iterable[Document | Skipped],
    *,
    store: Store,
    options: SplitOptions,
    account: _Account,
    on_step: Callable[[Step], None],
) -> Iterator[Plan]:
    for item in items:
        if isinstance(item, Skipped):
            account.skipped.append(item)
            on_step(Step(source=item.source, chunks=0, outcome="skipped"))
            continue
        plan = make_plan(item, store=store, options=options)
        if plan is None:
            account.outcomes["unchanged"] += 1
            on_step(Step(source=item.source, chunks=0, outcome="unchanged"))
        else:
            yield plan


def _groups(plans: Iterable[Plan]) -> Iterator[list[Plan]]:
    """Gather plans until they bring enough texts. Two plans for one document never share a group."""
    group: list[Plan] = []
    for plan in plans:
        if any(plan.document.id == other.document.id for other in group):
            yield group
            group = []
        group.append(plan)
        if sum(len(other.texts) for other in group) >= GROUP or len(group) >= GROUP:
            yield group
            group = []
    if group:
        yield group
