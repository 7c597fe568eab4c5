"""
Comparison of Weft's measures with those of ranx, on random runs. Requires `pip install ranx`.

    python benchmarks/measures.py

Prints the largest difference per measure over 200 random runs; all are 0 up to rounding.
"""

from __future__ import annotations

import random

from ranx import Qrels, Run, evaluate

from weft.evaluate.measures import measure

NAMES = {
    "recall@1": "recall@1", "recall@5": "recall@5", "recall@10": "recall@10", "recall@20": "recall@20",
    "ndcg@10": "ndcg@10", "mrr@10": "mrr@10",
}  # fmt: skip


def main() -> None:
    chance = random.Random(5)
    worst = dict.fromkeys(NAMES, 0.0)
    for _ in range(200):
        documents = [f"d{i}" for i in range(60)]
        qrels, run, ours = {}, {}, []
        for question in range(5):
            gold = {id: chance.choice([1, 1, 2, 3]) for id in chance.sample(documents, chance.randint(1, 6))}
            ranked = chance.sample(documents, chance.randint(5, 40))
            qrels[f"q{question}"] = gold
            run[f"q{question}"] = {id: float(len(ranked) - place) for place, id in enumerate(ranked)}
            ours.append((ranked, gold))
        theirs = evaluate(Qrels(qrels), Run(run), list(NAMES.values()))
        mine = measure(ours)
        for name, their_name in NAMES.items():
            worst[name] = max(worst[name], abs(mine[name] - float(theirs[their_name])))
    for name, difference in worst.items():
        print(f"{name}: largest difference {difference:.2e}")


if __name__ == "__main__":
    main()
