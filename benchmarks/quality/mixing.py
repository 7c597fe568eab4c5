"""
What each constant of the graph channel and of its mix with text is worth: one is varied at a time, on all open sets.

    python benchmarks/quality/mixing.py                        all constants
    python benchmarks/quality/mixing.py --vary curve enough    some of them
    python benchmarks/quality/mixing.py --sets 2wiki-dev --limit 100

Every question is asked through the product's own read path with one constant replaced. A cell holds the set's main
measure on even questions (which constants were chosen on) and on odd ones (which they were not). The row marked with
a star is what ships. LOG.md beside this file keeps what was tried, also what did not help.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from sets import MAIN_MEASURE, NAMES, open_set

from weft.config import GraphOptions, SearchOptions
from weft.evaluate.dataset import Case
from weft.evaluate.measures import measure
from weft.evaluate.run import answer_cases
from weft.rank import boost
from weft.search import trust, walk

CONSTANTS: dict[str, tuple[ModuleType, str, tuple[float, ...]]] = {
    "curve": (boost, "CURVE", (0.2, 0.3, 0.4, 0.6, 1.0)),
    "yield": (boost, "YIELD", (0.0, 0.3, 0.7, 0.9)),
    "enough": (trust, "ENOUGH", (0.15, 0.3, 0.5, 0.7, 1.0)),
    "homes": (trust, "HOMES", (1, 3, 6, 20)),
    "meaning": (trust, "BY_MEANING", (0.0, 0.02, 0.05, 0.1, 0.2)),
    "related": (walk, "RELATED", (0.0, 0.2, 0.3, 0.5)),
    "asked": (walk, "RELATED_ASKED", (0.2, 0.5, 0.7, 0.8)),
    "weak": (walk, "WEAK", (0.0, 0.25, 0.4, 0.7, 1.0)),
    "back": (walk, "BACK", (0.1, 0.2, 0.3, 0.5)),
    "mentioned": (walk, "MENTIONED", (0.03, 0.1, 0.3, 1.0)),
}
SETTINGS: dict[str, tuple[Any, ...]] = {
    "share": (0.2, 0.3, 0.4, 0.6),
    "prune": (0.001, 0.003, 0.005, 0.01),
    "rounds": (1, 2, 3, 4),
    "damping": (0.3, 0.5, 0.7),
    "max_edges": (5, 10, 20, 40),
    "fusion": ("boost", "weighted", "rrf"),
    "enabled": (True, False),
    "name_bonus": (0.0, 0.2, 0.3, 0.5),
}
SEARCH = frozenset({"name_bonus"})
"""Settings of the search; the others are the graph's."""


@contextmanager
def replaced(name: str, value: Any) -> Iterator[tuple[SearchOptions, GraphOptions]]:
    """Put a value in the place of a constant, or give settings that hold it."""
    search, graph = SearchOptions(method="mix"), GraphOptions()
    if name in SETTINGS:
        of_search = name in SEARCH
        yield (replace(search, **{name: value}), graph) if of_search else (search, replace(graph, **{name: value}))
        return
    module, attribute, _ = CONSTANTS[name]
    before = getattr(module, attribute)
    setattr(module, attribute, value)
    try:
        yield search, graph
    finally:
        setattr(module, attribute, before)


def shipped(name: str) -> Any:
    """Return the value of a constant that ships."""
    if name in SETTINGS:
        return getattr(SearchOptions() if name in SEARCH else GraphOptions(), name)
    return getattr(*CONSTANTS[name][:2])


def halves(
    engine: Any, cases: Sequence[Case], options: tuple[SearchOptions, GraphOptions], *, wanted: str
) -> tuple[float, float]:
    """Return a measure on even and on odd questions."""
    search, graph = options
    answered = answer_cases(cases, store=engine.store, embedder=engine.embedder, options=search, graph=graph)
    found = [([id for id, _ in a.ranked], a.case.gold) for a in answered]
    return measure(found[::2])[wanted], measure(found[1::2])[wanted]


def main() -> None:
    names = [*CONSTANTS, *SETTINGS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vary", nargs="+", choices=names, default=names)
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--embedder", default="local/granite-30m")
    arguments = parser.parse_args()
    rows = {
        (name, value): dict.fromkeys(arguments.sets, (0.0, 0.0))
        for name in arguments.vary
        for value in (SETTINGS[name] if name in SETTINGS else CONSTANTS[name][2])
    }
    for set_name in arguments.sets:
        with open_set(set_name, embedder=arguments.embedder) as (engine, cases):
            for name, value in rows:
                with replaced(name, value) as options:
                    figures = halves(engine, cases[: arguments.limit], options, wanted=MAIN_MEASURE[set_name])
                rows[name, value][set_name] = figures
                print(set_name, name, value, *(f"{x:.4f}" for x in figures), file=sys.stderr)
    print("| constant | value | " + " | ".join(arguments.sets) + " |")
    print("| --- | --- |" + " --- |" * len(arguments.sets))
    for (name, value), by_set in rows.items():
        star = "*" if value == shipped(name) else ""
        cells = " | ".join(f"{even:.3f} {odd:.3f}" for even, odd in by_set.values())
        print(f"| {name} | {value}{star} | {cells} |")


if __name__ == "__main__":
    main()
