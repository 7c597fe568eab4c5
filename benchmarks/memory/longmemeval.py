"""
Retrieval of dated conversations: LongMemEval with all sessions in one namespace.

    WEFT_DATA=DIR python benchmarks/memory/longmemeval.py --keep DIR         keep the store in a folder for the next run
    WEFT_DATA=DIR python benchmarks/memory/longmemeval.py --half odd         questions of the odd lines alone
    WEFT_DATA=DIR python benchmarks/memory/longmemeval.py --types            a row for each type of question as well
    WEFT_DATA=DIR python benchmarks/memory/longmemeval.py --form document    sessions as plain text, without times
    WEFT_DATA=DIR python benchmarks/memory/longmemeval.py --embedder hash    no model: keywords and times
    WEFT_DATA=DIR python benchmarks/memory/longmemeval.py --sessions 300     gold sessions of the first questions

$WEFT_DATA/longmemeval-open holds `sessions.jsonl.gz` and `questions.jsonl`. A session is ranked by its best chunk.
With `--sessions` the namespace has fewer sessions, and only questions whose gold sessions are among them are asked.
That is easier, so such figures compare with each other alone.

| form | sessions | questions |
| --- | --- | --- |
| `conversation` | turns with role and time; chunks are exchanges | as of the end of the question's day (`--as-of`) |
| `document` | plain text; the date is metadata | without a time |

| measure | meaning |
| --- | --- |
| `recall@5` | share of the gold sessions among the first five sessions |
| `any@5`, `all@5` | share of questions with one gold session, or with all of them, among the first five |
| `turns@10` | share of the gold turns in the first ten chunks |
| `area` | area under the ROC curve of confidence, answerable against unanswerable questions, and its 95 % interval |

Constants were chosen on even lines; odd lines are the report.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from harness import data_folder, kept_folder, make_parser
from numpy.typing import NDArray

from weft import Document, Engine, open_engine
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.rank.calibrate import roc_area
from weft.records import Filter, to_microseconds
from weft.search.run import find
from weft.search.search_context import SearchContext

METHODS = ("keyword", "vector", "hybrid", "auto")
RANKED_CHUNKS = 100
"""Chunks retrieved for the ranking of sessions, as in `weft eval`."""
RESAMPLES = 1000
"""Bootstrap samples of the interval of the area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the sessions and turns that answer it."""

    question: str
    type: str
    asked: datetime
    """End of the day of the question: some of its sessions are later on the same day."""
    sessions: frozenset[str]
    turns: frozenset[tuple[str, int]]
    is_answerable: bool
    is_even: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer to a question."""

    case: Case
    sessions: tuple[str, ...]
    """Sessions, best first, each once."""
    turns: frozenset[tuple[str, int]]
    """Turns in the first ten chunks."""
    confidence: float

    def recall(self) -> float:
        """Return the share of gold sessions among the first five."""
        return len(self.case.sessions & set(self.sessions[:5])) / len(self.case.sessions)

    def turn_recall(self) -> float:
        """Return the share of gold turns in the first ten chunks."""
        return len(self.case.turns & self.turns) / len(self.case.turns)


def read_cases(folder: Path) -> list[Case]:
    """Return the questions of the set in file order."""
    rows = map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines())
    return [
        Case(
            question=row["question"],
            type=row["type"],
            asked=read_date(row["date"]).replace(hour=0, minute=0) + timedelta(days=1),
            sessions=frozenset(row["sessions"]),
            turns=frozenset((session, index) for session, index in row["turns"]),
            is_answerable=not row["unanswerable"],
            is_even=number % 2 == 0,
        )
        for number, row in enumerate(rows)
    ]


def choose_sessions(cases: Sequence[Case], *, limit: int) -> frozenset[str]:
    """Return the ids of as many gold sessions as `limit`, in the order of the questions."""
    return frozenset(list(dict.fromkeys(id for case in cases for id in sorted(case.sessions)))[:limit])


def read_date(text: str) -> datetime:
    """Return the time of `2023/05/20 (Sat) 02:21`, in UTC."""
    return datetime.strptime(text[:10] + text[-6:], "%Y/%m/%d %H:%M").replace(tzinfo=timezone.utc)


def iter_conversations(folder: Path) -> Iterator[Document]:
    """Yield each session as a conversation whose line numbers are the numbers of its turns, from 1."""
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            time, id = to_microseconds(read_date(row["date"])), row["session_id"]
            messages = [
                Message(role=turn["role"], text=turn["content"], time=time, line=number)
                for number, turn in enumerate(row["turns"], start=1)
            ]
            yield to_document(messages, Conversation(source=id, host="longmemeval", id=id))


