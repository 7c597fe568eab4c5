"""Prompt about a question and numbered passages, from a versioned file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from weft.models.base import replace_surrogates
from weft.models.llm.prompt import read_prompt
from weft.text.normalise import squeeze

MAX_PASSAGE_CHARACTERS = 2000
MAX_QUESTION_CHARACTERS = 2000


class PassagePrompt:
    """Messages of one version. The markers contain a hash of the texts, so no text contains its own end marker."""

    def __init__(self, version: str) -> None:
        self._parts = read_prompt(version)

    @property
    def system(self) -> str:
        """System prompt: the same for every question."""
        return self._parts["system"]

    def user(self, query: str, texts: Sequence[str]) -> str:
        """Return the user message for a question and its passages, numbered from 1."""
        truncated = [replace_surrogates(text)[:MAX_PASSAGE_CHARACTERS] for text in texts]
        mark = hashlib.sha256("\n".join([query, *truncated]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        before, _, after = self._parts["passage"].partition("{text}")
        passages = []
        for number, text in enumerate(truncated, start=1):
            marker = f"=====passage {number} {mark}====="
            passages.append(f"{before.replace('{marker}', marker)}{text}{after.replace('{marker}', marker)}")
        head, _, end = self._parts["passages"].partition("{passages}")
        head = head.replace("{question}", squeeze(query)[:MAX_QUESTION_CHARACTERS])
        return f"{head}{chr(10).join(passages)}{end}"
