"""What replies of a language model were like so far, and what more of them would be like."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MIN_REPLIES = 5
"""Replies of a model to a prompt from which its habits are taken; before, they are guessed."""
LINE_FROM = 20
"""Replies from which it is told how much more is counted, or replied, where more was guessed."""
FIRST_SAMPLE = 60
GROWTH = 1.25
MARGIN = 0.08
WHOLE_MARGIN = 0.05
"""
A sample begins with so many replies and grows so fast until the rest is known that well, or rest and sample together.

The margin itself is told by the sample and holds less often than it says, so it is smaller than the 10 % that are
wanted (benchmarks/quality/llm_estimate.py).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """What the reply to one question has cost, and what was guessed of it."""

    guessed: int
    """Tokens the question was estimated to have."""
    expected: float
    """Tokens the reply was."""
    tokens_in: int
    tokens_out: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What requests will come to."""

    tokens_in: float
    tokens_out: float
    seconds: float
    error: float = 0.0
    """How many of the tokens out it may be off by, in nineteen of twenty cases."""

    @property
    def margin(self) -> float:
        """The error as a share of the tokens out."""
        return self.error / self.tokens_out if self.tokens_out else 0.0

    def is_sure(self, *, paid: float) -> bool:
        """Tell whether a larger sample is not wanted, where the replies so far had so many tokens."""
        return self.error <= max(MARGIN * self.tokens_out, WHOLE_MARGIN * (self.tokens_out + paid))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Of what was guessed and what came, over some requests."""

    guess: float
    came: float
    guess_squared: float
    both: float
    """Of the one times the other."""
    came_squared: float

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> Sums:
        """Return the sums over pairs of what was guessed and what came."""
        return cls(
            guess=sum(guess for guess, _ in pairs),
            came=sum(came for _, came in pairs),
            guess_squared=sum(guess**2 for guess, _ in pairs),
            both=sum(guess * came for guess, came in pairs),
            came_squared=sum(came**2 for _, came in pairs),
        )

    def expect(self, n: int, *, calls: int, guess: float) -> tuple[float, float]:
        """Return what so many more come to of which so much is guessed, and how far off that may be."""
        spread = self.guess_squared - self.guess**2 / n
        together = self.both - self.guess * self.came / n
        ways = calls + calls**2 / n
        if n >= LINE_FROM and spread > 1e-6 * self.guess_squared:
            rise, beyond = together / spread, guess - calls * self.guess / n
            found = calls * self.came / n + rise * beyond
            left = self.came_squared - self.came**2 / n - rise * together
            ways += beyond**2 / spread
        else:
            share = self.came / self.guess
            found = share * guess
            left = self.came_squared - 2 * share * self.both + share**2 * self.guess_squared
        return max(found, 0.0), _student(n - 2) * math.sqrt(max(left, 0.0) / (n - 2) * ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What replies of a model to a prompt were like so far."""

    replies: int
    seconds: float
    question: Sums
    reply: Sums

    @classmethod
    def of(cls, paid: Iterable[Paid]) -> Habits:
        """Return what these replies were like."""
        rows = list(paid)
        return cls(
            replies=len(rows),
            seconds=sum(row.seconds for row in rows),
            question=Sums.of([(row.guessed, row.tokens_in) for row in rows]),
            reply=Sums.of([(row.expected, row.tokens_out) for row in rows]),
        )

    def expect(self, *, calls: int, question: float, reply: float) -> Expected | None:
        """Return what so many more requests come to, of so many tokens as guessed; None where too little is known."""
        if self.replies < MIN_REPLIES:
            return None
        tokens_in, _ = self.question.expect(self.replies, calls=calls, guess=question)
        tokens_out, error = self.reply.expect(self.replies, calls=calls, guess=reply)
        seconds = self.seconds * calls / self.replies
        return Expected(tokens_in=tokens_in, tokens_out=tokens_out, seconds=seconds, error=error)


def iter_sizes(most: int, *, chunks: int) -> Iterator[int]:
    """
    Yield how many replies a sample of at most so many has, step by step.

    It never goes beyond half of the chunks, if they are more than a few: what is left is known less well from there on.
    """
    most, size = min(most, max(FIRST_SAMPLE, chunks // 2), chunks), FIRST_SAMPLE
    while size < most:
        yield size
        size = int(size * GROWTH)
    yield most


def _student(freedom: int) -> float:
    """Return how many standard errors hold nineteen of twenty cases (Student's t, by its first term)."""
    return 1.96 + 2.37 / freedom
