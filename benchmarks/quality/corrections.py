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
| `commands` | share of 100 short commands, such as `yes`, that a folder of documentation does not answer with `ok` |
| `longmemeval`, `beam` | recall@5 of sessions, and share of the turns in ten chunks, on even and odd questions |

A question is asked with all corrections, and again without each one that changed its draft. `acts` is their number.
A cell is the measure without the correction minus that with all. A correction stays if one cell is below -0.002.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

sys.path.extend(str(Path(__file__).parents[1] / name) for name in (".", "real", "memory"))

import beam
import connected
import longmemeval
import status
from harness import data_folder, kept_folder, make_parser, to_table
from sets import open_set

from weft import Engine, open_engine
from weft.evaluate.dataset import Case, read_cases
from weft.evaluate.scoring import answer_cases, summarise
from weft.records import Filter, Result
from weft.search import corrections
from weft.search.draft import Draft
from weft.search.run import find
from weft.search.search_context import SearchContext

Measures: TypeAlias = Mapping[str, float]
Question: TypeAlias = Callable[[frozenset[str]], Measures]
"""Asks a question without some corrections, and returns its part of each measure."""

NAMES = ("2wiki-dev", "musique-train", "hotpot-train", "xquad-en", "xquad-zh", "cmrc-trial", "scifact-train")
COMMANDS = Path(longmemeval.__file__).with_name("short_commands.txt")


def watch(acting: set[str]) -> None:
    """Let every correction that changes a draft add its name."""

    def watched(correction: corrections.Correction) -> corrections.Correction:
        def apply(draft: Draft, search: SearchContext) -> Draft:
            changed = correction.apply(draft, search)
            if changed is not draft and changed != draft:
                acting.add(correction.name)
            return changed

        return correction._replace(apply=apply)

    corrections.CORRECTIONS = tuple(map(watched, corrections.CORRECTIONS))


def ask(engine: Engine, text: str, without: frozenset[str], *, top_k: int = 10, **context: object) -> Result:
    """Return the answer to a question without some corrections."""
    settings = engine.settings
    options = replace(settings.search, top_k=top_k)
    search = SearchContext(
        store=engine.store, embedder=engine.embedder, options=options, graph=settings.graph, without=without
    )
    return find(text, replace(search, **context))  # type: ignore[arg-type]


def iter_cases(engine: Engine, cases: Iterable[Case], label: str = "") -> Iterator[Question]:
    """Yield the questions of a set in BEIR layout."""
    for case in cases:

        def measure(without: frozenset[str], case: Case = case) -> Measures:
            options = engine.settings.search
            found = summarise(
                answer_cases([case], store=engine.store, embedder=engine.embedder, options=options, without=without)
            )
            return {f"{label}{name}": found[name] for name in ("recall@1", "recall@5")}

        yield measure


def iter_mixed(keep: Path, limit: int) -> Iterator[tuple[str, Question]]:
    """Yield the questions of two languages in one store."""
    folders = [data_folder() / name for name in ("xquad-en", "xquad-zh")]
    with open_engine(str(keep / "mixed.db"), embedder="local/granite-30m") as engine:
        engine.index(*map(str, folders))
        for path in folders:
            yield from (("mixed", q) for q in iter_cases(engine, read_cases(path, limit=limit), f"{path.name} "))


def iter_real(keep: Path, limit: int) -> Iterator[tuple[str, Question]]:
    """Yield the questions on each folder of documentation."""
    for corpus in connected.CORPORA:
        with connected.open_corpus(corpus, folder=keep) as engine:
            linked = [case for case in connected.read_cases(connected.QUESTIONS) if case.corpus == corpus]
            for page in (*linked, *connected.read_given(corpus)):

                def measure(without: frozenset[str], case: connected.Case = page) -> Measures:
                    found = connected.find_ranks(ask(engine, case.question, without), case)
                    return {"hit@1": 1 in found.ranks, "all@10": found.has_all(10)}

                yield corpus, measure
            for judged in status.read_cases(corpus):

                def judge(without: frozenset[str], case: status.Case = judged) -> Measures:
                    found = status.find_status(ask(engine, case.question, without, top_k=8), case)
                    return {"status": found.is_right() and found.is_found}

                yield corpus, judge


