"""How alike a title and what somebody remembers of it are."""

from __future__ import annotations

from collections.abc import Sequence

from weft.extract.names import singular, words

MAX_WORDS = 60
"""Words of a title that are compared."""

SMALL = 0.25
"""What a small word counts beside a telling one."""

_SMALL_WORDS = frozenset(
    "a an the of for in on to and or by with from at as is are its it into via using towards toward some".split()
)


def title_words(title: str) -> tuple[str, ...]:
    """Return the words of a title made comparable, without an article before them; each CJK character is one."""
    found = [singular(word.text) for word in words(title)[: MAX_WORDS + 1]]
    return tuple(found[1:] if len(found) > 1 and found[0] in ("the", "a", "an") else found[:MAX_WORDS])


def title_likeness(asked: Sequence[str], title: Sequence[str]) -> float:
    """
    Return how surely `asked`, words in the order of the title, means `title`, 0 to 1; equal words give 1.

    It is the mean of how much of both they share and of how much of what was asked is in the title, so that words left
    out cost little and words that are not there much. A number that the title does not have makes it another one.
    """
    if not asked or not title:
        return 0.0
    if any(word.isdigit() and word not in title for word in asked):
        return 0.0
    shared = _common(asked, title)
    of_both = 2 * shared / (_weight(asked) + _weight(title))
    return (of_both + shared / _weight(asked)) / 2


def _weight(found: Sequence[str]) -> float:
    return sum(map(_count, found))


def _count(word: str) -> float:
    return SMALL if word in _SMALL_WORDS else 1.0


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
