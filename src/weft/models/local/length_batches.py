"""Batches of texts of similar length, so that padding is short."""

from __future__ import annotations

from collections.abc import Sequence

MIN_FILLED = 0.75
"""A text shorter than this share of the longest text of a batch starts a new batch. Padding is then about an eighth."""


def length_batches(lengths: Sequence[int], *, max_tokens: int) -> list[list[int]]:
    """
    Return the numbers of the texts in batches, the longest texts first.

    A batch has at most `max_tokens` tokens including padding; a longer text is a batch of its own.
    Example: texts of 5, 9, 4, 8 and 20 tokens give [[4], [1, 3], [0, 2]], which are 20, 9 and 8, 5 and 4 tokens.
    """
    batches: list[list[int]] = []
    longest = 0
    for number in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        is_full = not batches or (len(batches[-1]) + 1) * longest > max_tokens
        if is_full or lengths[number] < MIN_FILLED * longest:
            batches.append([])
            longest = lengths[number]
        batches[-1].append(number)
    return batches
