"""Job queue records: documents waiting for a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """Result of a finished job."""

    outcome: str
    """`added`, `changed` or `unchanged`."""
    chunks: int = 0
    embedded: int = 0
    """Texts passed to the embedder."""
    cached: int = 0
    """Texts passed to the embedder whose vector was cached."""
    facts: int = 0
    embedding: Usage = field(default_factory=Usage)
    """Usage of a remote embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One document to be indexed."""

    id: str
    """Id of the document: a namespace has at most one job per document."""
    run: str
    """Id of the run that waits for the job."""
    source: str
    content_hash: str
    """Expected content hash of the document."""
    recipe: str
    """Hash of the indexing options. Only a worker with the same recipe may claim the job."""
    payload: str = ""
    """The document as JSON; empty after the job is done."""
    attempts: int = 0
    """Number of attempts to run the job."""
    error: str = ""
    """Last error."""
    result: JobResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Number of jobs per state."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    """Finished, but the waiting run has not collected the result yet."""
    failed: int = 0

    @property
    def open(self) -> int:
        """Number of unfinished jobs."""
        return self.waiting + self.running


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Jobs that a transaction completes, by id."""

    worker: str
    """Name of the worker that claimed the jobs."""
    results: Mapping[str, JobResult]
