"""Entities that may be one under two names, as suggestions: nothing is merged by likeness alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

from weft.extract.typos import Slip, Written, find_slips, written
from weft.records import Entity
from weft.store.base import Graph

PAGE = 500
"""Entities read at once."""
CANDIDATES = 2000
"""Pairs, the longest names first, whose entities are looked at."""
EDGES = 50
"""Strongest relations in which neighbours are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """Two entities that may be one."""

    entity: Entity
    """The one that fewer chunks mention."""
    into: Entity
    why: str
    """How their names differ."""
    shared: int
    """Entities that both are related to."""


def find_similar(graph: Graph, *, limit: int, on_step: Callable[[int], object] | None = None) -> list[Similar]:
    """
    Return pairs of entities that may be one, the likeliest first; `on_step` is told how many more were looked at.

    Likelier are those of one type, those related to the same, those that are rare (a slip seldom happens twice), and
    long names; equal ones come by key. No entity is to be merged into two others.
    """
    longest = nsmallest(CANDIDATES, find_slips(_names(graph, on_step)), key=lambda slip: (-len(slip.first), slip))
    refused = {frozenset((key, value)) for kind, key, value in graph.edits() if kind == "unmerge"}
    slips = [slip for slip in longest if frozenset((slip.first, slip.second)) not in refused]
    known = _read(graph, slips)
    near = _neighbours(graph, [entity.id for entity in known.values()])
    pairs = [_pair(slip, known, near) for slip in slips if slip.first in known and slip.second in known]
    best: dict[str, Similar] = {}
    for pair in sorted(pairs, key=_likeliness):
        best.setdefault(pair.entity.id, pair)
    return list(islice(best.values(), limit))


def _names(graph: Graph, on_step: Callable[[int], object] | None) -> Iterator[Written]:
    after = ""
    while page := graph.entities_after(after, limit=PAGE):
        yield from (written(entity.key, entity.name) for entity in page)
        after = page[-1].key
        if on_step:
            on_step(len(page))


def _read(graph: Graph, slips: Sequence[Slip]) -> dict[str, Entity]:
    """Return entities by key; what was merged or deleted meanwhile is left out."""
    keys = sorted({key for slip in slips for key in (slip.first, slip.second)})
    found: dict[str, Entity] = {}
    for at in range(0, len(keys), PAGE):
        found |= graph.find_entities(keys[at : at + PAGE])
    return {key: entity for key, entity in found.items() if entity.key == key}


def _neighbours(graph: Graph, ids: Sequence[str]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for at in range(0, len(ids), PAGE):
        for relation in graph.relations_of(ids[at : at + PAGE], limit=EDGES):
            near[relation.source_id].add(relation.target_id)
            near[relation.target_id].add(relation.source_id)
    return near


def _pair(slip: Slip, known: Mapping[str, Entity], near: Mapping[str, set[str]]) -> Similar:
    first, second = known[slip.first], known[slip.second]
    # what is named in fields alone stands in no chunk: then the one with more relations is the usual spelling
    size = {one.id: len(near.get(one.id, ())) for one in (first, second)}
    into, entity = sorted((first, second), key=lambda one: (-one.chunks, -one.mentions, -size[one.id], one.key))
    shared = near.get(first.id, set()) & near.get(second.id, set())
    return Similar(entity=entity, into=into, why=slip.how, shared=len(shared - {first.id, second.id}))


def _likeliness(pair: Similar) -> tuple[bool, bool, int, int, str, str]:
    types = {pair.entity.type, pair.into.type} - {""}
    return len(types) > 1, not pair.shared, pair.entity.chunks, -len(pair.entity.key), pair.entity.key, pair.into.key
