"""A language model as a judge: it is shown all passages at once and says in which order they help."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from weft.errors import BadModelOutput
from weft.models.base import ChatModel
from weft.models.llm_prompt import read_prompt
from weft.models.texts import encodable
from weft.text.json_replies import read_json
from weft.text.normalise import squeeze

VERSION = "rerank-1"
MAX_PASSAGE = 2000
"""Characters of a passage that are sent."""
MAX_QUESTION = 2000

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

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._prompt = read_prompt(VERSION)

    @property
    def name(self) -> str:
        """The model and the version of the prompt: `llm openai/gpt-4o-mini rerank-1`."""
        return f"llm {self._chat.name} {VERSION}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return scores that fall evenly from 1. Raises `ModelUnavailable`, or `BadModelOutput` for no ranking."""
        if not texts:
            return []
        reply = self._chat.ask(system=self._prompt["system"], user=self._user(query, texts), schema=SCHEMA)
        named = read_ranking(reply.text, count=len(texts))
        behind = [index for index in range(len(texts)) if index not in set(named)]
        places = {index: place for place, index in enumerate([*named, *behind])}
        return [1 - places[index] / len(texts) for index in range(len(texts))]

    def _user(self, query: str, texts: Sequence[str]) -> str:
        """Return what is asked. The markers are made from the texts, so no text can hold the one that ends it."""
        cut = [encodable(text)[:MAX_PASSAGE] for text in texts]
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
