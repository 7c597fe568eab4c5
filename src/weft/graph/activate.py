"""
Activation of graph nodes from seeds, such as personalised PageRank.

Example: seeds {A: 3, B: 1}, edges A–C, B–C and B–D, `coefficients=(1, 0.5)`. T divides the
activation of a node equally among its neighbours.

    x₀ = {A: 0.75, B: 0.25}                          seeds divided by their sum
    a  = 1 · x₀                                      {A: 0.75, B: 0.25}
    x₁ = T·x₀ = {C: 0.75 + 0.125, D: 0.125}          A gives all to C, B gives half to C and half to D
    a  = a + 0.5 · x₁                                {A: 0.75, B: 0.25, C: 0.4375, D: 0.0625}

With `prune=0.2` D is dropped from x₁.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

Spread: TypeAlias = Callable[[Mapping[str, float]], Mapping[str, float]]
"""Multiplies an activation (by node id) by the transition matrix T; returns the activation of the neighbours."""


def activate(
    spread: Spread,
    seeds: Mapping[str, float],
    *,
    coefficients: Sequence[float],
    prune: float = 0.0,
    keep: int | None = None,
) -> dict[str, float]:
    """
    Return the activation of each active node, sorted by id.

    The start is x = seeds/Σ and a = c₀·x. Each further coefficient is one round: x = T·x, then a = a + cₜ·x. A round
    drops entries of x below `prune` and keeps at most the `keep` strongest; ties go to the smaller id. Seeds are not
    pruned. Seeds that are not positive are ignored.
    """
    positive = {node: seeds[node] for node in sorted(seeds) if seeds[node] > 0}
    if not positive or not coefficients:
        return {}
    total = sum(positive.values())
    x = {node: value / total for node, value in positive.items()}
    activation = {node: coefficients[0] * value for node, value in x.items()}
    for coefficient in coefficients[1:]:
        x = _bound(spread(x), prune=prune, keep=keep)
        if not x:
            break
        for node, value in x.items():
            activation[node] = activation.get(node, 0.0) + coefficient * value
    return {node: value for node, value in sorted(activation.items()) if value > 0}


def pagerank(damping: float, rounds: int) -> tuple[float, ...]:
    """
    Return the coefficients of personalised PageRank: cₜ = (1−d)·dᵗ for t up to `rounds`.

    `damping` d is the probability of continuing; 1−d is the probability of a restart at the seeds. The truncation error
    is at most d^(rounds+1).
    """
    return tuple((1 - damping) * damping**t for t in range(rounds + 1))


def _bound(spread: Mapping[str, float], *, prune: float, keep: int | None) -> dict[str, float]:
    """Return at most `keep` entries above `prune`. They are sorted by id, which makes sums reproducible."""
    left = sorted((node, value) for node, value in spread.items() if value > 0 and value >= prune)
    if keep is not None and len(left) > keep:
        left = sorted(sorted(left, key=itemgetter(1), reverse=True)[:keep])  # stable sort: ties keep the smaller id
    return dict(left)
