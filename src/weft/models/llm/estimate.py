"""Estimate of the requests to a language model and of their cost."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from weft.models.base import Extractor
from weft.models.llm.prices import Price, cost_of
from weft.models.llm.reply_cache import ReplyCache
from weft.models.llm.statistics import ReplyCost, ReplyStatistics, UsageEstimate, iter_sample_sizes
from weft.records import Chunk, Document, Extraction, Usage
from weft.text.normalise import UNSPACED

BASE_REPLY_TOKENS = 100
REPLY_TOKENS_PER_NAME = 31
"""
Default estimate of a reply's tokens: a constant, plus a number for each name and number in the chunk.

Fitted to extractions by GPT-3.5 from passages of musique-train and 2wiki-dev. They were written in the requested
format, with one sentence of the passage per description.
"""
DEFAULT_REPLY_SECONDS = 5.0

_NAMES = re.compile(r"\b[A-Z]\w+|\d+")
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")


class CostOptions(Protocol):
    """Request options that determine the cost."""

    @property
    def parallel(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def price(self) -> Price | None: ...


class LlmEstimator:
    """
    An extractor that runs only `inner` and counts the requests that the language model would get.

    Tokens and duration of the replies are estimated from cached replies, or from a sample: `ask` sends up to `sample`
    chunks until the estimate is precise enough.
    """

    def __init__(
        self,
        inner: Extractor,
        *,
        name: str,
        passage: Callable[[Document, Chunk], str],
        replies: ReplyCache,
        options: CostOptions,
        digest: Callable[[str], bytes],
        estimate: Callable[[str], tuple[int, float]],
        sample: int,
        ask: Callable[[Mapping[str, bytes]], Mapping[bytes, ReplyCost]],
    ) -> None:
        """
        Create the estimator.

        `estimate` returns the tokens of a question and of its reply. `ask` caches the replies to passages, and returns
        the costs of those that could not be parsed.
        """
        self._inner = inner
        self._name = name
        self._passage = passage
        self._replies = replies
        self._options = options
        self._digest = digest
        self._estimate = estimate
        self._sample_size = sample
        self._ask = ask
        self._estimates: dict[bytes, tuple[int, float]] = {}
        """Estimated tokens of the question and of the reply, by digest of the passage."""
        self._costs: dict[bytes, ReplyCost] = {}
        """Costs of the cached replies, by digest of the passage."""
        self._sample: list[tuple[bytes, str]] = []
        """
        Random sample: the passages with the smallest digests, as a heap of inverted digests.

        Passages with a cached reply are included, so a second estimate sends no new requests for them.
        """
        self._repeated = 0

    @property
    def name(self) -> str:
        """Name of the extractor with the language model, so that documents it has read count as unchanged."""
        return self._name

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return the extractions of `inner`, and count the requests that the language model would get."""
        passages = {self._digest(p): p for p in (self._passage(document, chunk) for chunk in chunks)}
        new = {digest: passage for digest, passage in passages.items() if digest not in self._estimates}
        self._repeated += len(passages) - len(new)
        estimates = {digest: self._estimate(passage) for digest, passage in new.items()}
        self._estimates |= estimates
        self._costs |= self._replies.costs(estimates)
        for digest, passage in new.items() if self._sample_size else ():
            push = heapq.heappush if len(self._sample) < self._sample_size else heapq.heappushpop
            push(self._sample, (_inverted(digest), passage))
        return self._inner.extract(document, chunks)

    def take_usage(self) -> Usage:
        """Return the estimated usage of all passages without a reply. The sample is sent first and not included."""
        statistics = self._ask_sample() if self._sample else self._replies.statistics()
        estimate = self._estimate_missing(statistics)
        basis = statistics.replies if estimate else 0
        missing = self._missing()
        if estimate is None:
            question = sum(tokens_in for tokens_in, _ in missing)
            reply = sum(min(tokens_out, self._options.output_tokens) for _, tokens_out in missing)
            seconds = DEFAULT_REPLY_SECONDS * len(missing)
            estimate = UsageEstimate(tokens_in=question, tokens_out=reply, seconds=seconds)
        known = self._costs.values()
        return replace(
            self._usage(len(missing), estimate.tokens_in, estimate.tokens_out),
            cached=len(known) + self._repeated,
            seconds=estimate.seconds / self._options.parallel,
            basis=basis,
            margin=estimate.margin,
            known=self._usage(len(known), sum(cost.tokens_in for cost in known), self._known_tokens_out()),
        )

    def _ask_sample(self) -> ReplyStatistics:
        """Send growing samples until the estimate is precise or a limit is reached; return their statistics."""
        order = [(_inverted(inverted), passage) for inverted, passage in sorted(self._sample, reverse=True)]
        sampled: dict[bytes, ReplyCost] = {}
        known = sum(digest in self._costs for digest, _ in order)
        sizes = list(iter_sample_sizes(self._sample_size, chunks=len(self._estimates)))
        for size in [size for size in sizes if size >= known] or sizes[-1:]:
            part = dict(order[len(sampled) : size])
            unknown = {passage: digest for digest, passage in part.items() if digest not in self._costs}
            if unknown:
                sampled |= self._ask(unknown)
                self._costs |= self._replies.costs({digest: self._estimates[digest] for digest in unknown.values()})
            sampled |= {digest: self._costs[digest] for digest in part if digest in self._costs}
            statistics = ReplyStatistics.of(sampled.values())
            estimate = self._estimate_missing(statistics)
            if len(sampled) < size or (estimate and estimate.is_precise(sampled=self._known_tokens_out())):
                break
        return statistics

    def _missing(self) -> list[tuple[int, float]]:
        """Return the estimated tokens of question and reply of every passage without a reply."""
        return [estimate for digest, estimate in self._estimates.items() if digest not in self._costs]

    def _known_tokens_out(self) -> int:
        return sum(cost.tokens_out for cost in self._costs.values())

    def _estimate_missing(self, statistics: ReplyStatistics) -> UsageEstimate | None:
        missing = self._missing()
        question, reply = sum(tokens_in for tokens_in, _ in missing), sum(tokens_out for _, tokens_out in missing)
        return statistics.estimate(calls=len(missing), question=question, reply=reply)

    def _usage(self, calls: int, tokens_in: float, tokens_out: float) -> Usage:
        price, whole_in, whole_out = self._options.price, round(tokens_in), round(tokens_out)
        cost = cost_of(price, tokens_in=whole_in, tokens_out=whole_out)
        return Usage(calls=calls, tokens_in=whole_in, tokens_out=whole_out, cost=cost, unpriced=0 if price else calls)


def estimate_reply_tokens(passage: str) -> float:
    """Return the default estimate of a reply's tokens; in scripts without spaces, ten characters count as a name."""
    names = len(set(_NAMES.findall(passage))) + len(_UNSPACED_CHARACTER.findall(passage)) / 10
    return BASE_REPLY_TOKENS + REPLY_TOKENS_PER_NAME * names


def _inverted(digest: bytes) -> bytes:
    return bytes(255 - byte for byte in digest)
