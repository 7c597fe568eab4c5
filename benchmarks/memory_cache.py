"""
Hits of the recall cache: reworded questions that it answers, and different questions that it confuses.

    WEFT_DATA=data python benchmarks/memory_cache.py [local/granite-30m]

The questions are those of LongMemEval (`$WEFT_DATA/longmemeval-open/questions.jsonl`) and some of our own.
`memory_paraphrases.jsonl` has rewordings of them, and questions that differ in a number, date, name, negation or in
the roles of two names. Two LongMemEval questions always count as different.

Compared are the cache key of Weft, and the cosine of the questions with thresholds. The threshold is the lowest one
without a wrong hit on the first half of the questions; all figures are of the second half.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from weft.config import read_settings
from weft.engine.adapters import open_embedder
from weft.search.question.cache_key import cache_key
from weft.text.normalise import squeeze

PARAPHRASES = Path(__file__).with_name("memory_paraphrases.jsonl")
THRESHOLDS = (0.95, 0.97, 0.98, 0.99, 0.995)
STEPS = 1000
"""Tried thresholds between 0 and 1."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions: `same`, `different` but close, or two of `LongMemEval`."""

    first: str
    second: str
    kind: str
    half: int


def read_pairs(data: Path) -> list[Pair]:
    """Return rewordings and different questions. Odd rows of the file are the second half."""
    lines = (data / "longmemeval-open" / "questions.jsonl").read_text("utf-8").splitlines()
    known = {row["id"]: row["question"] for row in map(json.loads, lines)}
    pairs = []
    for number, line in enumerate(PARAPHRASES.read_text("utf-8").splitlines()):
        row = json.loads(line)
        question = row.get("question") or known[row["id"]]
        pairs += [Pair(question, text, kind, number % 2) for kind in ("same", "different") for text in row[kind]]
    questions = sorted(set(known.values()))
    for half in (0, 1):
        pairs += [Pair(*both, "LongMemEval", half) for both in combinations(questions[half::2], 2)]
    return pairs


def rates(pairs: list[Pair], is_hit: Callable[[Pair], bool]) -> str:
    """Return the share of hits of each kind as cells of a row."""
    cells = []
    for kind in ("same", "different", "LongMemEval"):
        hits = [is_hit(pair) for pair in pairs if pair.kind == kind]
        cells.append(f"{sum(hits)} of {len(hits)} ({sum(hits) / len(hits):.0%})")
    return " | ".join(cells)


def main() -> None:
    """Print the table."""
    name = sys.argv[1] if len(sys.argv) > 1 else "local/granite-30m"
    pairs = read_pairs(Path(os.environ["WEFT_DATA"]))
    embedder = open_embedder(read_settings({}), name=name)
    assert embedder is not None
    texts = sorted({squeeze(text) for pair in pairs for text in (pair.first, pair.second)})
    vectors = dict(zip(texts, embedder.embed(texts, kind="query"), strict=True))
    cosines = {pair: float(vectors[squeeze(pair.first)] @ vectors[squeeze(pair.second)]) for pair in pairs}
    first, second = ([pair for pair in pairs if pair.half == half] for half in (0, 1))
    closest = max(cosines[pair] for pair in first if pair.kind != "same")
    chosen = next(step / STEPS for step in range(STEPS + 1) if step / STEPS > closest)
    print("| rule | hits: rewordings | wrong hits: close questions | wrong hits: pairs of LongMemEval |")
    print("| --- | --- | --- | --- |")
    print(f"| cache key | {rates(second, lambda pair: cache_key(pair.first) == cache_key(pair.second))} |")
    for least in (*THRESHOLDS, chosen):
        note = " (chosen on the first half)" if least == chosen else ""
        print(f"| cosine ≥ {least}{note} | {rates(second, lambda pair, least=least: cosines[pair] >= least)} |")


if __name__ == "__main__":
    main()
