"""
Effect of each correction of a ranking: the measures of every set with all corrections, and without one after another.

    WEFT_DATA=DIR python benchmarks/quality/corrections.py --keep DIR            all sets and corrections
    WEFT_DATA=DIR python benchmarks/quality/corrections.py --sets real --names title absent_names
    WEFT_SEARCH_METHOD=hybrid … --sets real --names spread                       with another method

| set | measure |
| --- | --- |
| those of `weft eval` | recall@5, and recall@1 |
| `mixed` | recall@5 of xquad-en and xquad-zh in one store with the English embedder |
| `real` | share of the questions on documentation with a right first result, with all pages, with a right status |
| `longmemeval`, `beam` | recall@5 of sessions, and share of the turns in ten chunks, on even and odd questions |

A cell is the measure without the correction minus that with all. A correction stays if one cell is below -0.002.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

sys.path.extend(str(Path(__file__).parents[1] / name) for name in (".", "real", "memory"))

import beam
import confidence as status
import connected
import longmemeval
from harness import make_parser, to_table
from sets import data_folder, open_set

from weft import Engine, open_engine
from weft.evaluate.dataset import Case, read_cases
from weft.evaluate.scoring import answer_cases, summarise
from weft.records import Filter, Result
from weft.search.corrections import CORRECTIONS
from weft.search.run import find
from weft.search.search_context import SearchContext

Measures: TypeAlias = dict[str, float]
Measure: TypeAlias = Callable[[frozenset[str]], Measures]
NAMES = ("2wiki-dev", "musique-train", "hotpot-train", "xquad-en", "xquad-zh", "cmrc-trial", "scifact-train")
ORDERING = frozenset({"rankings", "scores", "candidates", "places", "answer"})
"""Stages that change the order. The others change the status, which only `real` measures."""


def ask(engine: Engine, text: str, without: frozenset[str], *, top_k: int = 10, **context: object) -> Result:
    """Return the answer to a question without some corrections."""
    settings = engine.settings
    options = replace(settings.search, top_k=top_k)
    search = SearchContext(
        store=engine.store, embedder=engine.embedder, options=options, graph=settings.graph, without=without
    )
    return find(text, replace(search, **context))  # type: ignore[arg-type]


def measure_cases(engine: Engine, cases: list[Case], without: frozenset[str], label: str = "") -> Measures:
    """Return the recall of a set in BEIR layout."""
    options = engine.settings.search
    found = summarise(
        answer_cases(cases, store=engine.store, embedder=engine.embedder, options=options, without=without)
    )
    return {f"{label}recall@1": found["recall@1"], f"{label}recall@5": found["recall@5"]}


def open_mixed(keep: Path) -> Iterator[tuple[str, Measure]]:
    """Yield the measures of two languages in one store."""
    folders = [data_folder() / name for name in ("xquad-en", "xquad-zh")]
    with open_engine(str(keep / "mixed.db"), embedder="local/granite-30m") as engine:
        engine.index(*map(str, folders))

        def measure(without: frozenset[str]) -> Measures:
            parts = [measure_cases(engine, read_cases(path, limit=300), without, f"{path.name} ") for path in folders]
            return parts[0] | parts[1]

        yield "mixed", measure


def open_real(keep: Path) -> Iterator[tuple[str, Measure]]:
    """Yield the measures of each folder of documentation."""
    for corpus in connected.CORPORA:
        with connected.open_corpus(corpus, folder=keep) as engine:
            linked = [case for case in connected.read_cases(connected.QUESTIONS) if case.corpus == corpus]
            judged = status.read_cases(corpus)

            def measure(without: frozenset[str]) -> Measures:
                ranks = [
                    connected.find_ranks(ask(engine, case.question, without), case)
                    for case in (*linked, *connected.read_given(corpus))  # noqa: B023
                ]
                found = [status.find_status(ask(engine, case.question, without, top_k=8), case) for case in judged]  # noqa: B023
                return {
                    "hit@1": fmean(1 in outcome.ranks for outcome in ranks),
                    "all@10": fmean(outcome.has_all(10) for outcome in ranks),
                    "status": fmean(outcome.is_right() and outcome.is_found for outcome in found),
                }

            yield corpus, measure


def open_longmemeval(keep: Path) -> Iterator[tuple[str, Measure]]:
    """Yield the recall of sessions of LongMemEval."""
    folder = data_folder() / "longmemeval-open"
    cases = [case for case in longmemeval.read_cases(folder) if case.is_answerable]
    with open_engine(str(keep / "conversation.db")) as engine:
        engine.add(longmemeval.iter_conversations(folder))

        def measure(without: frozenset[str]) -> Measures:
            halves: dict[bool, list[float]] = {True: [], False: []}
            for case in cases:
                result = ask(
                    engine,
                    case.question,
                    without,
                    top_k=longmemeval.RANKED_CHUNKS,
                    where=Filter(before=case.asked),
                    at=case.asked,
                )
                first = list(dict.fromkeys(piece.document.source for piece in result.evidence))[:5]
                halves[case.is_even].append(len(case.sessions.intersection(first)) / len(case.sessions))
            return {"even": fmean(halves[True]), "odd": fmean(halves[False])}

        yield "longmemeval", measure


def open_beam(keep: Path) -> Iterator[tuple[str, Measure]]:
    """Yield the share of turns of BEAM."""
    chats = [beam.read_chat(path) for path in sorted((data_folder() / "beam-open").glob("chat-*"))]
    for chat in chats:
        with open_engine(str(keep / "beam.db"), namespace=chat.name) as engine:
            engine.add([chat.document])

    def measure(without: frozenset[str]) -> Measures:
        shares: list[float] = []
        for chat in chats:
            with open_engine(str(keep / "beam.db"), namespace=chat.name) as engine:
                for case in (case for case in chat.cases if case.turns):
                    result = ask(engine, case.question, without, where=Filter(before=chat.asked), at=chat.asked)
                    shares.append(len(case.turns & beam.find_turns(result)) / len(case.turns))
        return {"even": fmean(shares[::2]), "odd": fmean(shares[1::2])}

    yield "beam", measure


def open_eval(name: str, limit: int) -> Iterator[tuple[str, Measure]]:
    """Yield the recall of a set of `weft eval`."""
    embedder = "local/bge-small-zh" if name in ("xquad-zh", "cmrc-trial") else "local/granite-30m"
    with open_set(name, embedder=embedder) as (engine, cases):
        yield name, lambda without: measure_cases(engine, cases[:limit], without)


def main() -> None:
    """Print a table of each set."""
    parser = make_parser(__doc__, repeat=1, keep=True)
    parser.add_argument("--sets", nargs="+", default=[*NAMES, "mixed", "real", "beam", "longmemeval"])
    parser.add_argument("--names", nargs="+", default=[correction.name for correction in CORRECTIONS])
    parser.add_argument("--limit", type=int, default=400, help="questions of a set of `weft eval`")
    arguments = parser.parse_args()
    keep = Path(arguments.keep or "build/corrections")
    keep.mkdir(parents=True, exist_ok=True)
    others: Mapping[str, Callable[[Path], Iterator[tuple[str, Measure]]]] = {
        "mixed": open_mixed, "real": open_real, "beam": open_beam, "longmemeval": open_longmemeval,
    }  # fmt: skip
    for name in arguments.sets:
        for label, measure in others[name](keep) if name in others else open_eval(name, arguments.limit):
            base = measure(frozenset())
            rows = [{"set": label, "without": "none", **{name: f"{value:.4f}" for name, value in base.items()}}]
            for correction in CORRECTIONS:
                if correction.name in arguments.names and (name == "real" or correction.stage in ORDERING):
                    found = measure(frozenset({correction.name}))
                    changes = {name: f"{value - base[name]:+.4f}" for name, value in found.items()}
                    rows.append({"set": label, "without": correction.name, **changes})
            print(to_table(rows), flush=True)


if __name__ == "__main__":
    main()
