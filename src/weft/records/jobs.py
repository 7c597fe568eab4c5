"""Documents that wait to be indexed by whoever has time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What came of a job."""

    outcome: str
    """`added`, `changed` or `unchanged`."""
    chunks: int = 0
    embedded: int = 0
    """Texts that were handed to the embedder."""
    cached: int = 0
    """Those of them whose vector was already known."""
    facts: int = 0
    embedding: Usage = field(default_factory=Usage)
    """What an embedder behind an endpoint was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One document that has to be indexed."""

    id: str
    """That of the document, so a namespace has one job for it at most."""
    run: str
    """Who waits for it."""
    source: str
    content_hash: str
    """What the document must come to."""
    recipe: str
    """How it is to be indexed. Only a worker that goes by the same may do it."""
    payload: str = ""
    """The document as JSON; empty once it is done."""
    attempts: int = 0
    """How often it was begun."""
    error: str = ""
    """What went wrong last."""
    result: JobResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How many jobs there are of each state."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    """Done, and whoever waits for it has not heard of it yet."""
    failed: int = 0

    @property
    def open(self) -> int:
        """How many are not decided yet."""
        return self.waiting + self.running


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Jobs that a transaction finishes, by id."""

    worker: str
    """Who has claimed them."""
    results: Mapping[str, JobResult]
