"""Answers to a question: a quoted sentence, and sentences that a language model wrote from the passages."""

from __future__ import annotations

from dataclasses import dataclass

from weft.records.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The sentence of the passages that answers the question best, word for word without markup."""

    text: str
    citation: str
    chunk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSentence:
    """A sentence that a language model wrote."""

    text: str
    """The sentence without its passage numbers."""
    citations: tuple[str, ...] = ()
    """Citations of the passages that it refers to."""
    is_supported: bool = False
    """True if the cited passages contain its numbers and at least half of its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Result of a query with an answer to the question."""

    result: Result
    quote: Quote | None = None
    """None unless the status is `ok` or `degraded`, or if no passage has a sentence."""
    sentences: tuple[WrittenSentence, ...] = ()
    """Written answer; empty without a language model, or if it found no answer in the passages."""
    model: str = ""
    """Model and version of the prompt of the written answer; empty if none was requested."""
    note: str = ""
    """Reason why there is no written answer although one was requested."""
