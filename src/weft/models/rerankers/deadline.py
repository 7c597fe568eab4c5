"""A reranker that is waited for only so long: the answer is there without it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from weft.errors import BadModelOutput, ModelError, ModelUnavailable, WeftError
from weft.models.base import Reranker

MAX_UNDER_WAY = 16
"""Calls at once, those among them that nobody waits for any more; further ones are refused."""
CLOSING_SECONDS = 10.0


class PunctualReranker:
    """
    Asks another reranker in a thread of its own, and waits at most `seconds` for it; what comes later is dropped.

    Whatever goes wrong inside is a `ModelError` outside, and scores are checked: one finite number per text.
    """

    def __init__(self, inner: Reranker, *, seconds: float, afterwards: Callable[[], None] = lambda: None) -> None:
        """Open it. `afterwards` is called in the other thread when an answer is there, and nobody waits for it."""
        self._inner = inner
        self._seconds = seconds
        self._afterwards = afterwards
        self._ending: set[threading.Thread] = set()
        self._slots = threading.BoundedSemaphore(MAX_UNDER_WAY)

    @property
    def name(self) -> str:
        """The name of the inner reranker."""
        return self._inner.name

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return what the inner reranker does. Raises `ModelUnavailable` also when the deadline passes."""
        if not self._slots.acquire(blocking=False):
            raise ModelUnavailable(f"{MAX_UNDER_WAY} earlier questions are still being re-ranked")
        answers: SimpleQueue[list[float] | Exception] = SimpleQueue()
        # a daemon, so that a process that is done does not wait for it
        thread = threading.Thread(target=self._ask, args=(query, list(texts), answers), name="weft-rerank", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system has no thread left
            self._slots.release()
            raise ModelUnavailable(str(error)) from error
        try:
            answer = answers.get(timeout=self._seconds)
        except Empty:
            raise ModelUnavailable(
                f"the deadline of {self._seconds * 1000:.0f} ms passed", hint="rerank.deadline_ms sets another one"
            ) from None
        if isinstance(answer, ModelError):
            raise answer
        if isinstance(answer, Exception):
            hint = answer.hint if isinstance(answer, WeftError) else ""
            raise ModelUnavailable(f"{type(answer).__name__}: {str(answer)[:300]}", hint=hint) from answer
        return check_scores(answer, count=len(texts))

    def close(self) -> None:
        """Wait for what is done after answers that have come; not for answers."""
        for thread in list(self._ending):
            thread.join(CLOSING_SECONDS)

    def _ask(self, query: str, texts: list[str], answers: SimpleQueue[list[float] | Exception]) -> None:
        try:
            answer: list[float] | Exception = self._inner.rerank(query, texts)
        except Exception as error:  # noqa: BLE001 - libraries and users' rerankers raise anything, and nothing may end the query
            answer = error
        self._ending.add(threading.current_thread())
        try:
            answers.put(answer)
            self._afterwards()
        finally:
            self._ending.discard(threading.current_thread())
            self._slots.release()


class AbsentReranker:
    """Stands for a reranker that cannot be opened: every call says why."""

    def __init__(self, name: str, *, error: WeftError) -> None:
        self.name = name
        self._error = error

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Raise `ModelUnavailable`."""
        raise ModelUnavailable(str(self._error), hint=self._error.hint) from self._error


def check_scores(scores: Sequence[float], *, count: int) -> list[float]:
    """Return the scores as numbers. Raises `BadModelOutput` where they are not one finite number per text."""
    try:
        numbers = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise BadModelOutput(f"the reranker gave no numbers: {error}") from error
    if len(numbers) != count:
        raise BadModelOutput(f"the reranker gave {len(numbers)} scores for {count} texts")
    if not all(map(math.isfinite, numbers)):
        raise BadModelOutput("the reranker gave a score that is not finite")
    return numbers
