"""Best path between two entities, by bidirectional breadth-first search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.graph.traversal import Fetch, GraphPath, Inverse, Step, advance, both_directions, strongest


@dataclass(slots=True, kw_only=True)
class _Side:
    """Search state of one end: the frontier, and the best path to every visited entity."""

    level: dict[str, GraphPath]
    known: dict[str, GraphPath] = field(init=False)
    seen: set[str] = field(init=False)
    """Visited entities, including those removed from a frontier: longer paths to them are ignored."""

    def __post_init__(self) -> None:
        self.known, self.seen = dict(self.level), set(self.level)

    def move(self, reached: Mapping[str, GraphPath], *, width: int) -> None:
        """Make the strongest `width` of the reached entities the frontier."""
        self.level = strongest(reached, width=width)
        self.known |= self.level
        self.seen |= reached.keys()


def best_path(
    source: str, target: str, *, fetch: Fetch, inverse: Inverse, max_hops: int = 4, width: int = 200
) -> tuple[Step, ...] | None:
    """
    Return the steps from one entity to another; () if both are the same, None if no path has at most `max_hops`.

    The best path has the fewest hops, then the largest product of weights/10, then the smaller ids. Each round extends
    the smaller of the two frontiers by its `width` strongest entities at most; with larger frontiers a path can be
    missed.

    """
    if source == target:
        return ()
    ahead, behind = _Side(level={source: GraphPath(strength=1.0)}), _Side(level={target: GraphPath(strength=1.0)})
    for _ in range(max_hops):
        side, other = (ahead, behind) if len(ahead.level) <= len(behind.level) else (behind, ahead)
        if not side.level:
            return None
        steps = both_directions(fetch(sorted(side.level)), inverse=inverse)
        reached = advance(side.level, steps=steps, seen=side.seen, combine=_product, against=side is behind)
        # check before the frontier is cut, and against all visited entities; otherwise a meeting point could be missed
        if meetings := reached.keys() & other.known.keys():
            first, second = (reached, other.known) if side is ahead else (other.known, reached)
            whole = [_joined(first[id], second[id]) for id in meetings]
            return min(whole, key=lambda path: (len(path.steps), path.order)).steps
        side.move(reached, width=width)
    return None


def _product(strength: float, weight: float) -> float:
    return strength * weight / 10


def _joined(first: GraphPath, second: GraphPath) -> GraphPath:
    return GraphPath(strength=first.strength * second.strength, steps=(*first.steps, *second.steps))
