"""Rerankers for queries with deadlines: one enforces a deadline, one always fails."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence

from weft.errors import BadModelOutput, ModelError, ModelUnavailable, WeftError
from weft.models.base import Reranker
from weft.system.lazy_resource import DeadlinePassed, LazyResource
from weft.text.plurals import counted

MAX_CONCURRENT_CALLS = 16
"""Maximum number of concurrent calls, including abandoned ones whose deadline has passed."""
MAX_CLOSE_SECONDS = 10.0
"""Seconds that `close` waits for the callback of each finished call."""
MODEL_HINT = "set rerank.model to another reranker"


class DeadlineReranker:
    """
    Runs each call of another reranker in a thread and waits at most `seconds` for it. Later scores are discarded.

    Every failure of the inner reranker becomes a `ModelError`. Scores are checked: one finite number per text.
    """

    def __init__(self, inner: Reranker, *, seconds: float, on_done: Callable[[], None] = lambda: None) -> None:
        """Wrap a reranker. `on_done` is called in the thread of each call when it ends, even after the deadline."""
        self._inner = inner
        self._seconds = seconds
        self._on_done = on_done
        self._finishing: set[threading.Thread] = set()
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT_CALLS)

    @property
    def name(self) -> str:
        """The name of the inner reranker."""
        return self._inner.name

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the scores of the inner reranker. Raises `ModelUnavailable`, also if the deadline passes."""
        if not self._slots.acquire(blocking=False):
            raise ModelUnavailable(
                f"{MAX_CONCURRENT_CALLS} earlier questions are still being re-ranked", hint="retry in a few seconds"
            )
        passages = list(texts)
        call = LazyResource(lambda: self._call(query, passages), name="weft-rerank", on_done=self._finish)
        try:
            scores = call.get_within(self._seconds)
        except DeadlinePassed:
            raise ModelUnavailable(
                f"re-ranking exceeded the deadline of {self._seconds * 1000:.0f} ms", hint="raise rerank.deadline_ms"
            ) from None
        except ModelError:
            raise
        except Exception as error:
            hint = error.hint if isinstance(error, WeftError) else MODEL_HINT
            message = f"the reranker failed: {type(error).__name__}: {str(error)[:300]}"
            raise ModelUnavailable(message, hint=hint) from error
        return check_scores(scores, count=len(texts))

    def close(self) -> None:
        """Wait for the callbacks of finished calls, not for running calls."""
        for thread in list(self._finishing):
            thread.join(MAX_CLOSE_SECONDS)

    def _call(self, query: str, texts: list[str]) -> list[float]:
        try:
            return self._inner.rerank(query, texts)
        finally:
            self._finishing.add(
                threading.current_thread()
            )  # before the caller gets the result, because it may then close the reranker

    def _finish(self) -> None:
        try:
            self._on_done()
        finally:
            self._finishing.discard(threading.current_thread())
            self._slots.release()


class UnavailableReranker:
    """Placeholder for a reranker that cannot be opened. Every call raises the error."""

    def __init__(self, name: str, *, error: WeftError) -> None:
        self.name = name
        self._error = error

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Raise `ModelUnavailable`."""
        raise ModelUnavailable(str(self._error), hint=self._error.hint) from self._error


def check_scores(scores: Sequence[float], *, count: int) -> list[float]:
    """Return the scores as floats. Raises `BadModelOutput` unless they are one finite number per text."""
    try:
        numbers = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise BadModelOutput(f"the reranker returned a non-numeric score: {error}", hint=MODEL_HINT) from error
    if len(numbers) != count:
        raise BadModelOutput(
            f"the reranker returned {counted(len(numbers), 'score')} for {counted(count, 'text')}", hint=MODEL_HINT
        )
    if not all(map(math.isfinite, numbers)):
        raise BadModelOutput("the reranker returned a non-finite score", hint=MODEL_HINT)
    return numbers
