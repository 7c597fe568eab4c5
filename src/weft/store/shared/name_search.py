"""
Limits of the search for mentions of a name in chunks that do not propose it.

A popular name is proposed by enough chunks. The words of a rare one are in few chunks, whose texts are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from weft.extract.links.page_keys import is_page_key
from weft.extract.mentions import count_mentions, required_terms
from weft.extract.names import LazyWords, match_names
from weft.records import CODE_PREFIX
from weft.store.base import MIN_COMMON_TERM_CHUNKS

MIN_STATED_CHUNKS = 4
"""Number of proposing chunks from which a name is not searched."""

MAX_RARE_CHUNKS = 64
"""Maximum number of chunks with the rarest word of a searched name."""

MAX_EXAMINED_CHUNKS = 16
"""Texts read for a name: of the chunks with its words, the first by id."""


def is_searched(key: str, *, stated: int, limit: int) -> bool:
    """Return True if further mentions of a name are searched, which `stated` chunks propose."""
    if stated >= min(limit, MIN_STATED_CHUNKS):
        return False
    return not (key.startswith(CODE_PREFIX) or is_page_key(key))  # no text contains these


def choose_terms(key: str, counts: Mapping[str, int]) -> Sequence[Collection[str]]:
    """
    Return groups of terms; a chunk that may mention the name contains a term of each. Empty if it is not searched.

    `counts` are the numbers of chunks with each term. Common words are left to the text.
    """
    sizes = [(sum(counts.get(term, 0) for term in group), group) for group in required_terms(key)]
    if not sizes or not all(size for size, _ in sizes) or min(size for size, _ in sizes) > MAX_RARE_CHUNKS:
        return []
    return [group for size, group in sizes if size < MIN_COMMON_TERM_CHUNKS]


def count_alone(text: str, key: str, *, longer: Iterable[tuple[str, int]]) -> int:
    """
    Return the number of mentions of a name in a text that are not part of a longer one: `Paris` in `Paris Hilton`.

    `longer` are names of entities that the chunk proposes, with their number of mentions.
    """
    inside = sum(count for other, count in longer if _contains(other, key))
    return max(0, count_mentions(text, key) - inside)


def find_written(found: LazyWords, *, known: Collection[str], stated: Collection[str]) -> dict[str, int]:
    """Return the number of mentions of `known` names in a chunk that does not propose them; it proposes `stated`."""
    counts = Counter(key for key, _, _ in match_names(found, {*known, *stated}))
    return {key: count for key, count in counts.items() if key not in stated}


def _contains(longer: str, key: str) -> bool:
    return f" {key} " in f" {longer} " if key.isascii() else key in longer
