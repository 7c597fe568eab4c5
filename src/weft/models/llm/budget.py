"""Bounds that requests to a model behind an endpoint never pass, and the count of what they cost."""

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
    """0 bounds nothing."""

    cost: float = 0.0
    tokens: int = 0
    minutes: float = 0.0


class Counted(Protocol):
    """What of a reply it costs."""

    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...
    @property
    def is_guessed(self) -> bool: ...


class Account:
    """
    Counts what requests cost, and says whether another one may be made.

    A request is only made where its tokens, with the longest reply it may get, and those under way still fit.
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
    def total(self) -> Usage:
        """All that was counted."""
        return self._total

    def may_ask(self, *, tokens_in: int, tokens_out: int) -> bool:
        """Reserve the tokens of a request; False where a bound forbids it. `settle` gives them back."""
        with self._lock:
            if self._start is None:
                self._start = self._clock()
            into, out = self._reserved["in"] + tokens_in, self._reserved["out"] + tokens_out
            if reason := self._objection(into, out):
                self._total = replace(self._total, stopped=reason)
                return False
            self._reserved.update({"in": tokens_in, "out": tokens_out})
            return True

    def _objection(self, tokens_in: int, tokens_out: int) -> str:
        bounds, total = self._bounds, self._total
        if bounds.minutes and self._start is not None and self._clock() - self._start >= 60 * bounds.minutes:
            return f"{bounds.minutes:g} minutes"
        if bounds.tokens and total.tokens_in + total.tokens_out + tokens_in + tokens_out > bounds.tokens:
            return f"{bounds.tokens:,} tokens"
        cost = total.cost + cost_of(self._price, tokens_in=tokens_in, tokens_out=tokens_out)
        return f"${bounds.cost:g}" if bounds.cost and cost > bounds.cost else ""

    def settle(self, reply: Counted | None, *, tokens_in: int, tokens_out: int) -> None:
        """Count a reply, and give back what was reserved for it; None where there was none."""
        with self._lock:
            self._reserved.subtract({"in": tokens_in, "out": tokens_out})
            if reply is not None:
                into, out = reply.tokens_in, reply.tokens_out
                cost = cost_of(self._price, tokens_in=into, tokens_out=out)
                unpriced, guessed = int(self._price is None), int(reply.is_guessed)
                one = Usage(calls=1, tokens_in=into, tokens_out=out, guessed=guessed, cost=cost, unpriced=unpriced)
                self._total += one

    def estimate_usage(self, *, calls: int, tokens: int) -> Usage:
        """Return what so many requests of so many tokens in all would come to; they are not counted."""
        cost = cost_of(self._price, tokens_in=tokens, tokens_out=0)
        unpriced = calls if self._price is None else 0
        return Usage(calls=calls, tokens_in=tokens, guessed=calls, cost=cost, unpriced=unpriced)

    def note(self, kind: str) -> None:
        """Count a failure."""
        with self._lock:
            self._total += Usage(failures={kind: 1})

    def add(self, *, cached: int = 0, seconds: float = 0.0) -> None:
        """Count chunks whose reply was known, and time."""
        with self._lock:
            self._total += Usage(cached=cached, seconds=seconds)

    def take(self) -> Usage:
        """Return what was counted since the last call."""
        with self._lock:
            before, self._taken = self._taken, self._total
            total = self._total
        return replace(total - before, stopped=total.stopped)
