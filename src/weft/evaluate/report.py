"""Figures as a table and as a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.errors import MissingExtra

COLUMNS = ("recall@1", "recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr@10", "all_gold@5")
TIMES = ("p50_ms", "p95_ms", "embed_p50_ms", "index_seconds")


def table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells: one row per method, fractions with three digits."""
    cells = [
        [str(row["method"]), *(f"{row[name]:.3f}" for name in COLUMNS), *(f"{row[name]:.1f}" for name in TIMES)]
        for row in rows
    ]
    return ["method", *COLUMNS, *TIMES], cells


def write_plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the measures as groups of bars, one colour per method."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="plot") from error
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(rows)
    for place, row in enumerate(rows):
        left = [index + place * width for index in range(len(COLUMNS))]
        bars = axes.bar(left, [row[name] for name in COLUMNS], width=width, label=row["method"])
        axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=1)
    axes.set_xticks([index + 0.4 - width / 2 for index in range(len(COLUMNS))], COLUMNS)
    axes.set_ylim(0, 1.08)
    first = rows[0]
    axes.set_title(f"{first['dataset']}: {first['queries']:,} questions, {first['documents']:,} documents")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=len(rows), loc="upper left")
    figure.savefig(path, dpi=150)
