"""
Retrieval from long conversations: BEAM, one namespace for each chat.

    WEFT_DATA=DIR python benchmarks/memory/beam.py                    every chat
    WEFT_DATA=DIR python benchmarks/memory/beam.py --chats 03 07      some of them
    WEFT_DATA=DIR python benchmarks/memory/beam.py --keep DIR         keep the store in a folder for the next run

$WEFT_DATA/beam-open holds `chat-NN/turns.jsonl.gz` and `chat-NN/questions.jsonl`.
A chat is one conversation whose line numbers are the numbers of its turns, from 1.
Every turn has the last date before it; questions are asked as of the day after the last turn.

The measure is `turns@10`: the share of the gold turns in the first ten chunks, without the gate.
Questions without gold turns are left out.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder, kept_folder, make_parser

from weft import Document, Engine, open_engine
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Filter, Result, to_microseconds

METHODS = ("keyword", "vector", "auto")
TOP_K = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the turns that answer it."""

    question: str
    type: str
    turns: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A conversation with its questions."""

    name: str
    document: Document
    cases: Sequence[Case]
    asked: datetime
    """The day after the last turn."""


def read_chat(folder: Path) -> Chat:
    """Return the chat of a folder."""
    with gzip.open(folder / "turns.jsonl.gz", "rt", encoding="utf-8") as lines:
        turns = list(map(json.loads, lines))
    dates: list[datetime] = []
    for turn in turns:
        dates.append(read_date(turn["date"]) if turn["date"] else dates[-1])
    messages = [
        Message(role=turn["role"], text=turn["content"], time=to_microseconds(date), line=turn["id"] + 1)
        for turn, date in zip(turns, dates, strict=True)
    ]
    rows = map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines())
    return Chat(
        name=folder.name,
        document=to_document(messages, Conversation(source=folder.name, host="beam", id=folder.name)),
        cases=[Case(question=row["question"], type=row["type"], turns=frozenset(row["gold"])) for row in rows],
        asked=max(dates) + timedelta(days=1),
    )


def read_date(text: str) -> datetime:
    """Return the time of `March-03-2024`, in UTC."""
    return datetime.strptime(text, "%B-%d-%Y").replace(tzinfo=timezone.utc)


def measure(engine: Engine, chat: Chat, *, method: str) -> list[tuple[str, float]]:
    """Return the type of each question with the share of its gold turns in the first ten chunks."""
    found: list[tuple[str, float]] = []
    for case in chat.cases:
        if case.turns:
            answer = engine.query(
                case.question, where=Filter(before=chat.asked), method=method, top_k=TOP_K, gate=False
            )
            found.append((case.type, len(case.turns & find_turns(answer)) / len(case.turns)))
    return found


def find_turns(answer: Result) -> set[int]:
    """Return the turns in the first ten chunks of an answer."""
    return {
        line - 1
        for piece in answer.evidence[:TOP_K]
        for line in range(piece.chunk.start_line, piece.chunk.end_line + 1)
    }


def main() -> int:
    """Print the table."""
    parser = make_parser(__doc__, keep=True)
    parser.add_argument("--chats", nargs="+", help="Numbers of the chats, such as 01 (default: all).")
    parser.add_argument("--methods", nargs="+", default=METHODS, help="Methods to compare.")
    arguments = parser.parse_args()
    folders = sorted((data_folder() / "beam-open").glob("chat-*"))
    chats = [read_chat(path) for path in folders if path.name[5:] in (arguments.chats or path.name[5:])]
    scores: dict[str, list[tuple[str, float]]] = {method: [] for method in arguments.methods}
    with kept_folder(arguments.keep) as kept:
        for chat in chats:
            with open_engine(str(kept / "beam.db"), namespace=chat.name) as engine:
                engine.add([chat.document])
                for method, found in scores.items():
                    found += measure(engine, chat, method=method)
    types = sorted({type for found in scores.values() for type, _ in found})
    print(f"| questions | number | {' | '.join(scores)} |\n| --- | --- |{' --- |' * len(scores)}")
    for type in ["all", *types]:
        columns = [[score for kind, score in found if type in ("all", kind)] for found in scores.values()]
        print(f"| {type} | {len(columns[0])} | {' | '.join(f'{fmean(column):.3f}' for column in columns)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
