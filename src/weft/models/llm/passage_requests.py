"""Requests of a language model about a question and passages, within limits and with a receipt."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from weft.errors import ModelUnavailable, StoreError
from weft.models.base import ChatModel, ChatReply
from weft.models.llm.budget import Account
from weft.models.llm.passage_prompt import PassagePrompt
from weft.records import LlmRun
from weft.text.tokens import guess_model_tokens

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class PassageRequest:
    """One request; its reply is set when it has arrived."""

    tokens_in: int
    """Estimate for the whole request."""
    reply: ChatReply | None = None


class PassageRequests:
    """
    Base of models that read passages.

    The limits of `budget`, which others of a process may share, apply to every request. `account` counts the requests
    of this model, and `record` stores its usage. A request has `overhead` tokens besides its text.
    """

    VERSION: ClassVar[str]
    """Version of the prompt."""
    MAX_REPLY_TOKENS: ClassVar[int]
    PURPOSE: ClassVar[str]
    """What is paid for, in messages: `re-ranking`."""

    def __init__(
        self,
        chat: ChatModel,
        *,
        budget: Account,
        account: Account,
        overhead: int = 0,
        record: Callable[[LlmRun], None] = lambda run: None,
    ) -> None:
        self._chat = chat
        self._prompt = PassagePrompt(self.VERSION)
        self._budget = budget
        self._account = account
        self._system_tokens = guess_model_tokens(self._prompt.system) + overhead
        self._record = record
        self._run = uuid.uuid4().hex
        self._record_lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model and the version of the prompt: `openai/gpt-4o-mini answer-1`."""
        return f"{self._chat.name} {self.VERSION}"

    def write_receipt(self) -> None:
        """Store the usage so far. A failure of the store is only logged, because the answer is still valid."""
        try:
            with self._record_lock:  # an earlier total must not overwrite a later one
                self._record(LlmRun(id=self._run, at=time.time(), model=self.name, usage=self._account.total))
        except StoreError as error:
            logger.warning("the cost of %s could not be stored: %s", self.PURPOSE, error)

    @contextmanager
    def _request(self, user: str, *, on_end: Callable[[], None] = lambda: None) -> Iterator[PassageRequest]:
        """Reserve the tokens of a request, and count those of its reply. Raises `ModelUnavailable` at a limit."""
        start = time.perf_counter()
        tokens_in = self._system_tokens + guess_model_tokens(user)
        tokens = {"tokens_in": tokens_in, "tokens_out": self.MAX_REPLY_TOKENS}
        if not self._budget.reserve(**tokens):
            self._account.note("bound reached")
            hint = f"raise llm.max_cost or llm.max_tokens; both also limit {self.PURPOSE}"
            raise ModelUnavailable(f"reached the limit of {self._budget.total.stopped}", hint=hint)
        request = PassageRequest(tokens_in=tokens_in)
        try:
            yield request
        finally:
            self._budget.settle(request.reply, **tokens)
            self._account.settle(request.reply, tokens_in=0, tokens_out=0)
            self._account.add(seconds=time.perf_counter() - start)
            on_end()
