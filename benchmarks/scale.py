"""
Cost of queries and indexes, and memory, of one file with 10,000, 100,000 and 1,000,000 chunks.

    python benchmarks/scale.py [--sizes 10000 100000 1000000] [--repeat 3] [--keep DIR] [--write]

Stores come from `benchmarks/corpora.py`, in the folder `--keep`, created if missing. Each store is queried in a
separate process with complete indexes and 50 questions of the evaluation sets.

    times           warm milliseconds without embedding: the median over rounds of the per-question median, lowest and
                    highest round, and the 95th percentile over all
    exact           scan of every vector and every posting; once, with ten questions at a million chunks
    recall@10       index against scan, over 300 questions including the 50
    top-10 match    share of the first ten keyword ranks with the same chunk in both
    memory          resident memory: private, and mapped files, which the system may reclaim
    first answer    `weft query` in a new process, from start to end, including the model
    --write         put the tables into docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from corpora import SETS, make_store
from harness import QUESTIONS, data_folder, make_parser, measure_rounds, process_memory, publish, spread, to_table

from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.evaluate.dataset import read_cases
from weft.records import Filter, Ranking
from weft.store.sqlite.index import reader
from weft.text.analyzer import query_terms

NEVER = 1 << 60
RECALLED = 300
LARGE = 500_000
FIRST = "who directed the film"
POOL = 100


def questions(count: int = QUESTIONS) -> list[str]:
    """Return the same number of questions of each set."""
    by_set = [[case.text for case in read_cases(data_folder() / name)] for name in SETS]
    return [question for together in zip(*by_set, strict=False) for question in together][:count]


def build(path: str) -> dict[str, Any]:
    """Update the indexes; return the rate if there was work to do."""
    with open_engine(path) as engine:
        start = time.perf_counter()
        is_built = engine.database._connections.index_builder.catch_up()  # type: ignore[attr-defined]
        seconds = time.perf_counter() - start
        return {"built, chunks/s": f"{engine.stats().chunks / seconds:,.0f}"} if is_built else {}


def measure(path: str, *, repeat: int) -> dict[str, Any]:
    """Return the figures of one store, in this process."""
    figures: dict[str, Any] = {}
    with open_engine(path) as engine:
        asked, recalled = questions(), questions(RECALLED)
        embedder, store = engine.embedder, engine.store
        assert embedder is not None
        vectors = dict(zip(recalled, embedder.embed(recalled, kind="query"), strict=True))

        def by_vector(question: str) -> Ranking:
            return store.search_vector(vectors[question], limit=POOL, where=Filter())

        def by_words(question: str) -> Ranking:
            return store.search_keyword(query_terms(question), limit=POOL, where=Filter())

        chunks = store.stats().chunks
        figures["chunks"] = f"{chunks:,}"
        engine.query(asked[0])
        figures["idle"] = process_memory()
        for name, ask in (("vector", by_vector), ("keyword", by_words)):
            figures[name] = measure_rounds(lambda q, ask=ask: void(ask(q)), asked, repeat)  # type: ignore[misc]
        near = {question: ids(by_vector(question)) for question in recalled}
        words = {question: ids(by_words(question)) for question in asked}
        figures |= ask_engine(engine, asked, repeat)
        figures["after queries"] = process_memory()
        least, reader.MIN_INDEXED_ROWS = reader.MIN_INDEXED_ROWS, NEVER
        some = asked[:10] if chunks > LARGE else asked
        figures["vector, exact"] = measure_rounds(lambda q: void(by_vector(q)), some, 1)
        figures["keyword, exact"] = measure_rounds(lambda q: void(by_words(q)), some, 1)
        kept = sum(len(set(near[q]) & set(ids(by_vector(q)))) for q in recalled)
        same = sum(a == b for q in some for a, b in zip(words[q], ids(by_words(q)), strict=True))
        reader.MIN_INDEXED_ROWS = least
        figures["recall@10"] = f"{kept / len(recalled) / 10:.3f}"
        figures["top-10 match"] = f"{same / sum(len(words[q]) for q in some):.3f}"
        figures["ways"] = [store.stats().vector_search, store.stats().keyword_search, store.stats().entity_search]
    return figures


def ask_engine(engine: Engine, asked: Sequence[str], repeat: int) -> dict[str, str]:
    """Return the time of whole questions, and the share of the graph."""
    graph: list[float] = []

    def ask(question: str, method: str) -> float:
        result = engine.query(question, method=method)
        if method == "mix":
            graph.append(result.timings["graph"])
        return result.timings["embed"]

    for method in ("hybrid", "mix"):
        for question in asked:
            ask(question, method)
    graph.clear()
    took = {name: measure_rounds(lambda q, name=name: ask(q, name), asked, repeat) for name in ("hybrid", "mix")}  # type: ignore[misc]
    return {"hybrid": took["hybrid"], "with graph": took["mix"], "graph walk": f"{median(graph):.1f}"}


def void(_: object) -> None:
    """Subtract nothing: return None."""


def ids(ranking: Ranking) -> list[str]:
    """Return the ids of the ten best results."""
    return [hit.chunk_id for hit in ranking.hits[:10]]


def first_answer(path: str, *, repeat: int) -> str:
    """Return the seconds of a new process with one answer, from start to end."""
    took = []
    for _ in range(max(3, repeat)):
        start = time.perf_counter()
        command = [sys.executable, "-m", "weft", "--db", path, "query", FIRST]
        subprocess.run(command, check=False, capture_output=True)
        took.append(time.perf_counter() - start)
    return spread(took, 2)


def main() -> None:
    parser = make_parser(__doc__, repeat=3, sizes=(10_000, 100_000, 1_000_000), keep=True)
    parser.add_argument("--build", default="", help=argparse.SUPPRESS)
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build or arguments.one:
        one = build(arguments.build) if arguments.build else measure(arguments.one, repeat=arguments.repeat)
        print(json.dumps(one))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes:
            path = make_store(Path(arguments.keep or folder), size)
            figures: dict[str, Any] = {}
            for step in ("--build", "--one"):
                command = [sys.executable, __file__, step, str(path), "--repeat", str(arguments.repeat)]
                said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
                figures |= json.loads(said.splitlines()[-1])
            beside = sum(file.stat().st_size for file in Path(f"{path}.index").glob("*"))
            figures["bytes/chunk"] = f"{path.stat().st_size / size:,.0f} + {beside / size:,.0f}"
            figures["first answer, s"] = first_answer(str(path), repeat=arguments.repeat)
            rows.append(figures)
            print(json.dumps(figures, ensure_ascii=False), flush=True)
    tables = {
        "scale": ["chunks", "vector", "recall@10", "keyword", "top-10 match", "hybrid", "with graph", "graph walk"],
        "exact": ["chunks", "vector, exact", "keyword, exact", "built, chunks/s", "bytes/chunk", "first answer, s"],
    }
    for name, columns in tables.items():
        chosen = [{column: row.get(column, "–") for column in columns} for row in rows]
        publish(name, to_table(chosen), write=arguments.write)
    publish("memory", to_table([memory_row(row) for row in rows]), write=arguments.write)


def memory_row(row: dict[str, Any]) -> dict[str, str]:
    """Return the memory of a process in megabytes."""
    cells = {"chunks": row["chunks"]}
    for name in ("idle", "after queries"):
        own, mapped = row[name]
        cells |= {f"{name}, own": f"{own:,}", f"{name}, mapped": f"{mapped:,}"}
    return cells


if __name__ == "__main__":
    main()
