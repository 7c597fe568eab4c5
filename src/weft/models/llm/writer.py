"""Writer of answers: requests a few cited sentences from a language model and streams them."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

from weft.errors import ModelUnavailable, StoreError
from weft.models.base import ChatModel, ChatReply
from weft.models.llm.budget import Account
from weft.models.llm.passage_prompt import PassagePrompt
from weft.records import LlmRun
from weft.text.tokens import guess_model_tokens

logger = logging.getLogger(__name__)

VERSION = "answer-1"
MAX_REPLY_TOKENS = 500


class LlmWriter:
    """
    Writes an answer from passages with one request.

    The limits of `budget`, which all writers of a process share, apply to every request; `account` counts those of
    this writer, and `record` stores its usage.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        budget: Account,
        account: Account,
        overhead: int = 0,
        record: Callable[[LlmRun], None] = lambda run: None,
    ) -> None:
        """Create the writer. A request has `overhead` tokens besides its text."""
        self._chat = chat
        self._prompt = PassagePrompt(VERSION)
        self._budget = budget
        self._account = account
        self._overhead = overhead
        self._record = record
        self._run = uuid.uuid4().hex

    @property
    def name(self) -> str:
        """The model and the version of the prompt: `openai/gpt-4o-mini answer-1`."""
        return f"{self._chat.name} {VERSION}"

    def write(self, query: str, texts: Sequence[str]) -> Iterator[str]:
        """Yield the answer in pieces. Raises `ModelUnavailable`, also if a limit is reached, or `BadModelOutput`."""
        user, start = self._prompt.user(query, texts), time.perf_counter()
        tokens = {
            "tokens_in": guess_model_tokens(self._prompt.system + user) + self._overhead,
            "tokens_out": MAX_REPLY_TOKENS,
        }
        if not self._budget.reserve(**tokens):
            self._account.note("bound reached")
            hint = "raise llm.max_cost or llm.max_tokens; both also limit written answers"
            raise ModelUnavailable(f"reached the limit of {self._budget.total.stopped}", hint=hint)
        reply, text = None, ""
        stream = self._chat.stream(system=self._prompt.system, user=user)
        try:
            while reply is None:
                try:
                    piece = next(stream)
                except StopIteration as end:
                    reply = end.value
                else:
                    text += piece
                    yield piece
        finally:
            stream.close()
            if reply is None and text:  # abandoned, but paid for
                reply = ChatReply(
                    text=text,
                    tokens_in=tokens["tokens_in"],
                    tokens_out=guess_model_tokens(text),
                    is_guessed=True,
                )
            self._budget.settle(reply, **tokens)
            self._account.settle(reply, tokens_in=0, tokens_out=0)
            self._account.add(seconds=time.perf_counter() - start)
            self._write_receipt()

    def _write_receipt(self) -> None:
        """Store the usage so far. A failure of the store is only logged, because the answer is still valid."""
        try:
            self._record(LlmRun(id=self._run, at=time.time(), model=self.name, usage=self._account.total))
        except StoreError as error:
            logger.warning("the cost of an answer could not be stored: %s", error)