def iter_sessions(folder: Path) -> Iterator[Document]:
    """Yield each session as a document whose line numbers are the numbers of its turns, from 1."""
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            texts = [f"{turn['role']}: {turn['content']}\n" for turn in row["turns"]]
            numbers = [number for number, text in enumerate(texts, start=1) for _ in range(text.count("\n") + 1)]
            yield Document(
                source=row["session_id"],
                title="",
                text="\n".join(texts),
                metadata={"date": row["date"]},
                lines=numbers,
            )


def ask(engine: Engine, case: Case, *, method: str, where: Filter) -> Outcome:
    """Return the ranking of sessions without the gate, and the first ten chunks and confidence of the answer."""
    settings = engine.settings
    wide = replace(settings.search, method=method, top_k=RANKED_CHUNKS, pool=RANKED_CHUNKS, gate=False)
    context = SearchContext(
        store=engine.store,
        embedder=engine.embedder,
        options=wide,
        graph=settings.graph,
        where=where,
        at=case.asked,
    )
    sessions = dict.fromkeys(piece.document.source for piece in find(case.question, context).evidence)
    answer = engine.query(case.question, where=where, method=method, top_k=10)
    turns = frozenset(
        (piece.document.source, line - 1)
        for piece in answer.evidence[:10]
        for line in range(piece.chunk.start_line, piece.chunk.end_line + 1)
    )
    return Outcome(case=case, sessions=tuple(sessions), turns=turns, confidence=answer.confidence)


def format_area(own: NDArray[np.float64], foreign: NDArray[np.float64]) -> str:
    """Return the area with its 95 % interval by bootstrap."""
    random = np.random.default_rng(0)
    areas = [roc_area(random.choice(own, len(own)), random.choice(foreign, len(foreign))) for _ in range(RESAMPLES)]
    low, high = np.quantile(areas, (0.025, 0.975))
    return f"{roc_area(own, foreign):.3f} ({low:.2f} to {high:.2f})"


def print_row(label: str, method: str, outcomes: Sequence[Outcome]) -> None:
    """Print the measures of a method."""
    answerable = [outcome for outcome in outcomes if outcome.case.is_answerable]
    others = [outcome.confidence for outcome in outcomes if not outcome.case.is_answerable]
    recall = [outcome.recall() for outcome in answerable]
    turns = [outcome.turn_recall() for outcome in answerable if outcome.case.turns]
    own = np.array([outcome.confidence for outcome in answerable])
    area = format_area(own, np.array(others)) if others else "–"
    print(
        f"| {label} | {method} | {len(answerable)} | {fmean(recall):.3f} | {fmean(map(bool, recall)):.3f} | "
        f"{fmean(value == 1 for value in recall):.3f} | {fmean(turns):.3f} | {area} |",
        flush=True,
    )


def main() -> int:
    """Print the table."""
    parser = make_parser(__doc__, keep=True)
    parser.add_argument("--half", choices=("even", "odd", "all"), default="all", help="Lines of questions to ask.")
    parser.add_argument("--methods", nargs="+", default=METHODS, help="Methods to compare.")
    parser.add_argument(
        "--form", choices=("conversation", "document"), default="conversation", help="Form of sessions."
    )
    parser.add_argument("--embedder", help="Embedder (default: that of the settings).")
    parser.add_argument("--sessions", type=int, help="Number of sessions (default: all).")
    parser.add_argument("--types", action="store_true", help="Print a row for each type of question.")
    arguments = parser.parse_args()
    folder = data_folder() / "longmemeval-open"
    cases, is_dated = read_cases(folder), arguments.form == "conversation"
    documents, store = iter_conversations(folder) if is_dated else iter_sessions(folder), f"{arguments.form}.db"
    if arguments.sessions:
        chosen = choose_sessions(cases, limit=arguments.sessions)
        cases = [case for case in cases if case.sessions <= chosen]
        documents = (document for document in documents if document.source in chosen)
        store = f"{arguments.form}-{arguments.sessions}.db"
    cases = [case for case in cases if arguments.half in ("all", "even" if case.is_even else "odd")]
    with kept_folder(arguments.keep) as kept, open_engine(str(kept / store), embedder=arguments.embedder) as engine:
        engine.add(documents)
        print("| questions | method | number | recall@5 | any@5 | all@5 | turns@10 | area |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for method in arguments.methods:
            outcomes = [
                ask(engine, case, method=method, where=Filter(before=case.asked) if is_dated else Filter())
                for case in cases
            ]
            print_row(arguments.half, method, outcomes)
            for type in sorted({case.type for case in cases}) if arguments.types else ():
                print_row(type, method, [outcome for outcome in outcomes if outcome.case.type == type])
    return 0


if __name__ == "__main__":
    sys.exit(main())
