"""
How near `weft estimate` comes to what was paid, over many runs of 200 passages.

    python benchmarks/quality/llm_estimate.py

Replies are what GPT-3.5 once read in each passage (`openie.jsonl`), in the form that is asked for, each description the
first twenty words of a sentence; tokens are counted by the tokenizer of the local embedding model. Printed are the
errors of tokens in and out, the median and the one that nineteen of twenty runs stay below: guessed, and after a sample
of N passages.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from sets import data_folder

from weft.config import read_settings
from weft.engine.adapters import open_counter
from weft.models.llm_habits import Habits, Sums
from weft.models.llm_preview import expect_reply
from weft.models.llm_prompt import Prompt
from weft.records import Chunk, Document
from weft.text.tokens import guess_model_tokens

RUN, RUNS = 200, 200
SAMPLES = (10, 20, 40, 60)
WORDS = 20
"""Of each description. Whole sentences make replies less even, and estimates worse (docs/llm.md)."""
Row = tuple[float, float, float, float]
"""Of one passage: tokens in as guessed and as counted, tokens out as guessed and as counted."""


def write_reply(text: str, read: dict[str, Any]) -> str:
    """Return what was read in a passage in the form that is asked for."""
    sentences = re.split(r"(?<=[.!?]) ", text)

    def said(name: str) -> str:
        sentence = next((sentence for sentence in sentences if name in sentence), sentences[0])
        return " ".join(sentence.split()[:WORDS])

    names, triples = read["entities"], [triple for triple in read["triples"] if len(triple) == 3]
    between = [triple for triple in triples if triple[2] in names]
    reply = {
        "entities": [{"name": name, "type": "thing", "description": said(name)} for name in names],
        "relations": [
            {"source": s, "target": o, "type": p.replace(" ", "_"), "weight": 8, "description": said(s)}
            for s, p, o in between
        ],
        "facts": [
            {"subject": s, "predicate": p.replace(" ", "_"), "value": o, "confidence": 0.9}
            for s, p, o in triples
            if [s, p, o] not in between
        ],
    }
    return json.dumps(reply, ensure_ascii=False)


def read_rows(folder: Path) -> list[Row]:
    counter, prompt = open_counter(read_settings()), Prompt()
    read = {row["_id"]: row for row in map(json.loads, (folder / "openie.jsonl").read_text("utf-8").splitlines())}
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    rows = []
    for passage in (passage for passage in passages if passage["_id"] in read):
        document = Document(source="x", title=passage["title"], text=passage["text"])
        chunk = Chunk(id="c", document_id="d", ordinal=0, heading=(), start_line=1, end_line=1, text=passage["text"])
        question = prompt.passage(document, chunk)
        reply = write_reply(passage["text"], read[passage["_id"]])
        sent = prompt.system + question
        rows.append((guess_model_tokens(sent), counter.count(sent), expect_reply(question), counter.count(reply)))
    return [tuple(map(float, row)) for row in rows]  # type: ignore[misc]


def sums(pairs: list[tuple[float, float]]) -> Sums:
    """Return what a reply file knows of guesses and what came."""
    return Sums(
        guess=sum(guess for guess, _ in pairs),
        came=sum(came for _, came in pairs),
        guess_squared=sum(guess**2 for guess, _ in pairs),
        both=sum(guess * came for guess, came in pairs),
        came_squared=sum(came**2 for _, came in pairs),
    )


def one_run(rows: list[Row], sample: int) -> tuple[float, float, bool]:
    """Return how far tokens in and out are off, as shares, and whether the margin told covers it."""
    known, rest = rows[:sample], rows[sample:]
    asked, replied = sum(row[1] for row in rest), sum(row[3] for row in rest)
    if not sample:
        guesses = sum(row[0] for row in rest), sum(min(row[2], 2000.0) for row in rest)
        return guesses[0] / asked - 1, guesses[1] / replied - 1, True
    question, reply = sums([row[:2] for row in known]), sums([row[2:] for row in known])
    habits = Habits(replies=sample, seconds=0.0, question=question, reply=reply)
    found = habits.expect(calls=len(rest), question=sum(row[0] for row in rest), reply=sum(row[2] for row in rest))
    assert found is not None
    off = found.tokens_out / replied - 1
    return found.tokens_in / asked - 1, off, abs(off) <= found.margin


def main() -> None:
    print("set\tsample\tin: median\tin: 95 %\tout: median\tout: 95 %\twithin the margin")
    for name in ("musique-train", "2wiki-dev"):
        rows, chance = read_rows(data_folder() / name), random.Random(7)
        for sample in (0, *SAMPLES):
            runs = [one_run(chance.sample(rows, RUN), sample) for _ in range(RUNS)]
            figures = []
            for part in (0, 1):
                errors = [abs(run[part]) for run in runs]
                figures += [f"{median(errors):.1%}", f"{quantiles(errors, n=20)[-1]:.1%}"]
            covered = f"{sum(run[2] for run in runs) / RUNS:.0%}" if sample else ""
            print(name, sample, *figures, covered, sep="\t", flush=True)


if __name__ == "__main__":
    main()
