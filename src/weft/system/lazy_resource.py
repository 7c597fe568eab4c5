"""
Resource created once: on first use, or in a background thread with a deadline for waiting callers.

                 start, get              done
    unstarted ───────────────▶ loading ────────▶ ready
                                 ▲  │ error
                      start, get │  ▼
                                failed
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Literal, TypeAlias, TypeVar, cast

Value = TypeVar("Value")
State: TypeAlias = Literal["unstarted", "loading", "ready", "failed"]


class DeadlinePassed(Exception):
    """The resource was not ready in time. It is still loading."""


class LazyResource(Generic[Value]):
    """
    The value of `make`, shared by threads. At most one thread calls `make` at a time.

    After a failure, `error` has the exception, and the next `start`, `get` or `get_within` tries again. A created value
    is never replaced. `on_done` is called in the background thread after each attempt there, once waiting threads have
    the outcome.
    """

    def __init__(
        self, make: Callable[[], Value], *, name: str = "weft-load", on_done: Callable[[], None] = lambda: None
    ) -> None:
        self._make = make
        self._name = name
        self._on_done = on_done
        self._changed = threading.Condition()
        self._state: State = "unstarted"
        self._value: Value | None = None
        self._error: Exception | None = None
        self._deadline: float | None = None

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    @property
    def error(self) -> Exception | None:
        """The failure of the last attempt."""
        return self._error

    def start(self) -> None:
        """Make the value in a daemon thread; do nothing if it is loading or ready."""
        with self._changed:
            if self._state in ("loading", "ready"):
                return
            self._begin()
        try:
            threading.Thread(target=self._run_in_background, name=self._name, daemon=True).start()
        except RuntimeError as error:  # the system has no thread left
            self._end(error=error)
            self._on_done()

    def get(self) -> Value:
        """Return the value, created here unless another thread is creating it. Exceptions of `make` propagate."""
        if self._state == "ready":
            return cast(Value, self._value)
        with self._changed:
            self._changed.wait_for(lambda: self._state != "loading")
            if is_missing := self.state != "ready":
                self._begin()
        if is_missing:
            self._run()
        return cast(Value, self._value)

    def get_within(self, seconds: float) -> Value:
        """
        Return the value, created in a background thread. Raises `DeadlinePassed`; exceptions of `make` propagate.

        All callers of an attempt share one deadline: `seconds` after the first of them began to wait.
        """
        self.start()
        with self._changed:
            if self._deadline is None:
                self._deadline = time.monotonic() + seconds
            wait = max(0.0, self._deadline - time.monotonic())
            if not self._changed.wait_for(lambda: self._state != "loading", wait):
                raise DeadlinePassed(self._name)
            if self._error is not None:
                raise self._error
            return cast(Value, self._value)

    def _begin(self) -> None:
        self._state, self._error, self._deadline = "loading", None, None

    def _run(self) -> None:
        try:
            value = self._make()
        except BaseException as error:
            self._end(error=error if isinstance(error, Exception) else RuntimeError(repr(error)))
            raise
        self._end(value)

    def _end(self, value: Value | None = None, *, error: Exception | None = None) -> None:
        with self._changed:
            self._value, self._error = value, error
            self._state = "ready" if error is None else "failed"
            self._changed.notify_all()

    def _run_in_background(self) -> None:
        try:
            with suppress(Exception):  # the exception is in `error`
                self._run()
        finally:
            self._on_done()
