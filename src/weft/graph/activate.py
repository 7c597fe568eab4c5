"""The one activation routine: PageRank, k-hop decay and spreading activation differ only in its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Literal, TypeAlias

Spread: TypeAlias = Callable[[Mapping[str, float]], Mapping[str, float]]
"""One multiplication by T: from the activation of nodes to that of their neighbours. It is given nodes by id."""


def activate(
    spread: Spread,
    seeds: Mapping[str, float],
    *,
    coefficients: Sequence[float],
    gate: Callable[[str], float] | None = None,
    combine: Literal["sum", "max"] = "sum",
    prune: float = 0.0,
    keep: int | None = None,
) -> dict[str, float]:
    """
    Return how active each node is, by id, after spreading activation from the seeds. Inactive nodes are left out.

    With x = seeds/Σ and a = c₀·x, each further coefficient is one round: x = gate ⊙ T·x, without entries below
    `prune` and with at most the `keep` strongest (ties to the smaller id), then a = combine(a, cₜ·x). Seeds are
    neither gated nor pruned; those that are not positive do not count.

    - personalised PageRank: `coefficients=pagerank(d, rounds)`
    - k-hop with decay: `coefficients=decay(gamma, hops)`
    - spreading activation: `coefficients=decay(1.0, hops), gate=relevance, combine="max", prune=delta`
    """
    positive = {node: seeds[node] for node in sorted(seeds) if seeds[node] > 0}
    if not positive or not coefficients:
        return {}
    total = sum(positive.values())
    x = {node: value / total for node, value in positive.items()}
    activation = {node: coefficients[0] * value for node, value in x.items()}
    for coefficient in coefficients[1:]:
        x = _bound(spread(x), gate=gate, prune=prune, keep=keep)
        if not x:
            break
        for node, value in x.items():
            known, new = activation.get(node, 0.0), coefficient * value
            activation[node] = known + new if combine == "sum" else max(known, new)
    return {node: value for node, value in sorted(activation.items()) if value > 0}


def pagerank(damping: float, rounds: int) -> tuple[float, ...]:
    """
    Return the coefficients of personalised PageRank: cₜ = (1−d)·dᵗ for t up to `rounds`.

    `damping` d is the chance to walk on, 1−d that to restart at the seeds. What later rounds would add is at
    most d^(rounds+1) in all.
    """
    return tuple((1 - damping) * damping**t for t in range(rounds + 1))


def decay(gamma: float, hops: int) -> tuple[float, ...]:
    """Return the coefficients of a walk that loses strength with distance: cₜ = γᵗ for t up to `hops`."""
    return tuple(gamma**t for t in range(hops + 1))


def _bound(
    spread: Mapping[str, float], *, gate: Callable[[str], float] | None, prune: float, keep: int | None
) -> dict[str, float]:
    """Return the entries that go on, by id, so that everything after adds them in one order."""
    gated = {node: value * gate(node) for node, value in spread.items()} if gate else spread
    left = sorted((node, value) for node, value in gated.items() if value > 0 and value >= prune)
    if keep is not None and len(left) > keep:
        left = sorted(sorted(left, key=itemgetter(1), reverse=True)[:keep])  # of equals those with smaller ids stay
    return dict(left)
