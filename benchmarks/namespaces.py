"""
Cost and quality of a question over 1, 2, 4 and 8 namespaces that divide one evaluation set, on SQLite.

    python benchmarks/namespaces.py [--set 2wiki-dev] [--counts 1 2 4 8] [--questions 100] [--keep DIR] [--write]

The documents are dealt out in turn, so every namespace has the same share. One file has the namespaces of all counts,
in the folder `--keep`, created if missing. Questions are asked once to warm up, then measured.

    processor time  milliseconds of a question with its embedding, median; in brackets the 95th percentile
    recall@5        share of the relevant documents among the first five
    same first five share of the questions with the same first five documents as with one namespace
    --write         put the table into docs/performance.md
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, quantiles
from time import process_time

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from sets import data_folder
from speed import PAGE, to_table

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.paths import load_files
from weft.evaluate.dataset import Case, find_file, read_cases
from weft.evaluate.measures import recall
from weft.records import Document, Result


def open_on(db: Path, namespace: str, embedder: str) -> Engine:
    return Engine(read_settings({"store.db": str(db), "store.namespace": namespace, "models.embedder": embedder}))


def fill(db: Path, documents: Sequence[Document], count: int, *, embedder: str) -> list[str]:
    """Divide documents over namespaces unless they are there; return the names of the namespaces."""
    names = [f"{count}-{place}" for place in range(count)]
    for place, name in enumerate(names):
        with open_on(db, name, embedder) as engine:
            if not engine.stats().documents:
                engine.add(documents[place::count])
    return names


def measure(
    db: Path, names: Sequence[str], cases: Sequence[Case], *, embedder: str
) -> tuple[list[float], list[Result]]:
    """Return the milliseconds of processor time of each question, and the results."""
    with open_on(db, names[0], embedder) as own:
        engine = own.across(*names)
        for case in cases:
            engine.query(case.text)
        spent, results = list[float](), list[Result]()
        for case in cases:
            start = process_time()
            results.append(engine.query(case.text))
            spent.append((process_time() - start) * 1000)
    return spent, results


def first_documents(result: Result, case: Case) -> list[str]:
    """Return the ids of the first five documents, as the relevance judgements name them."""
    ids = [
        str(piece.document.metadata.get("id", piece.document.source.rpartition("#")[2])) for piece in result.evidence
    ]
    return list(dict.fromkeys(ids))[:5]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--set", default="2wiki-dev")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--embedder", default="local/granite-30m")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    folder = data_folder() / arguments.set
    cases = read_cases(folder, limit=arguments.questions)
    options = read_settings({}).load
    found = load_files([find_file(folder, "corpus.jsonl")], options=options, base=folder)
    documents = [item for item in found if isinstance(item, Document)]
    with tempfile.TemporaryDirectory() as scratch:
        keep = arguments.keep or Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        rows, alone = [], None
        for count in arguments.counts:
            names = fill(keep / "namespaces.db", documents, count, embedder=arguments.embedder)
            times, results = measure(keep / "namespaces.db", names, cases, embedder=arguments.embedder)
            firsts = [first_documents(result, case) for result, case in zip(results, cases, strict=True)]
            alone = alone or firsts
            rows.append(
                {
                    "namespaces": str(count),
                    "processor time": f"{median(times):.0f} ({quantiles(times, n=20)[-1]:.0f}) ms",
                    "recall@5": f"{fmean(recall(f, c.gold, k=5) for f, c in zip(firsts, cases, strict=True)):.3f}",
                    "same first five": f"{fmean(map(list.__eq__, firsts, alone)):.2f}",
                }
            )
            print(rows[-1], flush=True)
    table = to_table(rows)
    print(table)
    if arguments.write:
        text = PAGE.read_text("utf-8")
        start, end = "<!-- namespaces -->\n", "<!-- /namespaces -->"
        head, _, rest = text.partition(start)
        PAGE.write_text(head + start + table + "\n" + end + rest.partition(end)[2], "utf-8")


if __name__ == "__main__":
    main()