def iter_commands(keep: Path, limit: int) -> Iterator[tuple[str, Question]]:
    """Yield short commands, asked of each folder of documentation."""
    for corpus in connected.CORPORA:
        with connected.open_corpus(corpus, folder=keep) as engine:
            for line in COMMANDS.read_text("utf-8").splitlines()[:limit]:

                def measure(without: frozenset[str], text: str = line) -> Measures:
                    return {"not ok": ask(engine, text, without, top_k=8).status != "ok"}

                yield f"{corpus}, commands", measure


def iter_longmemeval(keep: Path, limit: int) -> Iterator[tuple[str, Question]]:
    """Yield the questions on sessions of LongMemEval."""
    folder = data_folder() / "longmemeval-open"
    with open_engine(str(keep / "conversation.db")) as engine:
        engine.add(longmemeval.iter_conversations(folder))
        for case in [case for case in longmemeval.read_cases(folder) if case.is_answerable][:limit]:

            def measure(without: frozenset[str], case: longmemeval.Case = case) -> Measures:
                where, size = Filter(before=case.asked), longmemeval.RANKED_CHUNKS
                result = ask(engine, case.question, without, top_k=size, where=where, at=case.asked)
                first = list(dict.fromkeys(piece.document.source for piece in result.evidence))[:5]
                half = "even" if case.is_even else "odd"
                return {half: len(case.sessions.intersection(first)) / len(case.sessions)}

            yield "longmemeval", measure


def iter_beam(keep: Path, limit: int) -> Iterator[tuple[str, Question]]:
    """Yield the questions on turns of BEAM."""
    count = 0
    for path in sorted((data_folder() / "beam-open").glob("chat-*")):
        chat = beam.read_chat(path)
        with open_engine(str(keep / "beam.db"), namespace=chat.name) as engine:
            engine.add([chat.document])
            for case in (case for case in chat.cases if case.turns):

                def measure(without: frozenset[str], case: beam.Case = case, half: int = count % 2) -> Measures:
                    where = Filter(before=chat.asked)  # noqa: B023
                    result = ask(engine, case.question, without, where=where, at=chat.asked)  # noqa: B023
                    return {"odd" if half else "even": len(case.turns & beam.find_turns(result)) / len(case.turns)}

                count += 1
                yield "beam", measure


def iter_eval(name: str, limit: int) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a set of `weft eval`."""
    embedder = "local/bge-small-zh" if name in ("xquad-zh", "cmrc-trial") else "local/granite-30m"
    with open_set(name, embedder=embedder) as (engine, cases):
        yield from ((name, question) for question in iter_cases(engine, cases[:limit]))


OTHERS: dict[str, Callable[[Path, int], Iterator[tuple[str, Question]]]] = {
    "mixed": iter_mixed, "real": iter_real, "commands": iter_commands,
    "beam": iter_beam, "longmemeval": iter_longmemeval,
}  # fmt: skip


def find_effects(questions: Iterable[tuple[str, Question]], *, names: set[str], acting: set[str]) -> None:
    """Print a table of the effects for each label of questions."""
    base: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    change: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    acts: dict[str, Counter[str]] = defaultdict(Counter)
    for label, question in questions:
        acting.clear()
        whole = question(frozenset())
        for measure, value in whole.items():
            base[label][measure].append(value)
        for name in names & acting:
            acts[label][name] += 1
            for measure, value in question(frozenset({name})).items():
                change[label][name][measure] += value - whole[measure]
    for label, found in base.items():
        first = {measure: f"{fmean(values):.4f}" for measure, values in found.items()}
        rows = [{"set": label, "without": "none", "acts": str(max(map(len, found.values()))), **first}]
        for name in acts[label]:
            cells = {measure: f"{change[label][name][measure] / len(values):+.4f}" for measure, values in found.items()}
            rows.append({"set": label, "without": name, "acts": str(acts[label][name]), **cells})
        print(to_table(rows), flush=True)


def main() -> None:
    """Print the tables of every set."""
    parser = make_parser(__doc__, keep=True)
    parser.add_argument("--sets", nargs="+", default=[*NAMES, *OTHERS])
    parser.add_argument("--names", nargs="+", default=[correction.name for correction in corrections.CORRECTIONS])
    parser.add_argument("--limit", type=int, default=400, help="questions of a set, but for `real` and `beam`")
    arguments = parser.parse_args()
    acting: set[str] = set()
    watch(acting)
    with kept_folder(arguments.keep) as keep:
        for name in arguments.sets:
            limit = arguments.limit
            questions = OTHERS[name](keep, limit) if name in OTHERS else iter_eval(name, limit)
            find_effects(questions, names=set(arguments.names), acting=acting)


if __name__ == "__main__":
    main()
