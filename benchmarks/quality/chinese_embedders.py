"""
Which embedder suits Chinese text, alone and fused with keywords?

    python benchmarks/quality/chinese_embedders.py             recall on Chinese sets
    python benchmarks/quality/chinese_embedders.py --mixed     English and Chinese passages in one namespace
    python benchmarks/quality/chinese_embedders.py --kinds     questions on Chinese documentation, by kind
    python benchmarks/quality/chinese_embedders.py --weights   hybrid search by the weight of the vector channel
    python benchmarks/quality/chinese_embedders.py --fit       floor and slope of the embedder's card

The sets are those of `$WEFT_DATA`. `--embedders` selects others than the three candidates; `default` is the embedder
that a new namespace gets when none is named.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from confidence import logistic, measure_all
from sets import data_folder
from together import join_sets

from weft.config import SearchOptions, read_settings
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.evaluate.dataset import Case, read_cases
from weft.evaluate.retrieval import open_evaluation
from weft.evaluate.scoring import answer_cases, summarise
from weft.models.base import TextKind
from weft.rank.gate import KEYWORD_WITH_COSINE
from weft.records import ModelCard, Vectors

EMBEDDERS = ("local/granite-30m", "use/multilingual", "local/bge-small-zh")
SETS = ("xquad-zh", "cmrc-trial")
MIXED = ("xquad-en", "xquad-zh")
METHODS = ("vector", "keyword", "hybrid")
WEIGHTS = (0.3, 0.4, 0.5, 0.7, 1.0)
KINDS_CORPUS = "real/vue-guide-zh"


class Weighted:
    """An embedder with another weight on its card."""

    def __init__(self, engine: Engine, weight: float) -> None:
        assert engine.embedder is not None
        self._inner = engine.embedder
        self.card: ModelCard = replace(engine.embedder.card, weight=weight)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        return self._inner.embed(texts, kind=kind)


@contextmanager
def open_folder(folder: Path, embedder: str) -> Iterator[tuple[Engine, list[Case]]]:
    """Give an engine on an indexed set and its questions; no graph is needed."""
    overrides = {"graph.extractor": "none"} | ({} if embedder == "default" else {"models.embedder": embedder})
    settings = read_settings(overrides)
    with open_evaluation(folder, settings=settings, use_cache=True, on_step=lambda stage, count: None) as (engine, _):
        yield engine, read_cases(folder)


def print_row(*cells: object) -> None:
    print(
        "| " + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True
    )


def score(engine: Engine, cases: Sequence[Case], method: str, weight: float | None = None) -> tuple[float, float]:
    """Return recall@1 and recall@5."""
    embedder = engine.embedder if weight is None else Weighted(engine, weight)
    options = SearchOptions(method=method)  # type: ignore[arg-type]
    figures = summarise(answer_cases(cases, store=engine.store, embedder=embedder, options=options))
    return figures["recall@1"], figures["recall@5"]


def measure_sets(embedders: Sequence[str], sets: Sequence[str]) -> None:
    for name in sets:
        for embedder in embedders:
            with open_folder(data_folder() / name, embedder) as (engine, cases):
                for method in METHODS:
                    print_row(name, engine.embedder.card.name, method, *score(engine, cases, method))


def measure_mixed(embedders: Sequence[str]) -> None:
    folder = read_settings({}).cache_dir / "together" / "-".join(MIXED)
    join_sets(MIXED, folder)
    for embedder in embedders:
        with open_folder(folder, embedder) as (engine, every):
            for name in MIXED:
                cases = [case for case in every if case.id.startswith(f"{name} ")]
                for method in METHODS:
                    print_row(f"{name} questions", engine.embedder.card.name, method, *score(engine, cases, method))


def measure_weights(embedders: Sequence[str], sets: Sequence[str]) -> None:
    for name in sets:
        for embedder in embedders:
            with open_folder(data_folder() / name, embedder) as (engine, cases):
                for weight in WEIGHTS:
                    print_row(name, embedder, weight, *score(engine, cases, "hybrid", weight))


def measure_kinds(embedders: Sequence[str]) -> None:
    """Ask each question as a user does; print the rank of an expected page, and the status."""
    folder = data_folder() / KINDS_CORPUS
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    for embedder in embedders:
        with tempfile.TemporaryDirectory() as home:
            named = None if embedder == "default" else embedder
            with open_engine(Path(home) / "weft.db", embedder=named) as engine:
                engine.index(folder / "src")
                for case in map(json.loads, lines):
                    result = engine.query(case["question"])
                    sources = list(dict.fromkeys(piece.document.source for piece in result.evidence))
                    ends = tuple(case["expected"])
                    ranks = [rank for rank, source in enumerate(sources, 1) if ends and source.endswith(ends)]
                    name = engine.embedder.card.name if engine.embedder else "none"
                    print_row(name, case["kind"], case["question"], ranks[0] if ranks else "–", result.status)


def fit(embedders: Sequence[str]) -> None:
    """Print floor, slope and background, from the questions of each Chinese set on both corpora."""
    for embedder in embedders:
        found = measure_all(SETS, embedder=embedder, limit=150)
        rows = {pair: np.array([(cosine, share) for _, cosine, share in items]) for pair, items in found.items()}
        own = np.concatenate([rows[name, name] for name in SETS])
        foreign = np.concatenate([rows[asked, corpus] for asked in SETS for corpus in SETS if asked != corpus])
        bias, slope, beside = logistic(own, foreign)
        floor = -(bias + beside * KEYWORD_WITH_COSINE.middle) / slope
        cosines = f"own {own[:, 0].mean():.3f}, foreign {foreign[:, 0].mean():.3f}"
        print(f"{embedder}: floor {floor:.3f}, slope {slope:.1f}, beside {beside:.1f}; best cosines: {cosines}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedders", nargs="+", default=EMBEDDERS)
    parser.add_argument("--sets", nargs="+", default=SETS)
    for name in ("mixed", "kinds", "weights", "fit"):
        parser.add_argument(f"--{name}", action="store_true")
    arguments = parser.parse_args()
    if arguments.mixed:
        measure_mixed(arguments.embedders)
    elif arguments.kinds:
        measure_kinds(arguments.embedders)
    elif arguments.weights:
        measure_weights(arguments.embedders, arguments.sets)
    elif arguments.fit:
        fit(arguments.embedders)
    else:
        measure_sets(arguments.embedders, arguments.sets)


if __name__ == "__main__":
    main()
