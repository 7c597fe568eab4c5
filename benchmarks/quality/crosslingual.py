"""
Retrieval across languages: the questions of one set on the corpus of another.

    python benchmarks/quality/crosslingual.py [--embedder use/multilingual] [--pairs xquad-zh:xquad-en]
    python benchmarks/quality/crosslingual.py --confidence     # confidence across languages

Both sets must have the same passages and questions in two languages, under the same ids. Indexes are those of `weft
eval`. `--confidence` runs three groups on each corpus, through the read path with default settings: its own questions,
the same questions in the other language, and questions of other sets, which it cannot answer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sets import data_folder, open_set

from weft.config import Method
from weft.engine.engine import Engine
from weft.evaluate.dataset import Case, read_cases
from weft.evaluate.scoring import answer_cases, summarise
from weft.rank.calibrate import roc_area

METHODS: tuple[Method, ...] = ("vector", "keyword", "hybrid", "mix", "auto")
MEASURES = ("recall@1", "recall@5", "recall@10", "ndcg@10")
FOREIGN = {"xquad-en": ("cmrc-trial", "cacm"), "xquad-zh": ("cmrc-trial", "cacm")}
"""Sets whose questions a corpus cannot answer, one in each language."""


def ask(engine: Engine, cases: Sequence[Case], method: Method) -> dict[str, float]:
    """Return the figures of one method."""
    search = replace(engine.settings.search, method=method)
    return summarise(
        answer_cases(
            cases,
            store=engine.store,
            embedder=engine.embedder,
            options=search,
            graph=engine.settings.graph,
            on_step=lambda: None,
        )
    )


def compare(pairs: Sequence[tuple[str, str]], *, embedder: str, limit: int | None) -> None:
    """Print a row per pair and method."""
    print("| questions → corpus | method | " + " | ".join(MEASURES) + " |")
    print("| --- | --- |" + " --- |" * len(MEASURES))
    for asked, corpus in pairs:
        cases = read_cases(data_folder() / asked, limit=limit)
        with open_set(corpus, embedder=embedder) as (engine, _):
            for method in METHODS:
                figures = ask(engine, cases, method)
                cells = " | ".join(f"{figures[name]:.3f}" for name in MEASURES)
                print(f"| {asked} → {corpus} | {method} | {cells} |", flush=True)


def judge(pairs: Sequence[tuple[str, str]], *, embedder: str, limit: int | None) -> None:
    """Print the confidence of answers in the other language beside that of foreign questions."""
    print("| questions → corpus | area against | ok | low | no match |")
    print("| --- | --- | --- | --- | --- |")
    for other, corpus in pairs:
        with open_set(corpus, embedder=embedder) as (engine, _):
            foreign = {name: confidences(engine, name, limit) for name in FOREIGN[corpus]}
            everything = np.concatenate(list(foreign.values()))
            for name in (corpus, other):
                values = confidences(engine, name, limit)
                others = {"all": everything, **foreign}
                areas = [f"{roc_area(values, found):.3f} {label}" for label, found in others.items()]
                print_shares(f"{name} → {corpus}", ", ".join(areas), values)
            for name, values in foreign.items():
                print_shares(f"{name} → {corpus}", "", values)


def confidences(engine: Engine, name: str, limit: int | None) -> np.ndarray:
    return np.array([engine.query(case.text).confidence for case in read_cases(data_folder() / name, limit=limit)])


def print_shares(label: str, areas: str, values: np.ndarray) -> None:
    shares = ((values >= 0.5).mean(), ((values >= 0.1) & (values < 0.5)).mean(), (values < 0.1).mean())
    print(f"| {label} | {areas} | " + " | ".join(f"{share:.1%}" for share in shares) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="use/multilingual")
    parser.add_argument("--pairs", default="xquad-zh:xquad-en,xquad-en:xquad-zh", help="questions:corpus, by commas.")
    parser.add_argument("--limit", type=int, default=None, help="Questions of each set.")
    parser.add_argument("--confidence", action="store_true")
    arguments = parser.parse_args()
    pairs = [(asked, corpus) for asked, _, corpus in (pair.partition(":") for pair in arguments.pairs.split(","))]
    work = judge if arguments.confidence else compare
    work(pairs, embedder=arguments.embedder, limit=arguments.limit)


if __name__ == "__main__":
    main()
