"""
Effect of the graph on each set if the documents of all sets are in one store.

    python benchmarks/quality/together.py                                  the English sets without CACM
    python benchmarks/quality/together.py --sets xquad-en musique-train

All documents are indexed into one store, and each set runs its own questions there. A cell has the figures of hybrid
search and of the mix with the graph. In a large store nearly every question names an entity with a defining chunk, so
questions about a single passage suffer most if the trust in the graph is too high.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from sets import NAMES, data_folder

from weft.config import SearchOptions, read_settings
from weft.evaluate.dataset import read_cases
from weft.evaluate.retrieval import open_evaluation
from weft.evaluate.scoring import answer_cases, summarise

SETS = ("xquad-en", "scifact-train", "musique-train", "2wiki-dev", "hotpot-train")
MEASURES = ("recall@1", "recall@2", "recall@5", "recall@10", "ndcg@10")


def join_sets(names: Sequence[str], folder: Path) -> None:
    """Write the sets as one set; the name of its set precedes each id."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    corpus, questions, gold = [], [], ["query-id\tcorpus-id\tscore"]
    for name in names:
        for line in (data_folder() / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
            document = json.loads(line)
            corpus.append(json.dumps(document | {"_id": f"{name} {document['_id']}"}, ensure_ascii=False))
        for case in read_cases(data_folder() / name):
            questions.append(json.dumps({"_id": f"{name} {case.id}", "text": case.text}, ensure_ascii=False))
            gold += [f"{name} {case.id}\t{name} {id}\t{grade}" for id, grade in case.gold.items()]
    for file, lines in (("corpus.jsonl", corpus), ("queries.jsonl", questions), ("qrels/test.tsv", gold)):
        (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=SETS)
    parser.add_argument("--limit", type=int, default=1200, help="questions of each set")
    arguments = parser.parse_args()
    settings = read_settings({})
    folder = settings.cache_dir / "together" / "-".join(arguments.sets)
    join_sets(arguments.sets, folder)
    print("| set | questions | " + " | ".join(MEASURES) + " |\n| --- | --- |" + " --- |" * len(MEASURES))
    with open_evaluation(folder, settings=settings, use_cache=True, on_step=lambda stage, count: None) as (engine, _):
        every = read_cases(folder)
        for name in arguments.sets:
            cases = [case for case in every if case.id.startswith(f"{name} ")][: arguments.limit]
            figures = [
                summarise(
                    answer_cases(
                        cases, store=engine.store, embedder=engine.embedder, options=SearchOptions(method=method)
                    )
                )
                for method in ("hybrid", "mix")
            ]
            cells = [" → ".join(f"{one[measure]:.3f}" for one in figures) for measure in MEASURES]
            print(f"| {name} | {len(cases)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
