"""
Comparison of fusions and weights: one table per embedder over all open sets.

    python benchmarks/quality/fusion.py [--embedder local/minilm-l6] [--limit 200]

Prints the main measure of each set for vector, keyword and hybrid under several settings, and the worst margin of
each setting against the better of its parts. The defaults in `SearchOptions` were chosen from this table.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from sets import MAIN_MEASURE, NAMES, open_set

from weft.config import SearchOptions
from weft.evaluate.scoring import answer_cases, summarise

SETTINGS = {
    "vector": SearchOptions(method="vector"),
    "keyword": SearchOptions(method="keyword"),
    **{
        f"weighted {weight:.2f}/{1 - weight:.2f}": SearchOptions(
            method="hybrid", vector_weight=weight, text_weight=1 - weight
        )
        for weight in (0.5, 0.6, 0.67, 0.75, 0.8)
    },
    "rrf 0.5/0.5": SearchOptions(method="hybrid", fusion="rrf", vector_weight=0.5, text_weight=0.5),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="local/granite-30m")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--pool", type=int, default=100)
    arguments = parser.parse_args()
    worst = dict.fromkeys(SETTINGS, 1.0)
    print("set", "measure", *SETTINGS, sep="\t")
    for name in NAMES:
        with open_set(name, embedder=arguments.embedder) as (engine, cases):
            figures = {}
            for label, options in SETTINGS.items():
                answered = answer_cases(
                    cases[: arguments.limit],
                    store=engine.store,
                    embedder=engine.embedder,
                    options=replace(options, pool=arguments.pool),
                )
                figures[label] = summarise(answered)[MAIN_MEASURE[name]]
        better = max(figures["vector"], figures["keyword"])
        for label, value in figures.items():
            worst[label] = min(worst[label], value - better)
        print(name, MAIN_MEASURE[name], *(f"{value:.3f}" for value in figures.values()), sep="\t", flush=True)
    print("worst margin", "", *(f"{value:+.3f}" for value in worst.values()), sep="\t")


if __name__ == "__main__":
    main()
