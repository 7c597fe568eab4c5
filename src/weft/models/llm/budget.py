"""Accounting of model requests: tokens, cost and hard limits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol

from weft.models.llm.prices import Price, cost_of
from weft.records import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of cost in USD, tokens and minutes. 0 means no limit."""

    cost: float = 0.0
    tokens: int = 0
    minutes: float = 0.0


class TokenCounts(Protocol):
    """Token counts of a reply."""

    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...
    @property
    def is_guessed(self) -> bool: ...


class Account:
    """
    Counts the usage of requests and enforces the limits. Thread-safe.

    A request is allowed if its tokens, its longest possible reply and the reservations of running requests fit the
    limits.
    """

    def __init__(
        self, *, price: Price | None, bounds: Bounds | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._price = price
        self._bounds = bounds or Bounds()
        self._clock = clock
        self._start: float | None = None
        self._lock = Lock()
        self._reserved: Counter[str] = Counter()
        self._total = Usage()
        self._taken = Usage()

    @property
    def has_bounds(self) -> bool:
        """True if a limit is set."""
        return self._bounds != Bounds()

    @property
    def total(self) -> Usage:
        """Usage of all requests so far."""
        return self._total

    def reserve(self, *, tokens_in: int, tokens_out: int) -> bool:
        """Reserve the tokens of a request until `settle`; return False if a limit would be exceeded."""
        with self._lock:
            if self._start is None:
                self._start = self._clock()
            into, out = self._reserved["in"] + tokens_in, self._reserved["out"] + tokens_out
            if reason := self._exceeded_limit(into, out):
                self._total = replace(self._total, stopped=reason)
                return False
            self._reserved.update({"in": tokens_in, "out": tokens_out})
            return True

    def _exceeded_limit(self, tokens_in: int, tokens_out: int) -> str:
        """Return the limit that these tokens would exceed, as text; empty if none."""
        bounds, total = self._bounds, self._total
        if bounds.minutes and self._start is not None and self._clock() - self._start >= 60 * bounds.minutes:
            return f"{bounds.minutes:g} minutes"
        if bounds.tokens and total.tokens_in + total.tokens_out + tokens_in + tokens_out > bounds.tokens:
            return f"{bounds.tokens:,} tokens"
        cost = total.cost + cost_of(self._price, tokens_in=tokens_in, tokens_out=tokens_out)
        return f"${bounds.cost:g}" if bounds.cost and cost > bounds.cost else ""

    def settle(self, reply: TokenCounts | None, *, tokens_in: int, tokens_out: int) -> None:
        """Release the tokens of `reserve` and count the reply; None means no reply."""
        with self._lock:
            self._reserved.subtract({"in": tokens_in, "out": tokens_out})
            if reply is not None:
                into, out = reply.tokens_in, reply.tokens_out
                cost = cost_of(self._price, tokens_in=into, tokens_out=out)
                unpriced, guessed = int(self._price is None), int(reply.is_guessed)
                one = Usage(calls=1, tokens_in=into, tokens_out=out, guessed=guessed, cost=cost, unpriced=unpriced)
                self._total += one

    def estimate_usage(self, *, calls: int, tokens: int) -> Usage:
        """Return the usage of `calls` requests with `tokens` in total, without counting it."""
        cost = cost_of(self._price, tokens_in=tokens, tokens_out=0)
        unpriced = calls if self._price is None else 0
        return Usage(calls=calls, tokens_in=tokens, guessed=calls, cost=cost, unpriced=unpriced)

    def note(self, kind: str) -> None:
        """Count a failure."""
        with self._lock:
            self._total += Usage(failures={kind: 1})

    def add(self, *, cached: int = 0, seconds: float = 0.0) -> None:
        """Count cached replies and elapsed time."""
        with self._lock:
            self._total += Usage(cached=cached, seconds=seconds)

    def take(self) -> Usage:
        """Return the usage since the last call."""
        with self._lock:
            before, self._taken = self._taken, self._total
            total = self._total
        return replace(total - before, stopped=total.stopped)
