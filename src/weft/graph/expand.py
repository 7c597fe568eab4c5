"""Neighbourhood expansion: which entities are one to three hops away, over which path, and what that is worth."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from weft.errors import InputError
from weft.graph.traversal import Fetch, Inverse, Step, Trail, advance, both_ways, strongest
from weft.records import Relation

MAX_HOPS = 3
FULL_WEIGHT = 10
"""The weight of the strongest relation; the scale starts at 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entity reached from a seed, and the best path there."""

    entity_id: str
    hops: int
    weight: float
    """The smallest on the path, 1 to 10."""
    path: tuple[Step, ...]
    """From the seed to the entity."""


def graph_score(*, weight: float, hops: int, mentions: int) -> float:
    """
    Return what a chunk of a neighbour is worth, 0 to 1.

    `weight/10 · 1/2^(hops−1) · (0.7 + 0.3·min(log2(mentions+1)/5, 1))`, with the smallest weight on the path, hops
    from 1, and how often the neighbour is mentioned in all.
    """
    known = min(math.log2(mentions + 1) / 5, 1)
    return weight / FULL_WEIGHT * 0.5 ** (hops - 1) * (0.7 + 0.3 * known)


def neighbourhood(
    seeds: Sequence[str],
    *,
    fetch: Fetch,
    inverse: Inverse,
    max_hops: int = 1,
    min_graph_score: float = 0.3,
    rel_types: Sequence[str] = (),
    width: int = 200,
) -> list[Neighbour]:
    """
    Return the entities within `max_hops` (1 to 3) of any seed, nearest first, then strongest, then by id.

    Relations are walked in both directions, breadth first. Of several paths to an entity the best has the fewest
    hops, then the largest minimum weight, then the smaller ids; it extends the best path to the entity before.
    A relation of weight/10 below `min_graph_score` is not walked; distance does not count there, so that hops
    2 and 3 can appear. `rel_types` are the types to walk, stored names for both directions, inverse names for
    one; empty for all. No hop goes on from more than the `width` strongest entities. Seeds are not reported.
    """
    if not 1 <= max_hops <= MAX_HOPS:
        raise InputError(f"max_hops is {max_hops!r}", hint=f"give a whole number from 1 to {MAX_HOPS}")
    level = {seed: Trail(strength=math.inf) for seed in seeds}
    seen, found = set(level), list[Neighbour]()
    for hops in range(1, max_hops + 1):
        if not level:
            break
        relations = [r for r in fetch(sorted(level)) if r.weight / FULL_WEIGHT >= min_graph_score]
        steps = _wanted(relations, rel_types=frozenset(rel_types), inverse=inverse)
        reached = advance(level, steps=steps, seen=seen, combine=min)
        seen |= reached.keys()
        level = strongest(reached, width=width)
        found += [
            Neighbour(entity_id=id, hops=hops, weight=trail.strength, path=trail.steps) for id, trail in level.items()
        ]
    return found


def _wanted(relations: Sequence[Relation], *, rel_types: Collection[str], inverse: Inverse) -> list[Step]:
    """Return the steps of the types asked for, by the name stored or the name as walked."""
    return [
        step
        for relation in relations
        for step in both_ways([relation], inverse=inverse)
        if not rel_types or relation.type in rel_types or step.type in rel_types
    ]
