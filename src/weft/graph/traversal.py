"""Walking over relations, one hop at a time, and remembering the best way to each entity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.records import Relation

Fetch: TypeAlias = Callable[[Sequence[str]], Sequence[Relation]]
"""Give the relations that touch any of these entities, in either direction. The store bounds how many."""

Inverse: TypeAlias = Callable[[str], str]
"""Give the name of a relation type seen from its other end: `depends_on`, `depended_on_by`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One relation, as it is walked from one entity to the next."""

    source_id: str
    """Where the walk comes from, which is the relation's target when the direction is `in`."""
    type: str
    """The inverse name when walked against the relation's direction."""
    weight: float
    target_id: str
    direction: Literal["out", "in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The steps that lead to an entity, or from it, and how strong they are together."""

    strength: float
    steps: tuple[Step, ...] = ()

    @property
    def order(self) -> tuple[float, tuple[tuple[str, str, str, str], ...]]:
        """What trails of one length are sorted by: the stronger first, then by ids and types along the way."""
        ids = tuple((step.source_id, step.target_id, step.type, step.direction) for step in self.steps)
        return round(-self.strength, 12), ids  # rounded, as a product depends on the order of its factors


def both_ways(relations: Iterable[Relation], *, inverse: Inverse) -> Iterator[Step]:
    """Yield two steps for each relation: along it and against it."""
    for relation in relations:
        source, target, weight = relation.source_id, relation.target_id, relation.weight
        yield Step(source_id=source, type=relation.type, weight=weight, target_id=target, direction="out")
        yield Step(source_id=target, type=inverse(relation.type), weight=weight, target_id=source, direction="in")


def advance(
    level: Mapping[str, Trail],
    *,
    steps: Iterable[Step],
    seen: Collection[str],
    combine: Callable[[float, float], float],
    against: bool = False,
) -> dict[str, Trail]:
    """
    Return the best trail to every entity one step away from `level` that is not in `seen`.

    `combine` makes the strength of a trail and the weight of a step into that of the longer trail. `against`
    follows steps from their targets to their sources: then trails lead from the entities, not to them.
    """
    reached: dict[str, Trail] = {}
    for step in steps:
        near, far = (step.target_id, step.source_id) if against else (step.source_id, step.target_id)
        if near not in level or far in seen:
            continue
        trail = level[near]
        way = (step, *trail.steps) if against else (*trail.steps, step)
        longer = Trail(strength=combine(trail.strength, step.weight), steps=way)
        if far not in reached or longer.order < reached[far].order:
            reached[far] = longer
    return reached


def strongest(trails: Mapping[str, Trail], *, width: int) -> dict[str, Trail]:
    """Return the `width` strongest trails, strongest first: the frontier that is walked on from."""
    ordered = sorted(trails.items(), key=lambda item: (round(-item[1].strength, 12), item[0]))
    return dict(ordered[:width])
