"""
Share of questions whose quoted sentence contains the answer, on sets that state one per question.

    python benchmarks/quality/quotes.py
    python benchmarks/quality/quotes.py --sets xquad-en --limit 1000

`shown` is the share of questions with a quote, `right` that of all questions whose quote contains the answer, and
`bound` that of questions whose answer is in one of the first five passages. Odd questions chose the constants.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import data_folder, make_parser, to_table
from sets import open_set

from weft.search.answer.quote import MAX_QUOTED_PASSAGES

EMBEDDERS = {"xquad-en": "local/granite-30m", "xquad-zh": "local/bge-small-zh", "cmrc-trial": "local/bge-small-zh"}


def fold(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))


def read_answers(name: str) -> dict[str, str]:
    """Return the answer of each question of a set, by the text of the question."""
    lines = (data_folder() / name / "queries.jsonl").read_text("utf-8").splitlines()
    found = {item["text"]: fold(item["metadata"]["answer"]) for item in map(json.loads, lines)}
    return {text: answer for text, answer in found.items() if answer}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(EMBEDDERS), default=list(EMBEDDERS))
    parser.add_argument("--limit", type=int, default=200, help="questions of each half")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets:
        with open_set(name, embedder=EMBEDDERS[name]) as (engine, _):
            for half, questions in enumerate(list(read_answers(name).items())[n::2] for n in (0, 1)):
                shown = right = bound = 0
                asked = questions[: arguments.limit]
                for text, wanted in asked:
                    found = engine.ask(text)
                    shown += found.quote is not None
                    right += found.quote is not None and wanted in fold(found.quote.text)
                    best = found.result.evidence[:MAX_QUOTED_PASSAGES]
                    bound += any(wanted in fold(piece.chunk.text) for piece in best)
                shares = {"shown": shown, "right": right, "bound": bound}
                row = {"set": name, "questions": ("even", "odd")[half]}
                rows.append(row | {column: f"{count / len(asked):.3f}" for column, count in shares.items()})
    print(to_table(rows))


if __name__ == "__main__":
    main()
