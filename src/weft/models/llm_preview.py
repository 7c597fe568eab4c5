"""What a language model would be asked, and what that would cost, without asking it."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from weft.models.base import Extractor
from weft.models.llm_habits import Expected
from weft.models.prices import Price, cost_of
from weft.models.reply_file import ReplyFile
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
    `sample` of the chunks, about which `ask` asks.
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
        guess: Callable[[str], int],
        sample: int,
        ask: Callable[[Mapping[str, bytes]], None],
    ) -> None:
        self._inner = inner
        self._name = name
        self._passage = passage
        self._replies = replies
        self._asking = asking
        self._digest = digest
        self._guess = guess
        self._sample_size = sample
        self._ask = ask
        self._missing: dict[bytes, tuple[int, float]] = {}
        """Of each chunk that would be asked about, the tokens of the question and those of the reply, as guessed."""
        self._sample: list[tuple[bytes, str]] = []
        """The smallest digests negated, which is chance, with what would be sent."""
        self._cached = 0

    @property
    def name(self) -> str:
        """That of the extractor it stands for, so that the same documents count as unchanged."""
        return self._name

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what `inner` reads; count what would be asked."""
        passages = {self._digest(p): p for p in (self._passage(document, chunk) for chunk in chunks)}
        known = self._replies.read(passages)
        for digest, passage in passages.items():
            if digest in known or digest in self._missing:
                self._cached += 1
                continue
            self._missing[digest] = self._guess(passage), expect_reply(passage)
            if self._sample_size:
                keep = heapq.heappush if len(self._sample) < self._sample_size else heapq.heappushpop
                keep(self._sample, (_inverted(digest), passage))
        return self._inner.extract(document, chunks)

    def take_usage(self) -> Usage:
        """Return what would be asked, and what it would cost; first the sample is asked about, and is not counted."""
        if self._sample:
            self._ask({passage: _inverted(inverted) for inverted, passage in self._sample})
            for digest in self._replies.read(_inverted(inverted) for inverted, _ in self._sample):
                del self._missing[digest]
                self._cached += 1
            self._sample = []
        habits = self._replies.habits()
        calls = len(self._missing)
        question, reply = (float(sum(guessed[part] for guessed in self._missing.values())) for part in (0, 1))
        expected = habits.expect(calls=calls, question=question, reply=reply)
        basis = habits.replies if expected else 0
        if expected is None:
            reply = sum(min(guessed, self._asking.output_tokens) for _, guessed in self._missing.values())
            expected = Expected(tokens_in=question, tokens_out=reply, seconds=REPLY_SECONDS * calls, margin=0.0)
        tokens_in, tokens_out = round(expected.tokens_in), round(expected.tokens_out)
        return Usage(
            calls=calls,
            cached=self._cached,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost_of(self._asking.price, tokens_in=tokens_in, tokens_out=tokens_out),
            unpriced=calls if self._asking.price is None else 0,
            seconds=expected.seconds / self._asking.parallel,
            basis=basis,
            margin=expected.margin,
        )


def expect_reply(passage: str) -> float:
    """Return how many tokens the reply to a passage might have; without capitals, every tenth character is a name."""
    return REPLY_TOKENS + REPLY_SHARE * (len(set(_NAMES.findall(passage))) + len(_DENSE.findall(passage)) / 10)


def _inverted(digest: bytes) -> bytes:
    return bytes(255 - byte for byte in digest)
