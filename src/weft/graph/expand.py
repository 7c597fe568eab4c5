"""Neighbourhood expansion: entities within one to three hops, with the best path and a score."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from weft.errors import InputError
from weft.graph.traversal import Fetch, GraphPath, Inverse, Step, advance, both_directions, strongest
from weft.records import Relation

MAX_HOPS = 3
FULL_WEIGHT = 10
"""Largest weight of a relation; the smallest is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entity reached from a seed, with the best path to it."""

    entity_id: str
    hops: int
    weight: float
    """Smallest relation weight on the path, 1 to 10."""
    path: tuple[Step, ...]
    """Steps from the seed to the entity."""


def graph_score(*, weight: float, hops: int, mentions: int) -> float:
    """
    Return the score of a chunk of a neighbour, 0 to 1.

    `weight/10 · 1/2^(hops−1) · (0.7 + 0.3·min(log2(mentions+1)/5, 1))`. `weight` is the smallest on the path, `hops`
    counts from 1, `mentions` is the total number of mentions of the neighbour.
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

    Relations are walked in both directions, breadth first. The best path to an entity has the fewest hops, then the
    largest minimum weight, then the smaller ids. It extends the best path to the previous entity. A relation with
    weight/10 below `min_graph_score` is not followed, at any distance.

    `rel_types` restricts the walk: a stored name allows both directions, an inverse name one direction, an empty list
    all types. Each hop continues from the `width` strongest entities at most. Seeds are not returned.
    """
    if not 1 <= max_hops <= MAX_HOPS:
        raise InputError(f"invalid max_hops: {max_hops!r}", hint=f"use a whole number from 1 to {MAX_HOPS}")
    level = {seed: GraphPath(strength=math.inf) for seed in seeds}
    seen, found = set(level), list[Neighbour]()
    for hops in range(1, max_hops + 1):
        if not level:
            break
        relations = [r for r in fetch(sorted(level)) if r.weight / FULL_WEIGHT >= min_graph_score]
        steps = _allowed_steps(relations, rel_types=frozenset(rel_types), inverse=inverse)
        reached = advance(level, steps=steps, seen=seen, combine=min)
        seen |= reached.keys()
        level = strongest(reached, width=width)
        found += [
            Neighbour(entity_id=id, hops=hops, weight=path.strength, path=path.steps) for id, path in level.items()
        ]
    return found


def _allowed_steps(relations: Sequence[Relation], *, rel_types: Collection[str], inverse: Inverse) -> list[Step]:
    """Return the steps whose stored type or inverse type is in `rel_types`; all steps if `rel_types` is empty."""
    return [
        step
        for relation in relations
        for step in both_directions([relation], inverse=inverse)
        if not rel_types or relation.type in rel_types or step.type in rel_types
    ]
