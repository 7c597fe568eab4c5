"""
Value of a rule of `auto` for exact names: questions that consist of a title, on all open sets.

    python benchmarks/quality/choosing.py
    python benchmarks/quality/choosing.py --sets cacm xquad-zh --count 100

`weft eval --all` measures the questions of the sets, and prints the methods that `auto` chose. Here titles are drawn
with a fixed seed; gold are the documents with that title. Each title is used as it is and in quotes. A cell has
recall@1 and MRR@10 of a method.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sets import NAMES, open_set

from weft.config import Method, SearchOptions
from weft.evaluate.dataset import Case
from weft.evaluate.measures import measure
from weft.evaluate.scoring import answer_cases

METHODS: tuple[Method, ...] = ("keyword", "hybrid", "mix")
FORMS = {"as it is": "{}", "quoted": '"{}"'}


def draw_titles(engine: Any, *, count: int, seed: int) -> list[tuple[str, set[str]]]:
    """Return titles with the ids of the documents that have them."""
    owners: dict[str, set[str]] = defaultdict(set)
    for document in engine.documents():
        if document.title.strip():
            owners[document.title].add(str(document.metadata.get("_id", document.source)))
    titles = sorted(owners)
    return [(title, owners[title]) for title in random.Random(seed).sample(titles, min(count, len(titles)))]


def ask(engine: Any, titles: Sequence[tuple[str, set[str]]], *, form: str, method: Method) -> str:
    """Return recall@1 of any such document, and MRR@10."""
    cases = [Case(id=title, text=form.format(title), gold=dict.fromkeys(ids, 1)) for title, ids in titles]
    options = SearchOptions(method=method)
    answered = answer_cases(cases, store=engine.store, embedder=engine.embedder, options=options)
    first = sum(bool(a.ranked) and a.ranked[0][0] in a.case.gold for a in answered) / max(1, len(answered))
    figures = measure([([id for id, _ in a.ranked], a.case.gold) for a in answered])
    return f"{first:.3f} {figures['mrr@10']:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--embedder", default="local/granite-30m")
    arguments = parser.parse_args()
    print("| set | titles | " + " | ".join(METHODS) + " |")
    print("| --- | --- |" + " --- |" * len(METHODS))
    for name in arguments.sets:
        with open_set(name, embedder=arguments.embedder) as (engine, _):
            titles = draw_titles(engine, count=arguments.count, seed=arguments.seed)
            for label, form in FORMS.items() if titles else ():
                figures = " | ".join(ask(engine, titles, form=form, method=method) for method in METHODS)
                print(f"| {name} | {len(titles)}, {label} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
