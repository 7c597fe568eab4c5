"""
How sure can we be that a question is answered here? Fits what `rank/gate.py` and the embedders' cards ship.

    python benchmarks/quality/confidence.py [--embedder local/minilm-l6]

Own questions of a corpus are positives, questions of a corpus about other things negatives. The features are the best
cosine and the best BM25 score as a share of its ceiling. Prints the area under the ROC curve of each pair, the fitted
logistic weights, and the floor and slope they give.
"""

from __future__ import annotations

import argparse

import numpy as np
from sets import open_set

from weft.records import Filter
from weft.search.prepare import prepare

GENERAL = ("hotpot-train", "musique-train", "xquad-en")
SCIENCE = ("cacm", "scifact-train")
OWN = (*GENERAL, *SCIENCE)
PAIRS = [(own, own) for own in OWN] + [p for a in GENERAL for b in SCIENCE for p in ((a, b), (b, a))]
LIMIT = 150
MIDDLE = 0.15
"""Where `rank/gate.py` puts the middle of the keyword share."""


def features(embedder: str) -> dict[tuple[str, str], np.ndarray]:
    """Return best cosine, share and the spread of cosines for (questions, corpus) pairs."""
    questions, found = {}, {}
    for name in OWN:
        with open_set(name, embedder=embedder) as (_, cases):
            questions[name] = [case.text for case in cases[:LIMIT]]
    for corpus in OWN:
        with open_set(corpus, embedder=embedder) as (engine, _):
            for asked, where in PAIRS:
                if where != corpus:
                    continue
                rows = []
                for text in questions[asked]:
                    query = prepare(text, embedder=engine.embedder, wants_vector=True, wants_keyword=True)
                    vector = engine.store.search_vector(query.vector, limit=1, where=Filter())
                    keyword = engine.store.search_keyword(query.terms, limit=1, where=Filter())
                    share = keyword.hits[0].score / keyword.ceiling if keyword.hits else 0.0
                    rows.append((vector.hits[0].score, share, vector.mean, vector.deviation))
                found[asked, corpus] = np.array(rows)
    return found


def fit(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Return logistic weights, bias first, with both classes counting alike."""
    inputs = np.concatenate([positive, negative])
    inputs = np.c_[np.ones(len(inputs)), inputs]
    labels = np.r_[np.ones(len(positive)), np.zeros(len(negative))]
    counts = np.r_[np.full(len(positive), 1 / len(positive)), np.full(len(negative), 1 / len(negative))]
    counts *= len(labels) / 2
    weights = np.zeros(inputs.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (labels - chance)) - 1e-3 * weights
        curve = (inputs * (counts * chance * (1 - chance))[:, None]).T @ inputs + 1e-3 * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def area(positive: np.ndarray, negative: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    wins = (positive[:, None] > negative[None]).mean() + 0.5 * (positive[:, None] == negative[None]).mean()
    return float(wins)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="local/granite-30m")
    found = features(parser.parse_args().embedder)
    positive = np.concatenate([rows for (asked, corpus), rows in found.items() if asked == corpus])
    negative = np.concatenate([rows for (asked, corpus), rows in found.items() if asked != corpus])
    both, words = fit(positive[:, :2], negative[:, :2]), fit(positive[:, 1:2], negative[:, 1:2])

    def score(rows: np.ndarray) -> np.ndarray:
        return np.c_[np.ones(len(rows)), rows[:, :2]] @ both

    for asked, corpus in PAIRS:
        if asked != corpus:
            pair = area(score(found[corpus, corpus]), score(found[asked, corpus]))
            print(f"{asked} asked on {corpus}: area {pair:.3f}")
    print(f"pooled area {area(score(positive), score(negative)):.4f}")
    print(f"log-odds = {both[0]:.2f} + {both[1]:.2f} cosine + {both[2]:.2f} share")
    print(f"floor {-(both[0] + both[2] * MIDDLE) / both[1]:.3f}, slope {both[1]:.1f}")
    print(f"words alone: log-odds = {words[0]:.2f} + {words[1]:.2f} share, middle {-words[0] / words[1]:.3f}")
    print(f"background: mean {negative[:, 2].mean():.3f}, deviation {negative[:, 3].mean():.3f}")
    for least in (0.02, 0.1, 0.5):
        chances = [1 / (1 + np.exp(-score(rows))) for rows in (positive, negative)]
        print(f"below {least}: {(chances[0] < least).mean():.1%} of own, {(chances[1] < least).mean():.1%} of foreign")


if __name__ == "__main__":
    main()
