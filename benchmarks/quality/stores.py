"""
Comparison of the answers of SQLite and PostgreSQL: each set is copied to a server, and both run every question.

    python benchmarks/quality/stores.py --dsn postgresql://… [--sets xquad-en scifact-train] [--limit 300]

The sets are indexed through the cache of `weft eval`. The copy goes to the namespace `default` of the database, which
is emptied before each set. For each method the table has the number of questions with the same first ten documents in
the same order, the mean share of common documents among the first ten, and the measures of both stores.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sets import MAIN_MEASURE, NAMES, data_folder, open_set

from weft.admin.copy import copy_namespaces
from weft.config import read_settings
from weft.engine.adapters import open_database
from weft.evaluate.retrieval import all_methods
from weft.evaluate.scoring import Answered, answer_cases, summarise


def compare(name: str, dsn: str, *, embedder: str, limit: int | None) -> None:
    """Print a row for each method."""
    with open_set(name, embedder=embedder) as (engine, cases), tempfile.TemporaryDirectory() as folder:
        settings = read_settings({"store.db": dsn, "models.embedder": embedder}, folder=Path(folder))
        server = open_database(settings)
        server.drop("default")
        (receipt,) = copy_namespaces(engine.settings.store.db, dsn, settings=settings, namespaces=["default"])
        if receipt.differences:
            print(f"{name}: {len(receipt.differences)} differences after copying: {receipt.differences[:3]}")
        server.compact()
        for method in all_methods(settings):
            options = replace(settings.search, method=method)
            asked = [
                answer_cases(
                    cases[:limit], store=store, embedder=engine.embedder, options=options, graph=settings.graph
                )
                for store in (engine.store, server.store("default"))
            ]
            print(row(name, method, *asked), flush=True)
        server.close()


def row(name: str, method: str, here: Sequence[Answered], there: Sequence[Answered]) -> str:
    """Return a line of the table."""
    tens = ([[id for id, _ in item.ranked[:10]] for item in side] for side in (here, there))
    pairs = list(zip(*tens, strict=True))
    same = sum(one == other for one, other in pairs) / len(pairs)
    answered = [(set(one), set(other)) for one, other in pairs if one or other]
    shared = sum(len(one & other) / max(len(one), len(other)) for one, other in answered) / max(len(answered), 1)
    measure = MAIN_MEASURE.get(name, "recall@5")
    ours, theirs = summarise(here), summarise(there)
    apart = max(abs(ours[key] - theirs[key]) for key in ours if "@" in key)
    times = f"{ours['p50_ms']:.0f} / {theirs['p50_ms']:.0f}"
    figures = f"{ours[measure]:.4f} / {theirs[measure]:.4f} ({measure})"
    return f"| {name} | {method} | {same:.3f} | {shared:.4f} | {figures} | {apart:.4f} | {times} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--sets", nargs="+", default=[name for name in NAMES if (data_folder() / name).is_dir()])
    parser.add_argument("--embedder", default="local/granite-30m")
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    print("| set | method | same ten | shared | SQLite / PostgreSQL | largest difference | p50 ms |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.sets:
        compare(name, arguments.dsn, embedder=arguments.embedder, limit=arguments.limit)


if __name__ == "__main__":
    main()
