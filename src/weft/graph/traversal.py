"""Breadth-first traversal of relations, one hop at a time, with the best path to each entity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.records import Relation

Fetch: TypeAlias = Callable[[Sequence[str]], Sequence[Relation]]
"""Returns the relations with any of these entities at either end. The store limits their number."""

Inverse: TypeAlias = Callable[[str], str]
"""Returns the name of a relation type from its other end: `depended_on_by` for `depends_on`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One relation in the direction it is walked."""

    source_id: str
    """Start of the step: the target of the relation if the direction is `in`."""
    type: str
    """Relation type; the inverse type if the relation is followed backwards."""
    weight: float
    target_id: str
    direction: Literal["out", "in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPath:
    """A sequence of steps to an entity, or from it, with their combined strength."""

    strength: float
    steps: tuple[Step, ...] = ()

    @property
    def order(self) -> tuple[float, tuple[tuple[str, str, str, str], ...]]:
        """Sort key for paths of equal length: stronger first, then ids and types of the steps."""
        ids = tuple((step.source_id, step.target_id, step.type, step.direction) for step in self.steps)
        return round(-self.strength, 12), ids  # rounded: a floating-point product depends on the order of its factors


def both_directions(relations: Iterable[Relation], *, inverse: Inverse) -> Iterator[Step]:
    """Yield two steps per relation: forwards and backwards."""
    for relation in relations:
        source, target, weight = relation.source_id, relation.target_id, relation.weight
        yield Step(source_id=source, type=relation.type, weight=weight, target_id=target, direction="out")
        yield Step(source_id=target, type=inverse(relation.type), weight=weight, target_id=source, direction="in")


def advance(
    level: Mapping[str, GraphPath],
    *,
    steps: Iterable[Step],
    seen: Collection[str],
    combine: Callable[[float, float], float],
    against: bool = False,
) -> dict[str, GraphPath]:
    """
    Return the best path to each entity one hop from `level`, except entities in `seen`.

    `combine` returns the strength of the longer path from the strength of a path and the weight of a step. With
    `against`, steps are followed from target to source, and each path starts at the new entity.
    """
    reached: dict[str, GraphPath] = {}
    for step in steps:
        near, far = (step.target_id, step.source_id) if against else (step.source_id, step.target_id)
        if near not in level or far in seen:
            continue
        path = level[near]
        longer_steps = (step, *path.steps) if against else (*path.steps, step)
        longer = GraphPath(strength=combine(path.strength, step.weight), steps=longer_steps)
        if far not in reached or longer.order < reached[far].order:
            reached[far] = longer
    return reached


def strongest(paths: Mapping[str, GraphPath], *, width: int) -> dict[str, GraphPath]:
    """Return the `width` strongest paths, strongest first, ties to the smaller id: the next frontier."""
    ordered = sorted(paths.items(), key=lambda item: (round(-item[1].strength, 12), item[0]))
    return dict(ordered[:width])
