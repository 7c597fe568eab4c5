"""
Statistics of a language model's replies, and the usage estimated from them.

For each request, two numbers are estimated before it is sent: the tokens of the question and of the reply.
Least squares relates them to the numbers that the server counted. With n replies, estimates x and counts y, the
total of m further requests with the estimated total X is

    n >= 20 and x varies    a line:     m * mean(y) + slope * (X - m * mean(x))
    otherwise               a ratio:    X * sum(y) / sum(x)

The error is the half-width of the 95 % prediction interval of that total.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MIN_REPLIES = 5
"""Minimum number of replies to use statistics instead of defaults."""
MIN_LINE_REPLIES = 20
"""Minimum number of replies to fit a line instead of a ratio."""
FIRST_SAMPLE_REPLIES = 60
SAMPLE_GROWTH = 1.25
MAX_MARGIN = 0.08
MAX_TOTAL_MARGIN = 0.05
"""
Margins at which a sample stops growing: of the remaining replies, or of all replies including the sample.

The margin is itself estimated from the sample, and is too small in more than 1 of 20 samples. The limits are therefore
below the target of 10 %.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCost:
    """Tokens and duration of one reply, and the estimates made before the request."""

    estimated_in: int
    """Estimated tokens of the question."""
    estimated_out: float
    """Estimated tokens of the reply."""
    tokens_in: int
    tokens_out: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageEstimate:
    """Estimated usage of further requests."""

    tokens_in: float
    tokens_out: float
    seconds: float
    error: float = 0.0
    """Half-width of the 95 % prediction interval of `tokens_out`."""

    @property
    def margin(self) -> float:
        """The error as a share of `tokens_out`."""
        return self.error / self.tokens_out if self.tokens_out else 0.0

    def is_precise(self, *, sampled: float) -> bool:
        """Return True if the sample is large enough; its replies have `sampled` tokens."""
        return self.error <= max(MAX_MARGIN * self.tokens_out, MAX_TOTAL_MARGIN * (self.tokens_out + sampled))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionSums:
    """Sums over requests of the estimated tokens x and the counted tokens y. Field order as in `reply_cache`."""

    x: float
    y: float
    xx: float
    xy: float
    yy: float

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> RegressionSums:
        """Return the sums over pairs (x, y)."""
        return cls(
            x=sum(x for x, _ in pairs),
            y=sum(y for _, y in pairs),
            xx=sum(x**2 for x, _ in pairs),
            xy=sum(x * y for x, y in pairs),
            yy=sum(y**2 for _, y in pairs),
        )

    def predict(self, n: int, *, calls: int, total_x: float) -> tuple[float, float]:
        """Return the total y of `calls` further requests with `total_x`, and its error, from `n` requests."""
        centred_xx = self.xx - self.x**2 / n
        centred_xy = self.xy - self.x * self.y / n
        variance_factor = calls + calls**2 / n
        if n >= MIN_LINE_REPLIES and centred_xx > 1e-6 * self.xx:
            slope, offset = centred_xy / centred_xx, total_x - calls * self.x / n
            total_y = calls * self.y / n + slope * offset
            residuals = self.yy - self.y**2 / n - slope * centred_xy
            variance_factor += offset**2 / centred_xx
        else:
            ratio = self.y / self.x
            total_y = ratio * total_x
            residuals = self.yy - 2 * ratio * self.xy + ratio**2 * self.xx
        error = _student_quantile(n - 2) * math.sqrt(max(residuals, 0.0) / (n - 2) * variance_factor)
        return max(total_y, 0.0), error


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyStatistics:
    """Statistics of a model's replies to one prompt."""

    replies: int
    seconds: float
    question: RegressionSums
    reply: RegressionSums

    @classmethod
    def of(cls, costs: Iterable[ReplyCost]) -> ReplyStatistics:
        """Return the statistics of these replies."""
        rows = list(costs)
        return cls(
            replies=len(rows),
            seconds=sum(row.seconds for row in rows),
            question=RegressionSums.of([(row.estimated_in, row.tokens_in) for row in rows]),
            reply=RegressionSums.of([(row.estimated_out, row.tokens_out) for row in rows]),
        )

    def estimate(self, *, calls: int, question: float, reply: float) -> UsageEstimate | None:
        """
        Return the usage of `calls` further requests; None below `MIN_REPLIES`.

        `question` and `reply` are their estimated tokens in total.
        """
        if self.replies < MIN_REPLIES:
            return None
        tokens_in, _ = self.question.predict(self.replies, calls=calls, total_x=question)
        tokens_out, error = self.reply.predict(self.replies, calls=calls, total_x=reply)
        seconds = self.seconds * calls / self.replies
        return UsageEstimate(tokens_in=tokens_in, tokens_out=tokens_out, seconds=seconds, error=error)


def iter_sample_sizes(most: int, *, chunks: int) -> Iterator[int]:
    """
    Yield the growing sizes of a sample, up to `most`.

    Above `FIRST_SAMPLE_REPLIES`, a sample has at most half of the chunks. A larger sample would leave too few chunks
    for a precise estimate.
    """
    most, size = min(most, max(FIRST_SAMPLE_REPLIES, chunks // 2), chunks), FIRST_SAMPLE_REPLIES
    while size < most:
        yield size
        size = int(size * SAMPLE_GROWTH)
    yield most


def _student_quantile(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t distribution, to the first term of its expansion."""
    return 1.96 + 2.37 / freedom
