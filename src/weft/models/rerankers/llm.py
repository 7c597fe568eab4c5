"""Reranker that requests the order of all passages from a language model in one request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from weft.errors import BadModelOutput
from weft.models.llm.json_replies import read_json
from weft.models.llm.passage_requests import PassageRequests

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"ranking": {"type": "array", "items": {"type": "integer"}}},
    "required": ["ranking"],
    "additionalProperties": False,
}

_LIST = re.compile(r"\[([\d\s,\"']*)(\]?)")


class LlmReranker(PassageRequests):
    """
    Asks a language model for the order of passages.

    A reply can only change the order: unknown and repeated numbers are ignored, and passages that it omits follow in
    their original order. A prompt injection in a passage can therefore move passages, but neither add nor remove one.
    """

    VERSION = "rerank-1"
    MAX_REPLY_TOKENS = 1000
    PURPOSE = "re-ranking"

    @property
    def name(self) -> str:
        """The model and the version of the prompt: `llm openai/gpt-4o-mini rerank-1`."""
        return f"llm {super().name}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """
        Return scores that decrease in equal steps from 1.

        Raises `ModelUnavailable`, also if a limit is reached, or `BadModelOutput` if the reply has no ranking.
        """
        if not texts:
            return []
        user = self._prompt.user(query, texts)
        with self._request(user) as request:
            request.reply = reply = self._chat.ask(system=self._prompt.system, user=user, schema=SCHEMA)
        ranked = read_ranking(reply.text, count=len(texts))
        unranked = [index for index in range(len(texts)) if index not in set(ranked)]
        ranks = {index: rank for rank, index in enumerate([*ranked, *unranked])}
        return [1 - ranks[index] / len(texts) for index in range(len(texts))]


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
