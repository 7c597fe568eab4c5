"""Measures of rankings: recall, nDCG, reciprocal rank. Ranks start at 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

RECALL_AT = (1, 2, 5, 10, 20)


def recall(ranked: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return the share of gold documents among the first `k`."""
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def all_gold(ranked: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return 1 if every gold document is among the first `k`, else 0."""
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return 1 / rank of the first gold document among the first `k`, or 0."""
    return next((1 / rank for rank, id in enumerate(ranked[:k], start=1) if id in gold), 0.0)


def ndcg(ranked: Sequence[str], gold: Mapping[str, int], *, k: int) -> float:
    """Return the discounted cumulative gain of the first `k`, divided by the best possible; gains are the grades."""
    gain = sum(gold.get(id, 0) / math.log2(rank + 1) for rank, id in enumerate(ranked[:k], start=1))
    best = sorted(gold.values(), reverse=True)[:k]
    return gain / sum(value / math.log2(rank + 1) for rank, value in enumerate(best, start=1))


def measure(runs: Sequence[tuple[Sequence[str], Mapping[str, int]]]) -> dict[str, float]:
    """Return the mean of every measure over (ranking, graded gold) pairs, as fractions."""
    if not runs:
        return {}
    figures = {f"recall@{k}": fmean(recall(ranked, gold, k=k) for ranked, gold in runs) for k in RECALL_AT}
    figures["ndcg@10"] = fmean(ndcg(ranked, gold, k=10) for ranked, gold in runs)
    figures["mrr@10"] = fmean(reciprocal_rank(ranked, gold, k=10) for ranked, gold in runs)
    figures["all_gold@5"] = fmean(all_gold(ranked, gold, k=5) for ranked, gold in runs)
    return figures


def percentile(values: Sequence[float], share: float) -> float:
    """Return the percentile of the values by nearest rank, `share` from 0 to 1; 0 if there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
