"""Progress steps and the receipt of an index run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from weft.records import Receipt, Skipped, Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Progress report: one document was indexed, or one file was skipped."""

    source: str
    chunks: int
    outcome: str
    """`added`, `changed`, `unchanged` or `skipped`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProgress:
    """Progress report within documents: texts of the documents planned so far."""

    texts: int
    """Embedded texts."""
    planned_texts: int
    planned_documents: int
    """Documents whose texts are known, including unchanged and skipped ones."""


@dataclass(kw_only=True)
class ReceiptBuilder:
    """Counters of an index run. Reports each document and skipped file to `on_step`."""

    on_step: Callable[[Step], None] = lambda step: None
    on_texts: Callable[[EmbeddingProgress], None] = lambda progress: None
    """Called when documents are planned, and from the thread that embeds after every call of the embedder."""
    start: float = field(default_factory=time.perf_counter)
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "changed", "unchanged"), 0))
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    facts: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    embedding: Usage = field(default_factory=Usage)
    texts: int = 0
    planned_texts: int = 0
    pending_documents: int = 0

    def iter_documents(self, items: Iterable[T | Skipped]) -> Iterator[T]:
        """Yield the documents; record the skipped files."""
        for item in items:
            if isinstance(item, Skipped):
                self.add_skipped(item)
            else:
                yield item

    def add_document(self, source: str, outcome: str, *, chunks: int = 0, facts: int = 0) -> None:
        """Count one document."""
        self.outcomes[outcome] += 1
        self.chunks += chunks
        self.facts += facts
        self.on_step(Step(source=source, chunks=chunks, outcome=outcome))

    def add_planned(self, documents: int, texts: int) -> None:
        """Count documents that are planned but not written, and their texts."""
        self.pending_documents += documents
        self.planned_texts += texts
        self._report_texts()

    def add_texts(self, count: int) -> None:
        """Count embedded texts. Only one thread may call this."""
        self.texts += count
        self._report_texts()

    def _report_texts(self) -> None:
        planned = sum(self.outcomes.values()) + len(self.skipped) + self.pending_documents
        self.on_texts(EmbeddingProgress(texts=self.texts, planned_texts=self.planned_texts, planned_documents=planned))

    def add_skipped(self, item: Skipped) -> None:
        """Record one file or record that was not indexed."""
        self.skipped.append(item)
        self.on_step(Step(source=item.source, chunks=0, outcome="skipped"))

    def add_receipt(self, receipt: Receipt) -> None:
        """Add the counts of a run whose steps were already reported."""
        for outcome in self.outcomes:
            self.outcomes[outcome] += getattr(receipt, outcome)
        self.chunks += receipt.chunks
        self.embedded += receipt.embedded
        self.facts += receipt.facts

    def build(self, usage: Usage | None = None) -> Receipt:
        """Return the receipt; `usage` is the usage of the extractor."""
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


def stop_note(limit: str) -> str:
    """Return the note about a run that stopped at a cost limit."""
    return f"stopped at {limit}; run again to continue"
