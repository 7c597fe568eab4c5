"""
Confidence in small namespaces: own and foreign questions on random parts of the open sets.

    WEFT_DATA=DIR python benchmarks/quality/few_chunks.py

For each question, a part of its set is drawn that contains what answers it. A question of another set is asked on the
same part. `usual` is `USUAL_CHUNKS` of `rank/gate.py`: the odds of an answer are that many times higher for one chunk;
1 changes nothing. The first two sets chose it, the last two are the check.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sets import data_folder

from weft.config import read_settings
from weft.engine.adapters import open_embedder
from weft.evaluate.dataset import read_cases
from weft.models.base import Embedder
from weft.rank import bm25, gate
from weft.search.question.read import read_question
from weft.text.analyzer import terms

CHOSEN_ON = ("xquad-en", "musique-train")
CHECKED_ON = ("hotpot-train", "scifact-train")
QUESTIONS = 120
PASSAGES = 500
SIZES = (3, 10, 30, 100, 240)
USUAL = (1, 30, 50, 100, 200, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Passages and questions of a set."""

    vectors: NDArray[np.float32]
    words: list[Counter[str]]
    questions: NDArray[np.float32]
    asked: list[list[str]]
    """Terms of each question."""
    answers: list[list[int]]
    """Numbers of the passages that answer each question."""


def read_part(name: str, embedder: Embedder, draw: random.Random) -> Part:
    """Return a random part of a set with its vectors."""
    folder = data_folder() / name
    rows = map(json.loads, (folder / "corpus.jsonl").read_text("utf-8").splitlines())
    texts = {row["_id"]: f"{row.get('title') or ''}\n{row['text']}".strip() for row in rows}
    cases = [case for case in read_cases(folder) if case.gold]
    cases = draw.sample(cases, min(QUESTIONS, len(cases)))
    needed = sorted({source for case in cases for source in case.gold if source in texts})
    others = sorted(texts.keys() - set(needed))
    ids = needed + draw.sample(others, min(len(others), max(0, PASSAGES - len(needed))))
    numbers = {source: number for number, source in enumerate(ids)}
    return Part(
        vectors=embedder.embed([texts[source] for source in ids]),
        words=[Counter(terms(texts[source])) for source in ids],
        questions=embedder.embed([case.text for case in cases], kind="query"),
        asked=[list(dict.fromkeys(read_question(case.text).terms)) for case in cases],
        answers=[[numbers[source] for source in case.gold if source in numbers] for case in cases],
    )


def best_share(words: Sequence[Counter[str]], asked: Sequence[str]) -> float:
    """Return the best BM25 score of passages as a share of its upper bound."""
    lengths = np.array([counts.total() for counts in words], np.float64)
    scores, weights = np.zeros(len(words)), []
    for term in asked:
        frequency = np.array([counts[term] for counts in words], np.float64)
        weight = bm25.idf(int((frequency > 0).sum()), total=len(words))
        weights.append(weight)
        scores += bm25.term_scores(frequency, lengths, weight=weight, mean_length=float(lengths.mean()))
    return float(scores.max() / bm25.ceiling(weights)) if weights else 0.0


def ask(parts: dict[str, Part], name: str, size: int, draw: random.Random) -> list[tuple[bool, float, float]]:
    """Return, for own and foreign questions, the best cosine and the best keyword share among `size` passages."""
    part, found = parts[name], []
    for number, answers in enumerate(part.answers):
        chosen = dict.fromkeys(answers[: max(1, size // 2)])
        while len(chosen) < min(size, len(part.words)):
            chosen.setdefault(draw.randrange(len(part.words)))
        rows, words = list(chosen), [part.words[row] for row in chosen]
        other = parts[draw.choice([other for other in parts if other != name])]
        foreign = draw.randrange(len(other.asked))
        for is_own, vector, asked in (
            (True, part.questions[number], part.asked[number]),
            (False, other.questions[foreign], other.asked[foreign]),
        ):
            found.append((is_own, float((part.vectors[rows] @ vector).max()), best_share(words, asked)))
    return found


def main() -> None:
    """Print the table."""
    draw = random.Random(5)
    settings = read_settings({"models.embedder": "local/granite-30m"})
    embedder = open_embedder(settings)
    assert embedder is not None
    parts = {name: read_part(name, embedder, draw) for name in (*CHOSEN_ON, *CHECKED_ON)}
    calibration = gate.shipped_calibration(embedder.card)
    print("| sets | chunks | usual | own refused | own ok | foreign answered | foreign ok |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for title, names in (("chosen", CHOSEN_ON), ("checked", CHECKED_ON)):
        for size in SIZES:
            asked = [row for name in names for row in ask(parts, name, size, draw)]
            for usual in USUAL:
                gate.USUAL_CHUNKS = usual
                judged = [
                    (is_own, gate.probability(cosine, share, calibration=calibration, compared=size))
                    for is_own, cosine, share in asked
                ]
                own = np.array([confidence for is_own, confidence in judged if is_own])
                foreign = np.array([confidence for is_own, confidence in judged if not is_own])
                shares = (
                    (own < gate.MIN_CONFIDENCE).mean(),
                    (own >= gate.MIN_OK_CONFIDENCE).mean(),
                    (foreign >= gate.MIN_CONFIDENCE).mean(),
                    (foreign >= gate.MIN_OK_CONFIDENCE).mean(),
                )
                print(f"| {title} | {size} | {usual} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")


if __name__ == "__main__":
    main()
