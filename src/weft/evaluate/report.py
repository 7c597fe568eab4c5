"""Figures of an evaluation as tables, Markdown and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.errors import InputError, MissingExtra
from weft.text.plurals import counted

COLUMNS = ("recall@1", "recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr@10", "all_gold@5")
PLOTTED = "recall@5"
PLOT_TITLE = "recall@5 of every method on every set"
MARKS = ("<!-- quality -->", "<!-- /quality -->")
"""Comments around the figures in a page."""
TIMES = ("p50_ms", "p95_ms", "embed_p50_ms", "index_seconds")


def table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells: one row per method, fractions with three digits."""
    cells = [
        [_method(row), *(f"{row[name]:.3f}" for name in COLUMNS), *(f"{row[name]:.1f}" for name in TIMES)]
        for row in rows
    ]
    return ["method", *COLUMNS, *TIMES], cells


def set_table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells: one row per set and method."""
    head = ["set", "questions / documents", "method", *COLUMNS, "p50 / p95 ms"]
    cells = [
        [
            str(row["dataset"]),
            f"{row['queries']:,} / {row['documents']:,}",
            _method(row),
            *(f"{row[name]:.3f}" for name in COLUMNS),
            f"{row['p50_ms']:.1f} / {row['p95_ms']:.1f}",
        ]
        for row in rows
    ]
    return head, cells


def fact_table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells: one row per method and kind of question; a dash if a measure does not apply."""
    shares = ("recall@5", "recall@10", "no_match", "turned_away", "stale@10")
    cells = [
        [
            str(row["method"]),
            str(row["kind"]),
            str(row["questions"]),
            *("-" if row[name] is None else f"{row[name]:.3f}" for name in shares),
            f"{row['p50_ms']:.1f}",
        ]
        for row in rows
    ]
    return ["method", "kind", "questions", *shares, "p50_ms"], cells


def _method(row: Mapping[str, Any]) -> str:
    """Return the method of a row. For `auto`, the counts of chosen methods and rules are added."""
    if not row.get("rules"):
        return str(row["method"])
    ran = ", ".join(f"{count:,} {method}" for method, count in row["ran"].items())
    rules = ", ".join(f"{count:,} {rule}" for rule, count in row["rules"].items())
    return f"{row['method']} ({ran}; by {rules})"


def write_page(rows: Sequence[Mapping[str, Any]], path: Path, *, plot: Path | None = None) -> None:
    """
    Write the figures as a Markdown table between two comments of a page, or into a new page.

    Other text is kept. Raises `InputError` if an existing page has no such comments.
    """
    head, cells = set_table(rows)
    lines = [head, ["---"] * len(head), *cells]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    if plot:
        body += f"\n\n![{PLOT_TITLE}]({plot.name})"
    text = path.read_text("utf-8") if path.is_file() else f"# Quality\n\n{MARKS[0]}\n{MARKS[1]}\n"
    if MARKS[0] not in text or MARKS[1] not in text:
        raise InputError(
            f"{str(path)!r} has no markers for the figures", hint=f"add {MARKS[0]} and {MARKS[1]} to the file"
        )
    before, rest = text.split(MARKS[0], 1)
    after = rest.split(MARKS[1], 1)[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{before}{MARKS[0]}\n{body}\n{MARKS[1]}{after}", encoding="utf-8")


def write_set_plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw one measure of every set as groups of bars, one colour per method."""
    sets = list(dict.fromkeys(row["dataset"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = _figure(width=1.5 * len(sets) + 2)
    width = 0.8 / len(methods)
    for position, method in enumerate(methods):
        found = {row["dataset"]: row[PLOTTED] for row in rows if row["method"] == method}
        left = [index + position * width for index, name in enumerate(sets) if name in found]
        bars = axes.bar(left, [found[name] for name in sets if name in found], width=width, label=method)
        axes.bar_label(bars, fmt="%.2f", fontsize=6, padding=1, rotation=90)
    axes.set_xticks([index + 0.4 - width / 2 for index in range(len(sets))], sets, rotation=15)
    axes.set_ylim(0, 1.15)
    axes.set_title(PLOT_TITLE)
    axes.legend(frameon=False, ncols=len(methods), loc="upper left")
    figure.savefig(path, dpi=150)


def _figure(*, width: float) -> tuple[Any, Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="plot") from error
    matplotlib.rcdefaults()  # settings of a `matplotlibrc` in the current folder, which can make it run LaTeX
    figure = Figure(figsize=(width, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def write_plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the measures as groups of bars, one colour per method."""
    figure, axes = _figure(width=10)
    width = 0.8 / len(rows)
    for position, row in enumerate(rows):
        left = [index + position * width for index in range(len(COLUMNS))]
        bars = axes.bar(left, [row[name] for name in COLUMNS], width=width, label=row["method"])
        axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=1)
    axes.set_xticks([index + 0.4 - width / 2 for index in range(len(COLUMNS))], COLUMNS)
    axes.set_ylim(0, 1.08)
    first = rows[0]
    axes.set_title(
        f"{first['dataset']}: {counted(first['queries'], 'question')}, {counted(first['documents'], 'document')}"
    )
    axes.legend(frameon=False, ncols=len(rows), loc="upper left")
    figure.savefig(path, dpi=150)
