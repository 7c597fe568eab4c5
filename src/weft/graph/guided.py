"""Graph-guided expansion (KG2RAG, arXiv 2502.06864): pairs of connected names to search for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """A further question that the graph suggests: a seed's name and a neighbour's."""

    query: str
    score: float
    """Proximity, 1/(1 + hops)."""
    seed_id: str
    neighbour_id: str
    hops: int


def expansion_queries(
    seeds: Sequence[tuple[str, str]],
    neighbours: Mapping[str, Sequence[tuple[str, str, int]]],
    *,
    max_expansions: int = 10,
) -> list[Expansion]:
    """
    Return what to search for beside the seeds' own names, closest first, then in the order given.

    `seeds` are ids and names; `neighbours` has for each seed id the ids, names and hops of its neighbours. A pair
    of names is asked for once, whichever of the two is the seed and whatever its case, at its smallest distance.
    """
    pairs: list[tuple[frozenset[str], Expansion]] = []
    for seed_id, name in seeds:
        for neighbour_id, other, hops in neighbours.get(seed_id, ()):
            pair = Expansion(
                query=f"{name} {other}", score=1 / (1 + hops), seed_id=seed_id, neighbour_id=neighbour_id, hops=hops
            )
            pairs.append((frozenset({name.casefold(), other.casefold()}), pair))
    unique: dict[frozenset[str], Expansion] = {}
    for names, pair in sorted(pairs, key=lambda item: item[1].hops):
        if len(names) == 2:  # else a homonym, or the seed itself: its name is searched anyway
            unique.setdefault(names, pair)
    return list(unique.values())[:max_expansions]
