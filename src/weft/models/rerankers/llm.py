"""A language model as a judge: it is shown all passages at once and says in which order they help."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.errors import BadModelOutput, ModelUnavailable, StoreError
from weft.models.base import ChatModel, ChatReply, replace_surrogates
from weft.models.llm.budget import Account
from weft.models.llm.json_replies import read_json
from weft.models.llm.prompt import read_prompt
from weft.records import LlmRun
from weft.text.normalise import squeeze
from weft.text.tokens import guess_model_tokens

logger = logging.getLogger(__name__)

VERSION = "rerank-1"
MAX_PASSAGE = 2000
"""Characters of a passage that are sent."""
MAX_QUESTION = 2000
MAX_REPLY = 1000
"""Tokens of the longest reply: a list of numbers."""

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

    All a reply can do is to order them. Numbers of no passage, and those that come again, are not heard; passages it
    leaves out keep their order behind those it names. So text in a passage that gives orders may move passages, and
    cannot add or remove one.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        purse: Account,
        account: Account,
        overhead: int = 0,
        record: Callable[[LlmRun], None] = lambda run: None,
    ) -> None:
        """
        Open it. Nothing is asked that the bounds of the `purse`, which others may share, forbid.

        What was asked is counted in `account`, and `record` keeps that; a request has `overhead` tokens of its own.
        """
        self._chat = chat
        self._prompt = read_prompt(VERSION)
        self._purse = purse
        self._account = account
        self._overhead = overhead
        self._record = record
        self._run = uuid.uuid4().hex
        self._keeping = threading.Lock()

    @property
    def name(self) -> str:
        """The model and the version of the prompt: `llm openai/gpt-4o-mini rerank-1`."""
        return f"llm {self._chat.name} {VERSION}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """
        Return scores that fall evenly from 1.

        Raises `ModelUnavailable`, also where a bound is reached, or `BadModelOutput` for no ranking.
        """
        if not texts:
            return []
        reply = self._ask(self._user(query, texts))
        named = read_ranking(reply.text, count=len(texts))
        behind = [index for index in range(len(texts)) if index not in set(named)]
        places = {index: place for place, index in enumerate([*named, *behind])}
        return [1 - places[index] / len(texts) for index in range(len(texts))]

    def write_receipt(self) -> None:
        """Keep what was asked so far. A store that cannot be written to is no reason to lose an answer."""
        try:
            with self._keeping:  # one after the other: an earlier sum must not take the place of a later one
                self._record(LlmRun(id=self._run, at=time.time(), model=self.name, usage=self._account.total))
        except StoreError as error:
            logger.warning("what re-ranking cost could not be kept: %s", error)

    def _ask(self, user: str) -> ChatReply:
        system, start = self._prompt["system"], time.perf_counter()
        tokens = {"tokens_in": guess_model_tokens(system + user) + self._overhead, "tokens_out": MAX_REPLY}
        if not self._purse.reserve(**tokens):
            self._account.note("bound reached")
            hint = "llm.max_cost and llm.max_tokens bound the judge, too"
            raise ModelUnavailable(f"the bound of {self._purse.total.stopped} is reached", hint=hint)
        reply = None
        try:
            reply = self._chat.ask(system=system, user=user, schema=SCHEMA)
        finally:
            self._purse.settle(reply, **tokens)
            self._account.settle(reply, tokens_in=0, tokens_out=0)
            self._account.add(seconds=time.perf_counter() - start)
        return reply

    def _user(self, query: str, texts: Sequence[str]) -> str:
        """Return what is asked. The markers are made from the texts, so no text can hold the one that ends it."""
        cut = [replace_surrogates(text)[:MAX_PASSAGE] for text in texts]
        mark = hashlib.sha256("\n".join([query, *cut]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        before, _, after = self._prompt["passage"].partition("{text}")
        passages = []
        for number, text in enumerate(cut, start=1):
            marker = f"=====passage {number} {mark}====="
            passages.append(f"{before.replace('{marker}', marker)}{text}{after.replace('{marker}', marker)}")
        head, _, end = self._prompt["passages"].partition("{passages}")
        head = head.replace("{question}", squeeze(query)[:MAX_QUESTION])
        return f"{head}{chr(10).join(passages)}{end}"


def read_ranking(reply: str, *, count: int) -> list[int]:
    """Return the places of the passages that a reply names, from 0, each once. Raises `BadModelOutput` for none."""
    named = dict.fromkeys(number - 1 for number in _numbers(reply) if 1 <= number <= count)
    if not named:
        raise BadModelOutput(f"the reply ranks no passage: {reply[:80]!r}")
    return list(named)


def _numbers(reply: str) -> Iterator[int]:
    try:
        found, _ = read_json(reply)
        given = found.get("ranking")
    except ValueError:  # a bare list, or one that was cut off: the last number then may lack its end
        match = _LIST.search(reply)
        digits = re.findall(r"\d+", match[1]) if match else []
        given = digits if match and match[2] else digits[:-1]
    for item in given if isinstance(given, list) else ():
        if type(item) is int:
            yield item
        elif isinstance(item, str) and item.strip().isdecimal() and len(item) < 10:
            yield int(item)
