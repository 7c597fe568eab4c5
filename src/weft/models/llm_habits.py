"""What replies of a language model were like so far, and what more of them would be like."""

from __future__ import annotations

import math
from dataclasses import dataclass

MIN_REPLIES = 5
"""Replies of a model to a prompt from which its habits are taken; before, they are guessed."""
LINE_FROM = 20
"""Replies from which it is told how much more is counted, or replied, where more was guessed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What requests will come to."""

    tokens_in: float
    tokens_out: float
    seconds: float
    margin: float
    """By which share of them the tokens out may be off, in nineteen of twenty cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Of what was guessed and what came, over some requests."""

    guess: float
    came: float
    guess_squared: float
    both: float
    """Of the one times the other."""
    came_squared: float

    def expect(self, n: int, *, calls: int, guess: float) -> tuple[float, float]:
        """Return what so many more come to of which so much is guessed, and twice the error that may have."""
        spread = self.guess_squared - self.guess**2 / n
        together = self.both - self.guess * self.came / n
        if n >= LINE_FROM and spread > 1e-6 * self.guess_squared:
            rise = together / spread
            found = calls * self.came / n + rise * (guess - calls * self.guess / n)
            left = self.came_squared - self.came**2 / n - rise * together
        else:
            share = self.came / self.guess
            found = share * guess
            left = self.came_squared - 2 * share * self.both + share**2 * self.guess_squared
        return max(found, 0.0), 2 * math.sqrt(max(left, 0.0) / (n - 2) * (calls + calls**2 / n))


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What replies of a model to a prompt were like so far."""

    replies: int
    seconds: float
    question: Sums
    reply: Sums

    def expect(self, *, calls: int, question: float, reply: float) -> Expected | None:
        """Return what so many more requests come to, of so many tokens as guessed; None where too little is known."""
        if self.replies < MIN_REPLIES:
            return None
        tokens_in, _ = self.question.expect(self.replies, calls=calls, guess=question)
        tokens_out, error = self.reply.expect(self.replies, calls=calls, guess=reply)
        seconds, margin = self.seconds * calls / self.replies, error / tokens_out if tokens_out else 0.0
        return Expected(tokens_in=tokens_in, tokens_out=tokens_out, seconds=seconds, margin=margin)
