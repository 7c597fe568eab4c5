"""
Ablation of the graph constants: varies one constant at a time and measures recall on all open sets.

    python benchmarks/quality/mixing.py                        all constants
    python benchmarks/quality/mixing.py --vary graph_exponent  some of them
    python benchmarks/quality/mixing.py --sets 2wiki-dev --limit 100
    python benchmarks/quality/mixing.py --explained            share of the questions that entities explain

Every question runs through the read path with one constant replaced. A cell has the main measure of the set on even
questions, which the constants were chosen on, and on odd questions. A star marks the row of the shipped value.
`--explained` prints the mean share of a question's words that its named entities explain: all entities, and only those
with a defining chunk. LOG.md in this folder lists all experiments, including those without effect.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from statistics import fmean
from types import ModuleType
from typing import Any

from sets import MAIN_MEASURE, NAMES, open_set

from weft.config import GraphOptions, SearchOptions
from weft.evaluate.dataset import Case
from weft.evaluate.measures import measure
from weft.evaluate.scoring import answer_cases
from weft.rank import boost
from weft.search.graph import trust, walk
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question

CONSTANTS: dict[str, tuple[ModuleType, str, tuple[float, ...]]] = {
    "graph_exponent": (boost, "GRAPH_EXPONENT", (0.2, 0.3, 0.4, 0.6, 1.0)),
    "text_discount": (boost, "TEXT_DISCOUNT", (0.0, 0.3, 0.7, 0.9)),
    "min_explained_share": (trust, "MIN_EXPLAINED_SHARE", (0.15, 0.3, 0.5, 0.7, 1.0)),
    "max_defining_chunks": (trust, "MAX_DEFINING_CHUNKS", (1, 3, 6, 20)),
    "lag_exponent": (trust, "LAG_EXPONENT", (1, 3, 5, 8)),
    "min_agreement": (trust, "MIN_AGREEMENT", (0.0, 0.3, 0.5)),
    "full_agreement": (trust, "FULL_AGREEMENT", (0.7, 0.9, 1.0)),
    "trust_by_meaning": (trust, "TRUST_BY_MEANING", (0.0, 0.02, 0.05, 0.1, 0.2)),
    "relation_share": (walk, "RELATION_SHARE", (0.0, 0.2, 0.3, 0.5)),
    "asked_relation_share": (walk, "ASKED_RELATION_SHARE", (0.2, 0.5, 0.7, 0.8)),
    "min_expanded_activation": (walk, "MIN_EXPANDED_ACTIVATION", (0.0, 0.02, 0.03, 0.05)),
    "weak_entity_factor": (walk, "WEAK_ENTITY_FACTOR", (0.0, 0.25, 0.4, 0.7, 1.0)),
    "about_share": (walk, "ABOUT_SHARE", (0.1, 0.2, 0.3, 0.5)),
    "mention_weight": (walk, "MENTION_WEIGHT", (0.03, 0.1, 0.3, 1.0)),
}
SETTINGS: dict[str, tuple[Any, ...]] = {
    "share": (0.2, 0.3, 0.4, 0.6),
    "prune": (0.003, 0.005, 0.01, 0.02),
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
    """Replace a constant inside the block; yield settings with the value if it is a setting."""
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
    """Return the shipped value of a constant."""
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


def explained(engine: Any, cases: Sequence[Case]) -> tuple[float, float]:
    """Return the mean share of words that named entities explain: all of them, and those with a defining chunk."""
    graph, edges = engine.store.graph, GraphOptions().max_edges
    shares = []
    with replaced("enough", 1.0):
        for case in cases:
            question = read_question(case.text)
            seeds = recognise_names(question, graph=graph)
            ids = [seed.entity.id for seed in seeds]
            about = Counter(mention.entity_id for mention in graph.mentions_of(ids, limit=edges) if mention.about)
            every = trust.graph_trust(question, seeds, defining_chunks=dict.fromkeys(ids, 1))
            shares.append((every, trust.graph_trust(question, seeds, defining_chunks=about)))
    return fmean(first for first, _ in shares), fmean(second for _, second in shares)


def print_explained(names: Sequence[str], *, limit: int, embedder: str) -> None:
    print("| set | named | named, and a chunk is about them |\n| --- | --- | --- |")
    for name in names:
        with open_set(name, embedder=embedder) as (engine, cases):
            every, about = explained(engine, cases[:limit])
        print(f"| {name} | {every:.3f} | {about:.3f} |", flush=True)


def main() -> None:
    names = [*CONSTANTS, *SETTINGS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vary", nargs="+", choices=names, default=names)
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--explained", action="store_true")
    parser.add_argument("--embedder", default="local/granite-30m")
    arguments = parser.parse_args()
    if arguments.explained:
        print_explained(arguments.sets, limit=arguments.limit, embedder=arguments.embedder)
        return
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
