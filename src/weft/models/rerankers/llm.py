"""Reranker that requests the order of all passages from a language model in one request."""

from __future__ import annotations

import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.errors import BadModelOutput, ModelUnavailable, StoreError
from weft.models.base import ChatModel, ChatReply
from weft.models.llm.budget import Account
from weft.models.llm.json_replies import read_json
from weft.models.llm.passage_prompt import PassagePrompt
from weft.records import LlmRun
from weft.text.tokens import guess_model_tokens

logger = logging.getLogger(__name__)

VERSION = "rerank-1"
MAX_REPLY_TOKENS = 1000

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"ranking": {"type": "array", "items": {"type": "integer"}}},
    "required": ["ranking"],
    "additionalProperties": False,
}

_LIST = re.compile(r"\[([\d\s,\"']*)(\]?)")


class LlmReranker:
    """
    Asks a language model for the order of passages.

    A reply can only change the order: unknown and repeated numbers are ignored, and passages that it omits follow in
    their original order. A prompt injection in a passage can therefore move passages, but neither add nor remove one.
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
        """
        Create the reranker.

        The limits of `budget`, which other rerankers may share, apply to every request. `account` counts the requests
        of this reranker, and `record` stores its usage. A request has `overhead` tokens besides its text.
        """
        self._chat = chat
        self._prompt = PassagePrompt(VERSION)
        self._budget = budget
        self._account = account
        self._overhead = overhead
        self._record = record
        self._run = uuid.uuid4().hex
        self._record_lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model and the version of the prompt: `llm openai/gpt-4o-mini rerank-1`."""
        return f"llm {self._chat.name} {VERSION}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """
        Return scores that decrease in equal steps from 1.

        Raises `ModelUnavailable`, also if a limit is reached, or `BadModelOutput` if the reply has no ranking.
        """
        if not texts:
            return []
        reply = self._ask(self._prompt.user(query, texts))
        ranked = read_ranking(reply.text, count=len(texts))
        unranked = [index for index in range(len(texts)) if index not in set(ranked)]
        ranks = {index: rank for rank, index in enumerate([*ranked, *unranked])}
        return [1 - ranks[index] / len(texts) for index in range(len(texts))]

    def write_receipt(self) -> None:
        """Store the usage so far. A failure of the store is only logged, because the answer is still valid."""
        try:
            with self._record_lock:  # an earlier total must not overwrite a later one
                self._record(LlmRun(id=self._run, at=time.time(), model=self.name, usage=self._account.total))
        except StoreError as error:
            logger.warning("the cost of re-ranking could not be stored: %s", error)

    def _ask(self, user: str) -> ChatReply:
        system, start = self._prompt.system, time.perf_counter()
        tokens = {"tokens_in": guess_model_tokens(system + user) + self._overhead, "tokens_out": MAX_REPLY_TOKENS}
        if not self._budget.reserve(**tokens):
            self._account.note("bound reached")
            hint = "raise llm.max_cost or llm.max_tokens; both also limit re-ranking"
            raise ModelUnavailable(f"reached the limit of {self._budget.total.stopped}", hint=hint)
        reply = None
        try:
            reply = self._chat.ask(system=system, user=user, schema=SCHEMA)
        finally:
            self._budget.settle(reply, **tokens)
            self._account.settle(reply, tokens_in=0, tokens_out=0)
            self._account.add(seconds=time.perf_counter() - start)
        return reply


def read_ranking(reply: str, *, count: int) -> list[int]:
    """Return the distinct passages that a reply ranks, as indices from 0. Raises `BadModelOutput` if there are none."""
    ranked = dict.fromkeys(number - 1 for number in _numbers(reply) if 1 <= number <= count)
    if not ranked:
        raise BadModelOutput(f"the reply ranks no passage: {reply[:80]!r}", hint="set llm.model to another model")
    return list(ranked)


def _numbers(reply: str) -> Iterator[int]:
    try:
        found, _ = read_json(reply)
        ranking = found.get("ranking")
    except ValueError:  # a list without an object, perhaps truncated: its last number may then be incomplete
        match = _LIST.search(reply)
        digits = re.findall(r"\d+", match[1]) if match else []
        ranking = digits if match and match[2] else digits[:-1]
    for item in ranking if isinstance(ranking, list) else ():
        if type(item) is int:
            yield item
        elif isinstance(item, str) and item.strip().isdecimal() and len(item) < 10:
            yield int(item)
