"""What models behind an endpoint were asked, and what that cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Requests to a language model or an embedder, or those that would be made."""

    calls: int = 0
    """Replies that came."""
    cached: int = 0
    """Chunks whose reply was known already; receipts count texts whose vector was known themselves."""
    tokens_in: int = 0
    tokens_out: int = 0
    """0 for an embedder."""
    guessed: int = 0
    """Calls whose tokens the endpoint did not count; they are estimated."""
    cost: float = 0.0
    """Dollars, by the table of prices."""
    unpriced: int = 0
    """Calls of a model that the table does not know."""
    seconds: float = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)
    """By kind: attempts that failed, replies that could not be read, and what of replies was left out."""
    stopped: str = ""
    """Which bound ended the run, if one did."""
    basis: int = 0
    """Of an estimate: by how many earlier replies it goes; 0 where it is a guess."""
    margin: float = 0.0
    """Of an estimate with a basis: by which share of them the tokens out may be off, in nineteen of twenty cases."""
    known: Usage | None = None
    """Of an estimate: what the replies that are there already have cost, those of a sample among them."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            guessed=self.guessed + other.guessed,
            cost=self.cost + other.cost,
            unpriced=self.unpriced + other.unpriced,
            seconds=self.seconds + other.seconds,
            failures=dict(Counter(self.failures) + Counter(other.failures)),
            stopped=other.stopped or self.stopped,
        )

    def __sub__(self, before: Usage) -> Usage:
        """Return what came after `before`, which is a part of it. Which bound was reached, and when, is not known."""
        return Usage(
            calls=self.calls - before.calls,
            cached=self.cached - before.cached,
            tokens_in=self.tokens_in - before.tokens_in,
            tokens_out=self.tokens_out - before.tokens_out,
            guessed=self.guessed - before.guessed,
            cost=self.cost - before.cost,
            unpriced=self.unpriced - before.unpriced,
            seconds=self.seconds - before.seconds,
            failures=dict(Counter(self.failures) - Counter(before.failures)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRun:
    """What one run asked of a language model, as far as it has come."""

    id: str
    at: float
    """When it was last heard of, in seconds since 1970."""
    model: str
    usage: Usage
