"""What a language model would be asked, and what that would cost, without asking it."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from weft.models.base import Extractor
from weft.models.llm.prices import Price, cost_of
from weft.models.llm.reply_cache import ReplyFile
from weft.models.llm.statistics import Expected, Habits, Paid, iter_sizes
from weft.records import Chunk, Document, Extraction, Usage
from weft.text.normalise import UNSPACED

REPLY_TOKENS = 100
REPLY_SHARE = 31
"""
Tokens of a reply, and more of them for each name and number in the chunk, where nothing is known of the model.

What GPT-3.5 once read in passages of musique-train and 2wiki-dev comes to that in the form asked for, each description
a sentence of the passage.
"""
REPLY_SECONDS = 5.0


_NAMES = re.compile(r"\b[A-Z]\w+|\d+")
_DENSE = re.compile(f"[{UNSPACED}]")


class HowAsked(Protocol):
    """What of how a model is asked its cost depends on."""

    @property
    def parallel(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def price(self) -> Price | None: ...


class LlmPreview:
    """
    An extractor that reads with `inner` alone and counts which requests there would be.

    How long replies are, how long they take and how the model counts tokens is taken from those it gave before, or to a
    `sample` of so many chunks at most, about which `ask` asks until the estimate is sure.
    """

    def __init__(
        self,
        inner: Extractor,
        *,
        name: str,
        passage: Callable[[Document, Chunk], str],
        replies: ReplyFile,
        asking: HowAsked,
        digest: Callable[[str], bytes],
        guess: Callable[[str], tuple[int, float]],
        sample: int,
        ask: Callable[[Mapping[str, bytes]], Mapping[bytes, Paid]],
    ) -> None:
        """Open it. `guess` tells the tokens of a question and of its reply; `ask` what unreadable replies have cost."""
        self._inner = inner
        self._name = name
        self._passage = passage
        self._replies = replies
        self._asking = asking
        self._digest = digest
        self._guess = guess
        self._sample_size = sample
        self._ask = ask
        self._guesses: dict[bytes, tuple[int, float]] = {}
        """Of each chunk, the tokens of the question and those of the reply, as guessed."""
        self._known: dict[bytes, Paid] = {}
        """What the replies that are there have cost."""
        self._sample: list[tuple[bytes, str]] = []
        """
        The smallest digests negated, which is chance, with what would be sent.

        Chunks whose reply is known are among them: whoever asks for the same sample again pays nothing.
        """
        self._repeated = 0

    @property
    def name(self) -> str:
        """That of the extractor it stands for, so that the same documents count as unchanged."""
        return self._name

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what `inner` reads; count what would be asked."""
        passages = {self._digest(p): p for p in (self._passage(document, chunk) for chunk in chunks)}
        new = {digest: passage for digest, passage in passages.items() if digest not in self._guesses}
        self._repeated += len(passages) - len(new)
        guesses = {digest: self._guess(passage) for digest, passage in new.items()}
        self._guesses |= guesses
        self._known |= self._replies.paid(guesses)
        for digest, passage in new.items() if self._sample_size else ():
            keep = heapq.heappush if len(self._sample) < self._sample_size else heapq.heappushpop
            keep(self._sample, (_inverted(digest), passage))
        return self._inner.extract(document, chunks)

    def take_usage(self) -> Usage:
        """Return what would be asked, and what it would cost; first the sample is asked about, and is not counted."""
        habits = self._ask_sample() if self._sample else self._replies.habits()
        expected = self._expect(habits)
        basis = habits.replies if expected else 0
        missing = self._missing()
        if expected is None:
            question = sum(guessed for guessed, _ in missing)
            reply = sum(min(guessed, self._asking.output_tokens) for _, guessed in missing)
            expected = Expected(tokens_in=question, tokens_out=reply, seconds=REPLY_SECONDS * len(missing))
        known = self._known.values()
        return replace(
            self._usage(len(missing), expected.tokens_in, expected.tokens_out),
            cached=len(known) + self._repeated,
            seconds=expected.seconds / self._asking.parallel,
            basis=basis,
            margin=expected.margin,
            known=self._usage(len(known), sum(paid.tokens_in for paid in known), self._paid()),
        )

    def _ask_sample(self) -> Habits:
        """Ask about more and more chunks until they tell enough, or a bound is reached; return what they were like."""
        order = [(_inverted(inverted), passage) for inverted, passage in sorted(self._sample, reverse=True)]
        told: dict[bytes, Paid] = {}
        known = sum(digest in self._known for digest, _ in order)
        sizes = list(iter_sizes(self._sample_size, chunks=len(self._guesses)))
        for size in [size for size in sizes if size >= known] or sizes[-1:]:
            part = dict(order[len(told) : size])
            unknown = {passage: digest for digest, passage in part.items() if digest not in self._known}
            if unknown:
                told |= self._ask(unknown)
                self._known |= self._replies.paid({digest: self._guesses[digest] for digest in unknown.values()})
            told |= {digest: self._known[digest] for digest in part if digest in self._known}
            habits = Habits.of(told.values())
            expected = self._expect(habits)
            if len(told) < size or (expected and expected.is_sure(paid=self._paid())):
                break
        return habits

    def _missing(self) -> list[tuple[int, float]]:
        return [guess for digest, guess in self._guesses.items() if digest not in self._known]

    def _paid(self) -> int:
        return sum(paid.tokens_out for paid in self._known.values())

    def _expect(self, habits: Habits) -> Expected | None:
        missing = self._missing()
        question, reply = sum(guessed for guessed, _ in missing), sum(guessed for _, guessed in missing)
        return habits.expect(calls=len(missing), question=question, reply=reply)

    def _usage(self, calls: int, tokens_in: float, tokens_out: float) -> Usage:
        price, into, out = self._asking.price, round(tokens_in), round(tokens_out)
        cost = cost_of(price, tokens_in=into, tokens_out=out)
        return Usage(calls=calls, tokens_in=into, tokens_out=out, cost=cost, unpriced=0 if price else calls)


def expect_reply(passage: str) -> float:
    """Return how many tokens the reply to a passage might have; without capitals, every tenth character is a name."""
    return REPLY_TOKENS + REPLY_SHARE * (len(set(_NAMES.findall(passage))) + len(_DENSE.findall(passage)) / 10)


def _inverted(digest: bytes) -> bytes:
    return bytes(255 - byte for byte in digest)
