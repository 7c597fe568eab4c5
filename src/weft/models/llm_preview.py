"""What a language model would be asked, and what that would cost, without asking it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.models.base import Extractor
from weft.models.llm_prompt import Prompt
from weft.models.prices import Price, cost_of
from weft.models.reply_file import ReplyFile
from weft.records import Chunk, Document, Extraction, Usage
from weft.text.tokens import estimate_tokens

MIN_REPLIES = 20
"""Replies of a model to a prompt from which its habits are taken; before, they are guessed."""
REPLY_SHARE = 1.0
"""Tokens of a reply for each token of the chunk, where nothing is known of the model."""
REPLY_SECONDS = 5.0


class LlmPreview:
    """
    An extractor that reads with `inner` alone and counts which requests there would be.

    How long replies are, how long they take and how the model counts tokens is taken from those it gave before.
    """

    def __init__(
        self,
        inner: Extractor,
        *,
        name: str,
        prompt: Prompt,
        replies: ReplyFile,
        price: Price | None,
        parallel: int,
        digest: Callable[[str], bytes],
    ) -> None:
        self._inner = inner
        self._name = name
        self._prompt = prompt
        self._replies = replies
        self._price = price
        self._parallel = parallel
        self._digest = digest
        self._seen: set[bytes] = set()
        self._guessed = 0
        self._texts = 0
        self._calls = 0
        self._cached = 0

    @property
    def name(self) -> str:
        """That of the extractor it stands for, so that the same documents count as unchanged."""
        return self._name

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what `inner` reads; count what would be asked."""
        passages = {self._digest(p): (p, c) for c in chunks for p in [self._prompt.passage(document, c)]}
        known = self._replies.read(passages)
        for digest, (passage, chunk) in passages.items():
            if digest in known or digest in self._seen:
                self._cached += 1
                continue
            self._seen.add(digest)
            self._calls += 1
            self._guessed += estimate_tokens(self._prompt.system + passage)
            self._texts += estimate_tokens(chunk.text)
        return self._inner.extract(document, chunks)

    def take_usage(self) -> Usage:
        """Return what would be asked, and what it would cost."""
        habits = self._replies.habits()
        into, out, seconds = float(self._guessed), REPLY_SHARE * self._texts, REPLY_SECONDS * self._calls
        if habits.replies >= MIN_REPLIES:
            scale = self._guessed / habits.guessed
            into, out = habits.tokens_in * scale, habits.tokens_out * self._calls / habits.replies
            seconds = habits.seconds * self._calls / habits.replies
        tokens_in, tokens_out = round(into), round(out)
        return Usage(
            calls=self._calls,
            cached=self._cached,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost_of(self._price, tokens_in=tokens_in, tokens_out=tokens_out),
            unpriced=self._calls if self._price is None else 0,
            seconds=seconds / self._parallel,
        )
