"""
Questions over linked documents: whether the answer holds every document that it needs.

    WEFT_DATA=DIR python benchmarks/real/connected.py             hybrid and auto on three corpora
    WEFT_DATA=DIR python benchmarks/real/connected.py --missed    and the questions that miss a document
    WEFT_DATA=DIR python benchmarks/real/connected.py --keep DIR  keep the stores in a folder for the next run
    WEFT_DATA=DIR python benchmarks/real/connected.py --methods vector keyword hybrid

The questions (`questions/connected.jsonl`) were written before any was asked. `linked` ones need two or more documents
that link to each other, `single` ones need one. `given` ones are those of $WEFT_DATA. `pages` is the share of the
needed documents among the first ten results. `all@10` is the share of questions with all their documents among the
first ten results, `all` the same with the connected passages, and `first` the share whose first result is one of
them. Constants were chosen on even lines. Both halves were seen while the rules were written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder, kept_folder, make_parser

from weft import Engine, open_engine
from weft.records import Result

CORPORA = ("k8s-concepts", "vue-guide-zh", "notes-blue-book")
EMBEDDERS = {"vue-guide-zh": "local/bge-small-zh"}
"""The embedder that `weft index` chooses for Chinese text."""
METHODS = ("vector", "keyword", "hybrid", "auto")
KINDS = ("linked", "single", "given")
QUESTIONS = Path(__file__).parent / "questions" / "connected.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the documents it needs."""

    corpus: str
    question: str
    kind: str
    expected: tuple[tuple[str, ...], ...]
    """Groups of path endings; the answer needs one document of each group."""
    is_even: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Ranks of the documents of a question in an answer."""

    case: Case
    ranks: tuple[int | None, ...]
    """By group, the rank of its first document from 1; None if it is missing."""
    size: int
    """Number of results and connected passages."""

    def pages(self) -> float:
        """Return the share of groups with a document among the first ten results."""
        return fmean(rank is not None and rank <= 10 for rank in self.ranks)

    def has_all(self, first: int | None = None) -> bool:
        """Return True if the first results, or all results, contain a document of every group."""
        return all(rank is not None and (first is None or rank <= first) for rank in self.ranks)


def read_cases(path: Path) -> list[Case]:
    """Return the questions of a JSON Lines file."""
    lines = path.read_text("utf-8").splitlines()
    return [
        Case(
            corpus=row["corpus"],
            question=row["question"],
            kind=row["kind"],
            expected=tuple(tuple(group) for group in row["expected"]),
            is_even=number % 2 == 0,
        )
        for number, row in enumerate(map(json.loads, lines))
    ]


def read_given(corpus: str) -> list[Case]:
    """Return the answerable questions of a corpus in $WEFT_DATA; one of the expected documents is enough."""
    path = data_folder() / "real" / corpus / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    answerable = [row for row in rows if row["expected"]]
    return [
        Case(
            corpus=corpus,
            question=row["question"],
            kind="given",
            expected=(tuple(row["expected"]),),
            is_even=number % 2 == 0,
        )
        for number, row in enumerate(answerable)
    ]


def ask(engine: Engine, case: Case, *, method: str) -> Outcome:
    """Return the ranks of the documents that the question needs."""
    return find_ranks(engine.query(case.question, method=method, top_k=10), case)


def find_ranks(result: Result, case: Case) -> Outcome:
    """Return the ranks of the needed documents in an answer."""
    sources = [piece.document.source for piece in (*result.evidence, *result.connected)]
    ranks = tuple(
        next((rank for rank, source in enumerate(sources, start=1) if source.endswith(group)), None)
        for group in case.expected
    )
    return Outcome(case=case, ranks=ranks, size=len(sources))


def print_row(corpus: str, kind: str, method: str, outcomes: Sequence[Outcome]) -> None:
    """Print the measures of a corpus, a kind of question and a method."""
    if not outcomes:
        return
    halves = [
        fmean([outcome.has_all(10) for outcome in outcomes if outcome.case.is_even is is_even])
        for is_even in (True, False)
    ]
    pages = fmean([outcome.pages() for outcome in outcomes])
    first = fmean([1 in outcome.ranks for outcome in outcomes])
    near, whole = (fmean([outcome.has_all(limit) for outcome in outcomes]) for limit in (10, None))
    size = fmean([outcome.size for outcome in outcomes])
    print(
        f"| {corpus} | {kind} | {method} | {len(outcomes)} | {first:.3f} | {pages:.3f} | {near:.3f} | "
        f"{halves[0]:.3f} | {halves[1]:.3f} | {whole:.3f} | {size:.1f} |",
        flush=True,
    )


def open_corpus(corpus: str, *, folder: Path) -> Engine:
    """Return an engine with the documents of a corpus; a store in the folder is used again."""
    engine = open_engine(str(folder / f"{corpus}.db"), embedder=EMBEDDERS.get(corpus, "local/granite-30m"))
    data = data_folder() / "real" / corpus
    engine.index(*(str(path) for path in sorted(data.iterdir()) if path.is_dir()))
    return engine


def main() -> int:
    """Print the table."""
    parser = make_parser(__doc__, keep=True)
    parser.add_argument("--missed", action="store_true", help="List questions that miss a document.")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA, help="Corpora (default: all).")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=("hybrid", "auto"), help="Methods.")
    arguments = parser.parse_args()
    cases, pooled = read_cases(QUESTIONS), dict[tuple[str, str], list[Outcome]]()
    print("| corpus | kind | method | questions | first | pages | all@10 | even | odd | all | results |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with kept_folder(arguments.keep) as folder:
        for corpus in arguments.corpora:
            with open_corpus(corpus, folder=folder) as engine:
                own = [*(case for case in cases if case.corpus == corpus), *read_given(corpus)]
                for method in arguments.methods:
                    outcomes = [ask(engine, case, method=method) for case in own]
                    print_row(corpus, "every", method, outcomes)
                    for kind in KINDS:
                        some = [outcome for outcome in outcomes if outcome.case.kind == kind]
                        pooled.setdefault((kind, method), []).extend(some)
                        print_row(corpus, kind, method, some)
    for (kind, method), outcomes in pooled.items():
        print_row("all", kind, method, outcomes)
        for outcome in outcomes if arguments.missed else ():
            if not outcome.has_all(10):
                print(f"  {outcome.ranks} {outcome.case.question}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
