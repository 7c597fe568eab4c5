"""Requests to remote models and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Actual or estimated requests to a language model or an embedder."""

    calls: int = 0
    """Replies received."""
    cached: int = 0
    """Chunks with a cached reply. Cached vectors are counted in the receipt."""
    tokens_in: int = 0
    tokens_out: int = 0
    """Output tokens; 0 for an embedder."""
    guessed: int = 0
    """Calls without a token count from the endpoint; their tokens are estimated."""
    cost: float = 0.0
    """Cost in USD, by the price table."""
    unpriced: int = 0
    """Calls of a model without a price."""
    seconds: float = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)
    """Failed attempts, unreadable replies and dropped parts of replies, by kind."""
    stopped: str = ""
    """Limit that ended the run; empty if none."""
    basis: int = 0
    """Estimates: number of earlier replies used for the estimate; 0 for a guess."""
    margin: float = 0.0
    """Estimates with a basis: relative 95 % error margin of the output tokens."""
    known: Usage | None = None
    """Estimates: cost of the cached replies, including those of a sample."""

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
        """Return the usage since `before`. `stopped` is not set."""
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
    """Usage of a language model by one run, up to now."""

    id: str
    at: float
    """Time of the last update, in seconds since 1970."""
    model: str
    usage: Usage
