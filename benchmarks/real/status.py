"""
Status of answers on real documentation: own, foreign and weak questions, and names that stand nowhere.

    WEFT_DATA=DIR python benchmarks/real/status.py --keep DIR    keep the stores in a folder for the next run
    WEFT_DATA=DIR python benchmarks/real/status.py --wrong       and the questions with a wrong status

| kind | question | expected status |
| --- | --- | --- |
| `own` | `questions/connected.jsonl`, and $WEFT_DATA/real/CORPUS/questions.jsonl | not `no_match` |
| `wrong_premise` | questions of $WEFT_DATA with a wrong premise | the expected file, if there is one |
| `absent` | names something that stands nowhere in the corpus | not `ok` |
| `unconnected` | connects two things of the corpus that it does not connect | not `ok` |
| `weak` | stop words, single letters and small numbers | not `ok` |
| `foreign` | about another subject | `no_match` |
| `other` | own questions of the corpus in another language | `no_match` |

`area` is the area under the ROC curve of the confidence, own against foreign and other questions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from connected import CORPORA, open_corpus
from harness import data_folder, kept_folder, make_parser

from weft import Engine
from weft.rank.calibrate import roc_area
from weft.records import Result

QUESTIONS = Path(__file__).parent / "questions"
METHODS = ("auto", "keyword")
KINDS = ("own", "wrong_premise", "absent", "unconnected", "weak", "foreign", "other")
ALLOWED = {
    "own": ("ok", "low_confidence"),
    "wrong_premise": ("ok", "low_confidence"),
    "absent": ("low_confidence", "no_match"),
    "unconnected": ("low_confidence", "no_match"),
    "weak": ("low_confidence", "no_match"),
    "foreign": ("no_match",),
    "other": ("no_match",),
}
OTHERS = {"k8s-concepts": "vue-guide-zh", "notes-blue-book": "vue-guide-zh", "vue-guide-zh": "notes-blue-book"}
"""Corpus whose questions are foreign; the two English ones share subjects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with its kind and the files that answer it."""

    question: str
    kind: str
    expected: tuple[str, ...] = ()
    """Path endings; one of them is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Status and confidence of an answer."""

    case: Case
    status: str
    confidence: float
    is_found: bool
    """True if an expected file is in the answer, or none is expected."""

    def is_right(self) -> bool:
        """Return True if the status is one that the kind allows."""
        return self.status in ALLOWED[self.case.kind]


def read_own(corpus: str) -> list[Case]:
    """Return the questions that a corpus answers, and those about it with a wrong premise."""
    rows = map(json.loads, (QUESTIONS / "connected.jsonl").read_text("utf-8").splitlines())
    cases = [Case(question=row["question"], kind="own") for row in rows if row["corpus"] == corpus]
    given = data_folder() / "real" / corpus / "questions.jsonl"
    for row in map(json.loads, given.read_text("utf-8").splitlines() if given.exists() else ()):
        kind = row["kind"] if row["kind"] in ALLOWED else "own"
        is_absent = kind == "wrong_premise" and not row["expected"]
        kind = "absent" if is_absent else kind
        cases.append(Case(question=row["question"], kind=kind, expected=tuple(row["expected"])))
    return cases


def read_cases(corpus: str) -> list[Case]:
    """Return all questions for a corpus."""
    rows = map(json.loads, (QUESTIONS / "confidence.jsonl").read_text("utf-8").splitlines())
    written = [Case(question=row["question"], kind=row["kind"]) for row in rows if row["corpus"] == corpus]
    others = [Case(question=case.question, kind="other") for case in read_own(OTHERS[corpus]) if case.kind == "own"]
    return [*read_own(corpus), *written, *others]


def ask(engine: Engine, case: Case, *, method: str) -> Outcome:
    """Return the status of the answer to a question."""
    return find_status(engine.query(case.question, method=method), case)


def find_status(result: Result, case: Case) -> Outcome:
    """Return the status of an answer, and whether it has an expected file."""
    sources = [piece.document.source for piece in result.evidence]
    is_found = not case.expected or any(source.endswith(case.expected) for source in sources)
    return Outcome(case=case, status=result.status, confidence=result.confidence, is_found=is_found)


def print_rows(corpus: str, method: str, outcomes: Sequence[Outcome]) -> None:
    """Print a row for each kind of question, and the area."""
    for kind in KINDS:
        some = [outcome for outcome in outcomes if outcome.case.kind == kind]
        if not some:
            continue
        shares = " | ".join(
            f"{np.mean([outcome.status == status for outcome in some]):.3f}"
            for status in ("ok", "low_confidence", "no_match")
        )
        right = np.mean([outcome.is_right() and outcome.is_found for outcome in some])
        print(f"| {corpus} | {method} | {kind} | {len(some)} | {shares} | {right:.3f} |", flush=True)
    own = np.array([outcome.confidence for outcome in outcomes if outcome.case.kind == "own"])
    foreign = np.array([outcome.confidence for outcome in outcomes if outcome.case.kind in ("foreign", "other")])
    print(f"| {corpus} | {method} | area | | | | | {roc_area(own, foreign):.4f} |", flush=True)


def main() -> int:
    """Print the table."""
    parser = make_parser(__doc__, keep=True)
    parser.add_argument("--wrong", action="store_true", help="List questions with a wrong status.")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA, help="Corpora (default: all).")
    arguments = parser.parse_args()
    pooled = dict[str, list[Outcome]]()
    print("| corpus | method | kind | questions | ok | low_confidence | no_match | right |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with kept_folder(arguments.keep) as folder:
        for corpus in arguments.corpora:
            with open_corpus(corpus, folder=folder) as engine:
                for method in METHODS:
                    outcomes = [ask(engine, case, method=method) for case in read_cases(corpus)]
                    pooled.setdefault(method, []).extend(outcomes)
                    print_rows(corpus, method, outcomes)
    for method, outcomes in pooled.items():
        print_rows("all", method, outcomes)
        for outcome in outcomes if arguments.wrong else ():
            if not (outcome.is_right() and outcome.is_found):
                print(f"  {outcome.case.kind} {outcome.status} {outcome.confidence:.2f} {outcome.case.question}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
