"""Token estimates without a tokenizer."""

from __future__ import annotations

import math
import re

from weft.text.normalise import UNSPACED

_DENSE = re.compile(f"[{UNSPACED}]")
_DENSE_RUNS = re.compile(f"[{UNSPACED}]+")
_PIECES = re.compile(r"[^\W\d_]+|\d+|[^\w\s]+|_+|\n+|[ \t]{2,}")


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of `text`: one per unspaced character, one per four other characters."""
    return -(-count_quarters(text) // 4)


def count_quarters(text: str) -> int:
    """Return the estimate in quarter tokens. The estimate is additive, since it is not rounded."""
    return len(text) if text.isascii() else len(text) + 3 * len(_DENSE.findall(text))


def guess_model_tokens(text: str) -> int:
    """
    Return the estimated tokens of `text` for a large language model.

    The estimate was fitted to the vocabularies of GPT-4, GPT-4o, Claude 2 and Mistral Nemo on English prose, papers,
    notes and code. The error is within 9 % for each model, and within 7 % for a text inside a prompt. A Chinese
    character counts as 1 token; the models range from 0.7 to 1.3.
    """
    dense = len(_DENSE.findall(text))
    pieces = _PIECES.findall(_DENSE_RUNS.sub(" ", text) if dense else text)
    return math.ceil(dense + sum(map(_weigh, pieces)))


def _weigh(piece: str) -> float:
    """Return the estimated tokens of one word, number, run of punctuation or run of white space."""
    first, size = piece[0], len(piece)
    if first.isalpha():
        if first.islower():
            count = 0.95 + 0.11 * max(size - 6, 0)
        elif size > 1 and piece.isupper():
            count = 1.45 + 0.08 * max(size - 3, 0)
        else:
            count = 1.3 + 0.08 * max(size - 5, 0)
        return count if piece.isascii() else count + 0.5 * sum(not character.isascii() for character in piece)
    if first.isdigit():
        return 1.3 * -(-size // 3)
    if first == "\n":
        return 0.6
    if first in " \t":
        return 0.12 * (size - 1)
    return 0.95 + 0.2 * (size - 1)


class EstimatingCounter:
    """Token counter for installations without a tokenizer."""

    def count(self, text: str) -> int:
        """Return the estimate for `text`."""
        return estimate_tokens(text)
