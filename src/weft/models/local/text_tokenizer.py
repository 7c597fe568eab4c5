"""Tokenizer of a local model: texts to token ids, truncated to the model's maximum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.models.base import replace_surrogates

MAX_CHARACTERS_PER_TOKEN = 100
"""Upper bound of the average characters per token. Text beyond `max_tokens` times this bound is not tokenized."""


class TextTokenizer:
    """A verified tokenizer file in memory. Thread-safe."""

    def __init__(self, content: bytes, *, max_tokens: int) -> None:
        self._tokenizer = open_tokenizer(content)
        self._tokenizer.enable_truncation(max_tokens)
        self._max_characters = max_tokens * MAX_CHARACTERS_PER_TOKEN

    def encode(self, text: str) -> list[int]:
        """Return the token ids of one text, special tokens included."""
        ids: list[int] = self._tokenizer.encode(self._beginning(text)).ids
        return ids

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of texts, computed on all cores."""
        return [found.ids for found in self._tokenizer.encode_batch([self._beginning(text) for text in texts])]

    def _beginning(self, text: str) -> str:
        return replace_surrogates(text[: self._max_characters])


def open_tokenizer(content: bytes) -> Any:
    """Return the tokenizer of a verified file, with truncation and padding of the file disabled."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
