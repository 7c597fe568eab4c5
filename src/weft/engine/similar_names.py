"""Suggestions of entities that may be the same, by typos in their names. Nothing is merged automatically."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

from weft.extract.typos import Typo, WrittenKey, find_typos, to_written_key
from weft.records import Entity
from weft.store.base import Graph

PAGE_ENTITIES = 500
"""Entities per read."""
MAX_CANDIDATE_PAIRS = 2000
"""Maximum number of compared pairs, longest names first."""
MAX_RELATIONS = 50
"""Maximum number of neighbours of an entity that are compared, strongest relations first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """Two entities that may be the same."""

    entity: Entity
    """The less frequent entity of the pair."""
    into: Entity
    why: str
    """Difference between the names."""
    shared: int
    """Number of common neighbours."""


def find_similar(graph: Graph, *, limit: int, on_step: Callable[[int], object] | None = None) -> list[Similar]:
    """
    Return pairs of entities that may be the same, the likeliest first; `on_step` gets the number of entities read.

    The order is: equal types, common neighbours, fewer chunks (a typo seldom repeats), longer names, keys. Each entity
    is merged into at most one other.
    """
    longest = nsmallest(
        MAX_CANDIDATE_PAIRS, find_typos(_names(graph, on_step)), key=lambda typo: (-len(typo.first), typo)
    )
    refused = {frozenset((key, value)) for kind, key, value in graph.edits() if kind == "unmerge"}
    typos = [typo for typo in longest if frozenset((typo.first, typo.second)) not in refused]
    known = _read(graph, typos)
    near = _neighbours(graph, [entity.id for entity in known.values()])
    pairs = [_pair(typo, known, near) for typo in typos if typo.first in known and typo.second in known]
    best: dict[str, Similar] = {}
    for pair in sorted(pairs, key=_likeliness):
        best.setdefault(pair.entity.id, pair)
    return list(islice(best.values(), limit))


def _names(graph: Graph, on_step: Callable[[int], object] | None) -> Iterator[WrittenKey]:
    after = ""
    while page := graph.entities_after(after, limit=PAGE_ENTITIES):
        yield from (to_written_key(entity.key, entity.name) for entity in page)
        after = page[-1].key
        if on_step:
            on_step(len(page))


def _read(graph: Graph, typos: Sequence[Typo]) -> dict[str, Entity]:
    """Return entities by key. Entities that were merged or deleted since are left out."""
    keys = sorted({key for typo in typos for key in (typo.first, typo.second)})
    found: dict[str, Entity] = {}
    for at in range(0, len(keys), PAGE_ENTITIES):
        found |= graph.find_entities(keys[at : at + PAGE_ENTITIES])
    return {key: entity for key, entity in found.items() if entity.key == key}


def _neighbours(graph: Graph, ids: Sequence[str]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for at in range(0, len(ids), PAGE_ENTITIES):
        page = ids[at : at + PAGE_ENTITIES]
        found = graph.relations_of(page, limit=MAX_RELATIONS) + graph.co_occurrences(page, limit=MAX_RELATIONS)
        for relation in found:
            near[relation.source_id].add(relation.target_id)
            near[relation.target_id].add(relation.source_id)
    return near


def _pair(typo: Typo, known: Mapping[str, Entity], near: Mapping[str, set[str]]) -> Similar:
    first, second = known[typo.first], known[typo.second]
    # Names from metadata fields occur in no chunk; the spelling with more relations is then the usual one.
    size = {one.id: len(near.get(one.id, ())) for one in (first, second)}
    into, entity = sorted((first, second), key=lambda one: (-one.chunks, -one.mentions, -size[one.id], one.key))
    shared = near.get(first.id, set()) & near.get(second.id, set())
    return Similar(entity=entity, into=into, why=typo.how, shared=len(shared - {first.id, second.id}))


def _likeliness(pair: Similar) -> tuple[bool, bool, int, int, str, str]:
    types = {pair.entity.type, pair.into.type} - {""}
    return len(types) > 1, not pair.shared, pair.entity.chunks, -len(pair.entity.key), pair.entity.key, pair.into.key
