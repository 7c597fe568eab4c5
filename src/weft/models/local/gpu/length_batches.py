"""Batches of texts of similar length, so that padding is short."""

from __future__ import annotations

from collections.abc import Sequence

MIN_FILLED = 0.75
"""A text shorter than this share of the longest text of a batch starts a new batch. Padding is then about an eighth."""


def length_batches(lengths: Sequence[int], *, max_tokens: int, min_tokens: int = 0) -> list[list[int]]:
    """
    Return the numbers of the texts in batches, the longest texts first.

    A batch has at most `max_tokens` tokens including padding; a longer text is a batch of its own. A batch with fewer
    than `min_tokens` takes shorter texts too, because a batch has a fixed cost. Example: texts of 5, 9, 4, 8 and 20
    tokens give [[4], [1, 3], [0, 2]] with `min_tokens` 0, which are 20, 9 and 8, 5 and 4 tokens.
    """
    batches: list[list[int]] = []
    longest = 0
    for number in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        padded = len(batches[-1]) * longest if batches else max_tokens
        is_shorter = lengths[number] < MIN_FILLED * longest and padded >= min_tokens
        if not batches or padded + longest > max_tokens or is_shorter:
            batches.append([])
            longest = lengths[number]
        batches[-1].append(number)
    return batches
