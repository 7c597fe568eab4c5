"""Graph-guided query expansion (KG2RAG, arXiv 2502.06864): queries from pairs of connected names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """An additional query: the name of a seed and the name of a neighbour."""

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
    Return additional queries, fewest hops first, then in input order.

    `seeds` are (id, name) pairs; `neighbours` maps a seed id to (id, name, hops) tuples. Pairs that differ only in
    order or case give one query, with the smallest distance.
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
        if len(names) == 2:  # equal names add nothing: the name alone is already a query
            unique.setdefault(names, pair)
    return list(unique.values())[:max_expansions]
