"""Relations derived from chunks that mention two entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from weft.extract.links.page_keys import is_page_key
from weft.extract.mentions import CO_OCCURS, MAX_SUPPORT, MENTIONS, derived_weight
from weft.records import Relation
from weft.store.shared.merging import join_relations, join_tie_ranks, tie_rank

MAX_COUNTED_CHUNKS = 200
"""Chunks of a name in which other names are counted: those about it first, then those with most mentions."""


class Shared(NamedTuple):
    """Number of chunks of one name that mention another."""

    id: str
    """Entity of the first name."""
    key: str
    other_id: str
    other_key: str
    together: int
    """Chunks with both names in a sentence."""
    outgoing: int
    """Chunks about the first entity, but not about the other."""
    incoming: int
    """Chunks about the other entity, but not about the first."""


def weigh_shared(rows: Iterable[Shared], *, limit: int) -> list[Relation]:
    """
    Return derived relations, strongest first: of each name the strongest `limit` in each direction.

    Ties have the order of stated relations.

    A chunk about A that mentions B gives `A mentions B`. Pages do so through their titles, so they are left out.
    """
    found: dict[tuple[str, bool], list[tuple[float, int, str, str, tuple[str, str, str]]]] = defaultdict(list)
    for row in rows:
        here, there = (row.key, row.id), (row.other_key, row.other_id)
        tie = join_tie_ranks(tie_rank(row.id), tie_rank(row.other_id))
        kinds = [(CO_OCCURS, row.together, min(here, there), max(here, there))]
        kinds += [(MENTIONS, row.outgoing, here, there)] if not is_page_key(row.key) else []
        kinds += [(MENTIONS, row.incoming, there, here)] if not is_page_key(row.other_key) else []
        for type, support, source, target in kinds:
            if support:
                weight = derived_weight(type, support=min(support, MAX_SUPPORT))
                relation = source[1], target[1], type
                found[row.key, source == here].append((-weight, tie, source[0], target[0], relation))
    strongest = (item for items in found.values() for item in sorted(items)[:limit])
    return join_relations((relation, -weight) for weight, _, _, _, relation in strongest)
