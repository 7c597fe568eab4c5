"""
Latency of searches in a namespace with several parts: parts read at once, and one after the other.

    python benchmarks/parts.py [--size 10000] [--parts 1 4 8] [--repeat 3] [--graph] [--dsn postgresql://…]

The documents and questions are those of `benchmarks/postgres.py`, without a graph unless `--graph` is given. Then
`links` is one hop: mentions and relations of 16 of the entities with the most chunks, and `mix` a whole question. Each
question is asked both ways in turn, so that other load of the machine affects both. Cells are p50 / p95 in
milliseconds, without embedding. The hits are compared with those of the namespace with the first number of parts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from statistics import median, quantiles

from postgres import EMBEDDER, Questions, batches, made_questions, server_dsn
from speed import to_table

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.records import Extraction, Filter, Ranking, Result, StoredModel
from weft.store.base import Store
from weft.store.postgres import part_readers
from weft.store.postgres.database import PostgresDatabase
from weft.text.analyzer import query_terms

LIMIT = 100
HOP_ENTITIES = 16


@contextmanager
def readers(count: int) -> Iterator[None]:
    """Let a transaction that begins in the block take at most so many readers of parts."""
    take = part_readers.ReaderThreads.take
    part_readers.ReaderThreads.take = lambda self, wanted: take(self, min(wanted, count))  # type: ignore[method-assign]
    try:
        yield
    finally:
        part_readers.ReaderThreads.take = take  # type: ignore[method-assign]


def timed(ask: Callable[[str], object], questions: Sequence[str], repeat: int) -> dict[str, str]:
    """Return `p50 / p95` of both ways. Each question is asked once before."""
    ways = {"one after the other": 0, "at once": part_readers.MAX_PART_READERS}
    spent: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(repeat + 1):
        for question in questions:
            for way, count in ways.items():
                with readers(count):
                    start = time.perf_counter()
                    answer = ask(question)
                    milliseconds = (time.perf_counter() - start) * 1000
                less = answer.timings.get("embed", 0.0) if isinstance(answer, Result) else 0.0
                if number:
                    spent[way].append(milliseconds - less)
    return {way: f"{median(times):.1f} / {quantiles(times, n=20)[-1]:.1f}" for way, times in spent.items()}


def measure_graph(store: Store, engine: Engine, asked: Questions, *, repeat: int) -> dict[str, dict[str, str]]:
    """Return the figures of one hop and of questions with the graph."""
    top = [entity.id for entity in store.graph.top_entities(limit=HOP_ENTITIES * len(asked.plain))]
    shares = {question: top[place :: len(asked.plain)] for place, question in enumerate(asked.plain)}
    return {
        "links": timed(lambda q: store.graph.links_of(shares[q], limit=LIMIT), asked.plain, repeat),
        "mix": timed(lambda q: engine.query(q, method="mix"), asked.plain, repeat),
    }


def measure(store: Store, engine: Engine, asked: Questions, *, repeat: int, has_graph: bool) -> list[dict[str, str]]:
    """Return a row of figures for each way of reading."""
    everything, vectors = Filter(), asked.vectors
    found = {
        "vector": timed(lambda q: store.search_vector(vectors[q], limit=LIMIT, where=everything), asked.plain, repeat),
        "filtered": timed(
            lambda q: store.search_vector(vectors[q], limit=LIMIT, where=asked.where), asked.plain, repeat
        ),
        "keyword": timed(
            lambda q: store.search_keyword(query_terms(q), limit=LIMIT, where=everything), asked.plain, repeat
        ),
        "hybrid": timed(lambda q: engine.query(q, method="hybrid"), asked.plain, repeat),
    }
    if has_graph:
        found |= measure_graph(store, engine, asked, repeat=repeat)
    return [
        {"parts": str(store.stats().parts), "read": way, **{name: figures[way] for name, figures in found.items()}}
        for way in ("one after the other", "at once")
    ]


def fill(store: Store, size: int, *, has_graph: bool) -> float:
    """Write documents, with or without a graph; return the seconds of the store."""
    card, spent = EMBEDDER.card, 0.0
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    for group in batches(size, namespace=store.namespace):
        plain = [replace(b, chunks=tuple(replace(item, extraction=Extraction()) for item in b.chunks)) for b in group]
        start = time.perf_counter()
        store.write(*(group if has_graph else plain))
        spent += time.perf_counter() - start
    return spent


def hits(store: Store, asked: Questions) -> list[list[tuple[str, float]]]:
    """Return source and score of the hits of all questions."""
    rankings: list[Ranking] = []
    for question in asked.plain:
        rankings.append(store.search_vector(asked.vectors[question], limit=10, where=Filter()))
        rankings.append(store.search_keyword(query_terms(question), limit=10, where=Filter()))
    return [
        sorted(
            (title.source, round(hit.score, 4))
            for hit in ranking.hits
            for title in store.titles([hit.chunk_id]).values()
        )
        for ranking in rankings
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--graph", action="store_true", help="write a graph, and measure a hop and whole questions")
    parser.add_argument("--dsn", default="", help="a database to use; its namespaces parts1, parts4, … are dropped")
    arguments = parser.parse_args()
    asked, rows, expected = made_questions(arguments.size), [], None
    with tempfile.TemporaryDirectory() as folder:
        dsn = server_dsn(arguments.dsn, folder)
        database = PostgresDatabase(dsn)
        for parts in arguments.parts:
            name = f"parts{parts}"
            database.drop(name)
            database.create(name, parts=parts)
            store = database.store(name)
            seconds = fill(store, arguments.size, has_graph=arguments.graph)
            found = hits(store, asked)
            expected = expected or found
            same = sum(mine == theirs for mine, theirs in zip(found, expected, strict=True))
            print(
                f"{parts} parts: {arguments.size / seconds:.0f} chunks/s written, {same} of {len(found)} answers equal"
            )
            settings = read_settings({"store.db": dsn, "store.namespace": name})
            with Engine(settings, embedder=EMBEDDER) as engine:
                rows += measure(store, engine, asked, repeat=arguments.repeat, has_graph=arguments.graph)
            print(to_table(rows[-2:]), flush=True)
        database.close()
    print(to_table(rows))


if __name__ == "__main__":
    main()
