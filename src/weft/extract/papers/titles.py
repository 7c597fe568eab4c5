"""
Similarity of a paper title and a title quoted from memory.

| query | title | similarity |
| --- | --- | --- |
| `attention is all you need` | the same | 1 |
| `attention need` | `attention is all you need` | 0.82 |
| `attention is all we need` | `attention is all you need` | 0.76 |
| `resnet 50` | `resnet 101` | 0: a number of the query is missing |
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.extract.names import singular, words

MAX_TITLE_WORDS = 60
"""Maximum number of compared words of a title."""

SMALL_WORD_WEIGHT = 0.25
"""Weight of a small word; a content word has 1."""

_SMALL_WORDS = frozenset(
    "a an the of for in on to and or by with from at as is are its it into via using towards toward some".split()
)


def title_words(title: str) -> tuple[str, ...]:
    """Return the folded words of a title without a leading article; each CJK character is a word."""
    found = [singular(word.text) for word in words(title)[: MAX_TITLE_WORDS + 1]]
    return tuple(found[1:] if len(found) > 1 and found[0] in ("the", "a", "an") else found[:MAX_TITLE_WORDS])


def title_similarity(query: Sequence[str], title: Sequence[str]) -> float:
    """
    Return the similarity of two word sequences, 0 to 1; equal sequences give 1.

    The similarity is the mean of `2s / (w(query) + w(title))` and `s / w(query)`: w is the weight of a sequence, s that
    of the longest common subsequence. A missing word of the title lowers it little, a wrong word of the query much. A
    number of the query that is not in the title gives 0.
    """
    if not query or not title:
        return 0.0
    if any(word.isdigit() and word not in title for word in query):
        return 0.0
    shared = _common(query, title)
    of_both = 2 * shared / (_weight(query) + _weight(title))
    return (of_both + shared / _weight(query)) / 2


def _weight(found: Sequence[str]) -> float:
    return sum(map(_count, found))


def _count(word: str) -> float:
    return SMALL_WORD_WEIGHT if word in _SMALL_WORDS else 1.0


def _common(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the weight of the longest common subsequence."""
    before = [0.0] * (len(second) + 1)
    for word in first:
        row = [0.0]
        for place, other in enumerate(second):
            best = max(row[-1], before[place + 1])
            row.append(max(best, before[place] + _count(word)) if word == other else best)
        before = row
    return before[-1]
