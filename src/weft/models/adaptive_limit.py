"""
Limit of concurrent requests that adapts to the endpoint: additive increase, multiplicative decrease (AIMD).

    event                                           limit
    a request succeeds at once                      + 1 / limit, so about + 1 per round of requests
    a request is refused (429, 5xx) or times out    / 2, once per round of requests
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition


class AdaptiveLimit:
    """Number of requests that may run at the same time, between 1 and `maximum`. Threads may share it."""

    def __init__(self, *, start: int, maximum: int) -> None:
        self._limit = float(start)
        self._maximum = maximum
        self._busy = 0
        self._round = 0
        """Number of decreases so far."""
        self._changed = Condition()

    @property
    def current(self) -> int:
        """The current limit."""
        return int(self._limit)

    @contextmanager
    def slot(self) -> Iterator[Callable[[], None]]:
        """
        Wait until a request may start; yield a function that the caller calls for each refused attempt.

        A refusal counts only if the limit has not decreased since the request started or was last refused: a burst of
        requests that are refused together halves the limit once.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._busy < self.current)
            self._busy += 1
            seen = self._round
        was_refused = False

        def refuse() -> None:
            nonlocal seen, was_refused
            was_refused = True
            with self._changed:
                if seen == self._round:
                    self._limit = max(1.0, self._limit / 2)
                    self._round += 1
                seen = self._round

        try:
            yield refuse
            if not was_refused:
                with self._changed:
                    self._limit = min(float(self._maximum), self._limit + 1 / self._limit)
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()
